import { hole } from './holes.ts';
import type { Plan } from './plan.ts';

export interface LogCodeOptions {
  readonly code: string;
  readonly level: string;
  /** `name=kind`. */
  readonly fields: readonly string[];
}

/** Writes the row of a log code. A person decides where the line is written. */
export function scaffoldLogCode(plan: Plan, { code, level, fields }: LogCodeOptions): undefined {
  const kinds = fields.map((field) => field.split('=')).map(([name = '', kind = '']) => `${name}: '${kind}'`);
  const meaning = hole(
    `the meaning of ${code} for the operator who reads it: what happened, and what follows`,
  );
  const isCounted = level === 'warn' || level === 'error';
  const blame = isCounted ? `${hole(`whom a line of ${code} blames: a member of Blame`)}, ` : '';
  if (isCounted)
    plan.insert(
      'shared/observability/watches.ts',
      ['watches'],
      `${code}: ${hole(`the alarm on the lines of ${code}, or the reason why there is none`)}`,
    );
  plan.insert(
    'shared/observability/log-codes.ts',
    ['logCodes'],
    `${code}: ${level}(${blame}${meaning}${kinds.length === 0 ? '' : `, { ${kinds.join(', ')} }`})`,
  );
}
