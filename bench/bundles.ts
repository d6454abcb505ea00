import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildFunctions, bundleAim, type BuiltFunction } from '#tools/bundling/build.ts';
import { quantile } from './measure.ts';
import type { Part, Progress } from './measure.ts';

/** What an import should stay below, in milliseconds, on a machine as quiet as a Lambda's. */
const importAim = 60;
/** And, since machines differ: not more than this many times the import of the SDK clients alone. */
const importRatioAim = 1.25;

interface BundleFigures {
  readonly operationId: string;
  readonly bytes: number;
  /** Median of a first import in a fresh process, in milliseconds. */
  readonly importMs: number;
  /** The same in relation to a handler that only imports the SDK clients. */
  readonly ratio: number;
}

interface BundleBench {
  /** Median import of the clients alone, in milliseconds. */
  readonly clientsMs: number;
  readonly functions: readonly BundleFigures[];
}

const clients = { operationId: 'clientsOnly', handler: 'bench/clients-only.ts' };

/**
 * Sizes and cold imports of all bundles. Each import runs in a process of its own, and the bundles take turns, so that a busy moment of
 * the machine touches all of them.
 * @param rounds how many imports of each
 */
async function benchBundles(rounds: number, progress: Progress): Promise<BundleBench> {
  progress('building');
  const built = await buildFunctions();
  const baseline = await buildFunctions({ outdir: 'build/bench/functions', entries: [clients] });
  if (!built.ok || !baseline.ok) {
    throw new Error([built, baseline].flatMap((result) => (result.ok ? [] : result.error)).join('\n'));
  }
  const all: readonly BuiltFunction[] = [...baseline.value, ...built.value];
  const times = new Map<string, number[]>(all.map(({ operationId }) => [operationId, []]));
  for (let round = 1; round <= rounds; round += 1) {
    progress(`imports, round ${round} of ${rounds}`);
    for (const { operationId, file } of all) times.get(operationId)?.push(await importTime(file));
  }
  const medianOf = (operationId: string): number => quantile(times.get(operationId) ?? [], 0.5);
  const clientsMs = medianOf(clients.operationId);
  return {
    clientsMs,
    functions: built.value.map(({ operationId, bytes }) => {
      const importMs = medianOf(operationId);
      return { operationId, bytes, importMs, ratio: importMs / clientsMs };
    }),
  };
}

/** Which aims of a bundle are missed, as sentences. */
function missedAims({ functions }: BundleBench): readonly string[] {
  return functions.flatMap(({ operationId, bytes, importMs, ratio }) => [
    ...(bytes > bundleAim ? [`${operationId}: ${kilobytes(bytes)}, aim ${kilobytes(bundleAim)}`] : []),
    ...(importMs > importAim && ratio > importRatioAim
      ? [
          `${operationId}: import ${importMs.toFixed(0)} ms and ${ratio.toFixed(2)} of the clients alone, aim ${importAim} ms or ${importRatioAim}`,
        ]
      : []),
  ]);
}

/** The table that `npm run bench` prints. */
function bundleTable({ clientsMs, functions }: BundleBench): string {
  const width = Math.max(...functions.map(({ operationId }) => operationId.length), 20);
  const row = (name: string, size: string, time: string, ratio: string): string =>
    `${name.padEnd(width)}  ${size.padStart(9)}  ${time.padStart(9)}  ${ratio.padStart(11)}`;
  return [
    row('bundle', 'minified', 'import', 'to clients'),
    ...functions.map(({ operationId, bytes, importMs, ratio }) =>
      row(operationId, kilobytes(bytes), `${importMs.toFixed(1)} ms`, ratio.toFixed(2)),
    ),
    row('SDK clients alone', '', `${clientsMs.toFixed(1)} ms`, '1.00'),
    row('aim', `≤ ${kilobytes(bundleAim)}`, `≤ ${importAim} ms`, `or ≤ ${importRatioAim}`),
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
  PROFILES_PATH: '/local/profiles',
  TOKEN_ISSUER: 'https://issuer.example',
  TOKEN_AUDIENCE: 'mastery-reports',
  TOKEN_JWKS_URL: 'https://issuer.example/jwks.json',
  TOKEN_ALGORITHMS: 'RS256',
  PROBLEMS_URL: 'https://docs.example/problems',
};

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} KB`;
}

export const bundlePart: Part = {
  name: 'bundles',
  title: 'Bundles: minified size, and first import in a process of its own',
  run: async (progress) => {
    const bench = await benchBundles(15, progress);
    return { text: bundleTable(bench), missed: missedAims(bench) };
  },
};
