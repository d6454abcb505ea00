import { kebab } from './names.ts';
import { hole } from './holes.ts';
import type { Plan } from './plan.ts';
import { namesAt, textAt } from './source.ts';

export interface ProblemOptions {
  readonly code: string;
  readonly service: string;
  readonly status: number;
  readonly retryAfter?: number | undefined;
  /** Operation ids of the routes that return it. */
  readonly routes: readonly string[];
}

const PROBLEMS = 'shared/contract/problems.ts';
const TABLE = 'shared/problems/registry.test.ts';
/** The tables with a row for each code: the file, the table, and what belongs into the row. */
const WORDS = [
  ['report-element/src/speak/failure.ts', 'kinds', 'which text of the catalogue a report shows for'],
  ['local/explorer/app/words.ts', 'problems', 'the sentence with which the explorer shows'],
] as const;

/**
 * Writes a problem: its row, its line in the table of the specification's test, its words in a report and in the explorer, and its key in the row of each
 * route that returns it.
 */
export function scaffoldProblem(
  plan: Plan,
  { code, service, status, retryAfter, routes }: ProblemOptions,
): string | undefined {
  const key = `${status} ${code}`;
  if (namesAt(plan.read(PROBLEMS), ['problems', service]).includes(key))
    return `${service} already has the problem ${key}`;
  plan.insert(
    PROBLEMS,
    ['problems', service],
    `'${key}': {
      title: ${hole(`the stable summary of ${code}, 1 to 120 characters`)},
      detail: ${hole(`the public text of an occurrence of ${code}, 1 to 1000 characters`)},
      ${retryAfter === undefined ? '' : `retryAfterSeconds: ${retryAfter},\n`}meaning: ${hole(`what ${code} means, and whether anything was read or changed`)},
      cause: ${hole(`why ${code} occurs`)},
      remedy: ${hole(`what the caller should do about ${code}`)},
    }`,
    'sorted',
  );
  plan.insert(TABLE, ['specified'], `'${service} ${key} ${String(retryAfter !== undefined)}'`, 'sorted');
  for (const [file, table, what] of WORDS)
    if (!namesAt(plan.read(file), [table]).includes(code))
      plan.insert(file, [table], `'${code}': ${hole(`${what} ${code}`)}`);
  for (const route of routes)
    addProblem(plan, `shared/contract/${service}/routes/${kebab(route)}.ts`, route, key);
  return undefined;
}

function addProblem(plan: Plan, file: string, route: string, key: string): void {
  if (!plan.has(file)) {
    plan.fail(`unknown route "${route}": ${file} does not exist`);
    return;
  }
  const place = [route, 'problems'];
  const held = textAt(plan.read(file), place);
  if (held === undefined) plan.insert(file, [route], `problems: ['${key}']`);
  else if (held.startsWith('[')) plan.insert(file, place, `'${key}'`);
  else plan.replace(file, place, `[...${held}, '${key}']`);
}
