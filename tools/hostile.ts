import { existsSync } from 'node:fs';
import { routes } from '#shared/contract/routes.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { startProduct } from './foreign/stack.ts';
import { builtIn, groups, type Aim, type Case } from './hostile/cases.ts';
import { localRequests } from './hostile/local-requests.ts';
import { publishedRequests } from './hostile/published-requests.ts';
import { tryCases, type Tried } from './hostile/try-cases.ts';
import { readVectors, type Vectors } from './hostile/vectors.ts';
import { examples, exits, list, program, run, text, UsageError } from './terminal/command.ts';

interface Options {
  readonly vectors?: string | undefined;
  readonly target?: string | undefined;
  readonly service?: string | undefined;
  readonly token?: string | undefined;
  readonly only: readonly string[];
  readonly route?: readonly string[] | undefined;
}

/** Sends every case to every route and prints a row per route and group, then every difference. */
async function tryAll(
  aims: readonly Aim[],
  cases: readonly Case[],
  vectors: Vectors,
  manner: Parameters<typeof tryCases>[2],
): Promise<Result<undefined, string>> {
  const tried: Tried[] = [];
  const untried: string[] = [];
  for (const aim of aims) {
    const rows = await tryCases(aim, cases, manner).catch((error: unknown) => {
      untried.push(`${aim.base.operationId}: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    });
    tried.push(...rows);
    for (const { operationId, group, cases: count, statuses, differences } of rows) {
      const answers = [...statuses]
        .toSorted(([one], [other]) => one - other)
        .map(([status, times]) => `${status === 0 ? 'closed' : status} × ${times}`);
      const name = `${operationId.padEnd(26)} ${group.padEnd(5)}`;
      console.log(
        `${name} ${String(count).padStart(4)} sent, ${differences.length} differ: ${answers.join(', ')}`,
      );
    }
  }
  const differences = [
    ...untried,
    ...tried.flatMap((row) => row.differences),
    ...vectors.inProcess.flatMap(({ name, passed }) =>
      passed ? [] : [`canonical JSON: ${name} is written otherwise`],
    ),
  ];
  const total = tried.reduce((sum, { cases: count }) => sum + count, 0) + vectors.inProcess.length;
  if (vectors.inProcess.length > 0)
    console.log(`canonical JSON in this process: ${vectors.inProcess.length} pairs`);
  if (differences.length > 0)
    console.log(`\nDifferences:\n${differences.map((line) => `  ${line}`).join('\n')}`);
  console.log(`\n${total} tried, ${differences.length} differ`);
  if (total === 0 && untried.length === 0) return err('nothing to try');
  return differences.length === 0 ? ok(undefined) : err(`${differences.length} differences`);
}

async function main(options: Options): Promise<Result<undefined, string | UsageError>> {
  const { vectors: folder, target, service, token, only, route } = options;
  if (folder !== undefined && !existsSync(folder))
    return err(new UsageError(`--vectors: there is no folder ${folder}`));
  const unknown = [
    ...only.filter((group) => !groups.some((each) => each === group)),
    ...(route ?? []).filter((name) => !routes.some(({ operationId }) => operationId === name)),
  ];
  if (unknown.length > 0)
    return err(
      new UsageError(
        `unknown: ${unknown.join(', ')}. Groups: ${groups.join(', ')}; routes by their operation id`,
      ),
    );
  const isTargetWhole = (service === 'mastery' || service === 'reports') && token !== undefined;
  if (target !== undefined && (!isTargetWhole || !URL.canParse(target)))
    return err(new UsageError('--target needs a URL, --service mastery or reports, and --token'));
  const vectors = folder === undefined ? { cases: [], inProcess: [] } : readVectors(folder);
  if (folder !== undefined && vectors.cases.length + vectors.inProcess.length === 0)
    return err(new UsageError(`--vectors: ${folder} holds none of the vectors that the help names`));
  const cases = [...builtIn, ...vectors.cases].filter(({ group }) => only.includes(group));
  const known = { ...vectors, inProcess: only.includes('jcs') ? vectors.inProcess : [] };
  const chosen = (aims: readonly Aim[]): readonly Aim[] =>
    aims.filter(({ base }) => route === undefined || route.includes(base.operationId));
  // SAFETY: checked above.
  if (target !== undefined)
    return tryAll(
      chosen(publishedRequests(target, service as 'mastery' | 'reports', token ?? '')),
      cases,
      known,
      { atOnce: 1, isServed: false },
    );
  const stack = await startProduct();
  try {
    return await tryAll(chosen(await localRequests(stack)), cases, known, { atOnce: 8, isServed: true });
  } finally {
    await stack.close();
  }
}

await run(
  program(
    'npm run hostile --',
    'Sends what no friend of the service would send to every route: bodies that are no JSON, tokens that the issuer did not sign, other texts of the same request, and bytes that are no HTTP. Each has the answers that it may have; none is a 500, none repeats the marker that many of them contain, and the sound request is answered as before. Prints what was tried and every difference.\n' +
      'Without --target it starts the product as npm start does. With it, the requests are the examples of the published document: writes reach the stage, so give the token of a tenant for tests. A stage may block the address from which it gets so many of them.',
  )
    .option(
      '--vectors <DIR>',
      'also the public vectors below this folder: nst/JSONTestSuite, C2SP/wycheproof, cyberphone/json-canonicalization, as they are cloned',
      text,
    )
    .option('--target <URL>', 'a deployed stage, up to its base path', text)
    .option('--service <NAME>', 'which service the target is: mastery or reports', text)
    .option('--token <TOKEN>', 'a bearer token for the target', text)
    .option('--only <GROUPS>', `only these groups, separated by commas: ${groups.join(', ')}`, list, [
      ...groups,
    ])
    .option('--route <OPERATIONS>', 'only these routes, by their operation id', list)
    .addHelpText(
      'after',
      examples(
        'npm run hostile',
        'npm run hostile -- --only json,jose --vectors ../vectors',
        'npm run hostile -- --target https://api.example/prod --service reports --token "$TOKEN"',
      ),
    )
    .action(exits(main)),
);
