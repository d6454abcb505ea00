import { err, ok } from '#shared/kernel/result.ts';
import { hole, typeHole } from './holes.ts';
import type { Plan } from './plan.ts';
import { namesAt } from './source.ts';

export interface SettingOptions {
  readonly name: string;
  readonly optional: boolean;
}

const STAGES = 'shared/stage/stages.ts';

/** Writes a setting of the stages: its member, its value in every stage unless it is optional, and its row in the table of docs/deploy.md. */
export function scaffoldSetting(plan: Plan, { name, optional }: SettingOptions): undefined {
  plan.insert(
    'shared/stage/stage.ts',
    ['StageConfig'],
    `/** ${hole(`what ${name} sets, its unit and range${optional ? ', and what an absent value means' : ''}`)} */
    readonly ${name}${optional ? '?' : ''}: ${typeHole(`the type of ${name}, as narrow as the resource that reads it`)}`,
  );
  if (!optional)
    for (const stage of namesAt(plan.read(STAGES), ['stages']))
      plan.insert(STAGES, ['stages', stage], `${name}: ${hole(`${name} of ${stage}`)}`);
  const row = `| \`${name}\` | ${hole(`what ${name} does, for the person who deploys${optional ? '; what an absent value means' : ''}`)} |`;
  plan.edit('docs/deploy.md', (text) => {
    const table = [...text.matchAll(/(?:^\|.*\n)+/gm)].find(([rows]) => rows.includes('| `runbookUrl`'));
    if (table === undefined) return err('has no table of settings');
    const end = table.index + table[0].length;
    return ok(`${text.slice(0, end)}${row}\n${text.slice(end)}`);
  });
}
