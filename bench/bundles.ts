import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type * as awsClients from '#shared/stores/make-clients.ts';
import { buildFunctions, bundleLimit, projectRoot, type BuiltFunction } from '#tools/bundling/build.ts';
import type { Entry } from '#tools/bundling/bundle.ts';
import { quantile, unwrap, type Part, type Progress } from './measure.ts';

interface BundleFigures {
  readonly operationId: string;
  readonly bytes: number;
  /** Median of a first import in a fresh process, in milliseconds. */
  readonly importMs: number;
  /** The same in relation to a handler that only imports the same SDK clients; absent for a function without any. */
  readonly ratio?: number;
}

/** The exports of shared/stores/make-clients.ts, by the package whose client each makes. */
const clients = {
  '@aws-sdk/client-dynamodb': 'makeDynamo',
  '@aws-sdk/client-kms': 'makeKms',
  '@aws-sdk/client-s3': 'makeS3',
  '@aws-sdk/client-sqs': 'makeSqs',
  '@aws-sdk/client-ssm': 'makeSsm',
} as const satisfies Readonly<Record<string, keyof typeof awsClients>>;

/** The SDK clients in a bundle, as one name: `makeDynamo-makeKms`. */
function clientsOf({ shares }: BuiltFunction): string {
  return Object.entries(clients)
    .flatMap(([owner, name]) => (owner in shares ? [name] : []))
    .join('-');
}

/** A handler that makes these clients and does nothing else. */
async function clientsOnly(names: string): Promise<Entry> {
  const folder = 'build/bench/clients';
  const handler = join(folder, `${names}.ts`);
  const list = names.split('-');
  await mkdir(join(projectRoot, folder), { recursive: true });
  await writeFile(
    join(projectRoot, handler),
    `import { ${list.join(', ')} } from '#shared/stores/make-clients.ts';\n` +
      `export const handler = () => [${list.map((name) => `${name}({})`).join(', ')}];\n`,
  );
  return { operationId: names, handler };
}

/**
 * Sizes and cold imports of all bundles. Each import runs in a process of its own, and the bundles take turns, so that a busy moment of
 * the machine touches all of them.
 * @param rounds how many imports of each
 */
async function benchBundles(rounds: number, progress: Progress): Promise<readonly BundleFigures[]> {
  progress('building');
  const built = unwrap(await buildFunctions());
  const sets = new Set(built.map(clientsOf).filter((names) => names !== ''));
  const entries = await Promise.all([...sets].map(clientsOnly));
  const baseline = unwrap(await buildFunctions({ outdir: 'build/bench/functions', entries }));
  const all: readonly BuiltFunction[] = [...baseline, ...built];
  const times = new Map<string, number[]>(all.map(({ operationId }) => [operationId, []]));
  for (let round = 1; round <= rounds; round += 1) {
    progress(`imports, round ${round} of ${rounds}`);
    for (const { operationId, file } of all) times.get(operationId)?.push(await importTime(file));
  }
  const medianOf = (operationId: string): number => quantile(times.get(operationId) ?? [], 0.5);
  return built.map((one) => {
    const { operationId, bytes } = one;
    const importMs = medianOf(operationId);
    const names = clientsOf(one);
    return { operationId, bytes, importMs, ...(names ? { ratio: importMs / medianOf(names) } : {}) };
  });
}

function bundleTable(functions: readonly BundleFigures[]): string {
  const width = Math.max(...functions.map(({ operationId }) => operationId.length), 20);
  const row = (name: string, size: string, time: string, ratio: string): string =>
    `${name.padEnd(width)}  ${size.padStart(9)}  ${time.padStart(9)}  ${ratio.padStart(11)}`;
  return [
    row('bundle', 'minified', 'import', 'to clients'),
    ...functions.map(({ operationId, bytes, importMs, ratio }) =>
      row(operationId, kilobytes(bytes), `${importMs.toFixed(1)} ms`, ratio?.toFixed(2) ?? '–'),
    ),
    row('limit', `≤ ${kilobytes(bundleLimit)}`, '', '').trimEnd(),
  ].join('\n');
}

/** One first import in a fresh process, as Lambda's initialization does it: in milliseconds, without the start of Node itself. */
async function importTime(file: string): Promise<number> {
  const program = `
    // What the runtime of Lambda offers to a function that streams; here nothing is called.
    globalThis.awslambda = { streamifyResponse: (handler) => handler };
    const start = process.hrtime.bigint();
    await import(${JSON.stringify(`file://${file}`)});
    console.log(Number(process.hrtime.bigint() - start) / 1e6);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env: environment,
  });
  return Number(stdout);
}

/** What a function may read as it loads; nothing is called. */
const environment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  STAGE: 'local',
  RECORDS_TABLE: 'records',
  CONTROL_TABLE: 'control',
  SETTINGS_TABLE: 'settings',
  TOKEN_ISSUER: 'https://issuer.example',
  TOKEN_AUDIENCE: 'mastery-reports',
  TOKEN_JWKS_URL: 'https://issuer.example/jwks.json',
  TOKEN_ALGORITHMS: 'RS256',
  PROBLEMS_URL: 'https://docs.example/problems',
  REQUESTS_PER_TENANT: '100000',
};

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} KB`;
}

export const bundlePart: Part = {
  title: 'Bundles: minified size, and first import in a process of its own',
  run: async (progress, isQuick) => {
    // A bundle above its limit fails the build; the aim of an import is a ratio to another commit, which --against prints.
    return { text: bundleTable(await benchBundles(isQuick ? 1 : 15, progress)), missed: [] };
  },
};
