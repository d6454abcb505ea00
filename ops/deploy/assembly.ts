import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';

export interface AssemblyStack {
  /** By which the CDK selects it, for example `Mastery`. */
  readonly id: string;
  /** In CloudFormation. */
  readonly name: string;
  readonly resources: number;
}

const manifest = z.object({
  artifacts: z.record(
    z.string(),
    z.looseObject({ type: z.string(), dependencies: z.array(z.string()).default([]) }),
  ),
});
const properties = z.object({
  properties: z.object({ stackName: z.string().optional(), templateFile: z.string() }),
});
const template = z.object({ Resources: z.record(z.string(), z.unknown()) });

/**
 * Returns the stacks of a synthesized app, each after those that it depends on.
 * @param chosen ids or names; with them come the stacks that they depend on. Empty: all
 */
export async function readAssembly(
  folder: string,
  chosen: readonly string[],
): Promise<Result<readonly AssemblyStack[], string>> {
  const read = async (file: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, file), 'utf8')) as unknown;
  const { artifacts } = manifest.parse(await read('manifest.json'));
  const ids = Object.keys(artifacts).filter((id) => artifacts[id]?.type === 'aws:cloudformation:stack');
  const found = new Map<string, AssemblyStack>();
  for (const id of ids) {
    const { stackName = id, templateFile } = properties.parse(artifacts[id]).properties;
    const resources = Object.keys(template.parse(await read(templateFile)).Resources).length;
    found.set(id, { id, name: stackName, resources });
  }
  const stacks = [...found.values()];
  const unknown = chosen.find((name) => !stacks.some((stack) => stack.id === name || stack.name === name));
  if (unknown !== undefined)
    return err(`unknown stack ${JSON.stringify(unknown)}: expected ${ids.join(', ')}`);
  const ordered = new Set<AssemblyStack>();
  const add = (id: string): void => {
    const stack = found.get(id);
    if (stack === undefined || ordered.has(stack)) return;
    artifacts[id]?.dependencies.forEach(add);
    ordered.add(stack);
  };
  for (const { id, name } of stacks)
    if (chosen.length === 0 || chosen.includes(id) || chosen.includes(name)) add(id);
  return ok([...ordered]);
}
