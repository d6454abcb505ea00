import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import { createIssuerKey } from '#local/issuer/issuer.ts';
import { loadSeed } from '#local/seeds/load.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import { startStack } from '#local/stack/stack.ts';
import type { Stack } from '#local/stack/stack.ts';
import { simulateScoreRecovery as route } from '#shared/contract/mastery/routes.ts';
import { serveSandbox } from '#shared/contract/sandbox.ts';
import { proxyEvent } from '#test/support/lambda.ts';
import { buildFunctions } from '#tools/build.ts';
import { makeRandom } from './bank.ts';
import { judge, table } from './measure.ts';
import type { Part, Progress, Report } from './measure.ts';
import type { InvocationFigures } from './report-process.ts';

const TENANT = 'tenant-aurora';
/** The matrix that the aims speak of: all its KCs are known of every profile, and every test goes on to its last item. */
const PROFILES = 100;
const ITEMS_ADMINISTERED = 60;
const BANK = { standards: 50, kcsPerStandard: 10, items: 10_000 };
/** A first request finds a new container, a second one a warm one. */
const REQUESTS = 2;

/** Aims, on a machine like a Lambda with one whole processor. */
const ANSWER_SECONDS = 15;
/** The matrix’s, held by the whole invocation: the processor’s time is the same whatever else the machine does. */
const PROCESSOR_SECONDS = 10;
const MEMORY_MB = 512;

const bankFiles = {
  'seed.json': { name: 'large', title: 'A large bank', banks: [{ name: 'large' }] },
  'large/generator.json': {
    generator: 'standards-by-components/1',
    seed: '2026',
    title: 'A large bank',
    subject: 'mathematics',
    grades: ['06'],
    learners: 0,
    ...BANK,
  },
  'large/policy.json': {
    kcCutScore: 0.5,
    confidenceThreshold: 1,
    precisionTarget: 1e-9,
    maxItems: ITEMS_ADMINISTERED,
    timeBudgetSeconds: null,
    coverageFloors: [],
    eligibilityRules: {},
  },
};

/** The whole request: through the local gateway, and in a process of its own as large as the row's memory, owners and stores in this one. */
async function simulation(progress: Progress): Promise<Report> {
  progress('building');
  const built = await buildFunctions({
    outdir: 'build/bench/simulation',
    entries: [route, serveSandbox].map(({ operationId, handler }) => ({ operationId, handler })),
  });
  if (!built.ok) throw new Error(built.error.join('\n'));
  const directory = await mkdtemp(join(tmpdir(), 'simulation-'));
  try {
    progress('making the bank');
    const stack = await startLargeBank(directory, built.value);
    try {
      const body = JSON.stringify(requestBody(stack));
      const rows = await throughGateway(stack, body, progress);
      progress('in a process of its own');
      const figures = await inOwnProcess(
        stack,
        built.value.find(({ operationId }) => operationId === route.operationId)?.file ?? '',
        body,
        directory,
      );
      return reportOf(rows, figures);
    } finally {
      await stack.close();
    }
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function startLargeBank(
  directory: string,
  bundles: Parameters<typeof startStack>[0]['bundles'],
): Promise<Stack> {
  for (const [name, value] of Object.entries(bankFiles)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), JSON.stringify(value));
  }
  const seed = await loadSeed(directory);
  if (!seed.ok) throw new Error(renderDefects(seed.error));
  return startStack({
    port: 0,
    seed: seed.value,
    routes: [route],
    background: [],
    bundles,
    issuerKey: await createIssuerKey(),
    documents: { openApi: new Map(), problemPages: new Map() },
  });
}

/** Profiles of rising ability, in most of which a KC is known for certain. */
function requestBody({ worlds }: Stack): object {
  const bank = worlds.get(TENANT)?.fixtures.mastery.banks[0];
  if (bank === undefined) throw new Error('the seed has no bank');
  const { selectionPolicyId, scaleCalibrationId, testSpecId, testBankId, bankOperationId, kcGuids } = bank;
  const random = makeRandom(11);
  const profiles = Array.from({ length: PROFILES }, (_, n) => ({
    syntheticProfileId: `synthetic:${n}`,
    knownMastery: Object.fromEntries(kcGuids.map((guid) => [guid, Number(random() * PROFILES < n)])),
  }));
  return { selectionPolicyId, scaleCalibrationId, testSpecId, testBankId, bankOperationId, profiles };
}

interface Answered {
  readonly status: number;
  readonly seconds: number;
}

async function throughGateway(stack: Stack, body: string, progress: Progress): Promise<readonly Answered[]> {
  const answered: Answered[] = [];
  for (let n = 0; n < REQUESTS; n += 1) {
    progress(`through the gateway: ${n + 1} of ${REQUESTS}`);
    const start = performance.now();
    const response = await fetch(`${stack.urls.masteryUrl}${route.path}`, {
      method: route.method,
      headers: await headersOf(stack),
      body,
    });
    await response.arrayBuffer();
    answered.push({ status: response.status, seconds: (performance.now() - start) / 1000 });
  }
  return answered;
}

async function headersOf(stack: Stack): Promise<Readonly<Record<string, string>>> {
  return {
    Authorization: `Bearer ${await stack.tokenFor(TENANT, [route.scope])}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  };
}

interface OwnFigures extends InvocationFigures {
  /** Seconds from the first profile to the last, as the function logs it. */
  readonly matrix: number;
}

/** The function's log lines come before the figures. */
const computed = z.looseObject({ code: z.literal('SIMULATION_COMPUTED'), durationMs: z.number() });

async function inOwnProcess(
  stack: Stack,
  file: string,
  rawBody: string,
  directory: string,
): Promise<readonly OwnFigures[]> {
  const eventFile = join(directory, 'event.json');
  await writeFile(eventFile, JSON.stringify(proxyEvent(route, { rawBody, headers: await headersOf(stack) })));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [fileURLToPath(new URL('./report-process.ts', import.meta.url)), file, eventFile, String(REQUESTS)],
    {
      env: { ...variablesOf(route, { awsUrl, gatewayUrl: new URL(masteryUrl).origin }) },
      maxBuffer: 16 * 1024 * 1024,
    },
  );
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
  const matrices = lines.flatMap((line) => computed.safeParse(line).data ?? []);
  const figures = lines.at(-1) as readonly InvocationFigures[];
  return figures.map((each, n) => ({ ...each, matrix: (matrices[n]?.durationMs ?? NaN) / 1000 }));
}

function reportOf(answered: readonly Answered[], figures: readonly OwnFigures[]): Report {
  const peak = Math.max(...figures.map((each) => each.peak));
  const isSmall = peak <= MEMORY_MB;
  const temperature = (n: number): string => (n === 0 ? 'cold' : 'warm');
  return {
    text: table(
      [
        '',
        'time',
        'matrix',
        'CPU',
        'peak',
        `aim: ≤ ${ANSWER_SECONDS} s; CPU ≤ ${PROCESSOR_SECONDS} s, peak ≤ ${MEMORY_MB} MB`,
      ],
      [
        ...answered.map(({ status, seconds }, n) => [
          `through the gateway, ${temperature(n)}, status ${status}`,
          `${seconds.toFixed(1)} s`,
          '',
          '',
          '',
          judge(seconds <= ANSWER_SECONDS),
        ]),
        ...figures.map(({ status, last, matrix, cpu, peak: own }, n) => [
          `the function alone, ${temperature(n)}, status ${status}`,
          `${(last / 1000).toFixed(1)} s`,
          `${matrix.toFixed(1)} s`,
          `${(cpu / 1000).toFixed(1)} s`,
          `${own.toFixed(0)} MB`,
          judge(isSmall && cpu / 1000 <= PROCESSOR_SECONDS),
        ]),
      ],
    ),
    missed: [
      ...([...answered, ...figures].every(({ status }) => status === 200)
        ? []
        : ['simulation: not answered']),
      ...(isSmall ? [] : [`simulation: ${peak.toFixed(0)} MB of ${MEMORY_MB} MB`]),
    ],
  };
}

export const simulationPart: Part = {
  name: 'simulation',
  title: `Recovery matrix: ${PROFILES} profiles × ${BANK.standards * BANK.kcsPerStandard} KCs × ${ITEMS_ADMINISTERED} items, ${BANK.items.toLocaleString('en')} items in the bank, a whole request`,
  run: simulation,
};
