import { randomUUID } from 'node:crypto';
import { testOf } from '#local/call/example-request.ts';
import type { Stack } from '#local/stack/stack.ts';
import { simulateScoreRecovery as route } from '#shared/contract/mastery/routes/simulate-score-recovery.ts';
import { proxyEvent } from '#test/support/lambda.ts';
import { buildFunctions, type BuiltFunction } from '#tools/bundling/build.ts';
import { makeRandom } from './bank.ts';
import { openFunction } from './function.ts';
import type { Invocation } from './function-process.ts';
import { startLargeStack, variablesBeside, type LargeBank } from './large-stack.ts';
import { verdict, table, unwrap, type Part, type Progress, type Report } from './measure.ts';

const TENANT = 'tenant-aurora';
/** All KCs in scope are known of every profile, and every test continues to its last item. */
const PROFILES = 100;
/** The matrix that the aims speak of, in one replication; and one of few KCs, whose replications are bounded by what the first one cost. */
const BANKS = [
  { items: 10_000, kcs: 500, scope: 500, maxItems: 60 },
  { items: 10_000, kcs: 500, scope: 24, maxItems: 20 },
];
const QUICK_PROFILES = 5;
const QUICK_BANKS = [{ items: 500, kcs: 500, scope: 24, maxItems: 5 }];
/** A first request finds a new container, a second one a warm one. */
const REQUESTS = 2;

/** Aims, on a machine like a Lambda with one whole processor. */
const ANSWER_SECONDS = 15;
/** The matrix’s, held by the whole invocation: the processor’s time is the same under any load of the machine. */
const PROCESSOR_SECONDS = 10;
const MEMORY_MB = 512;

/** The whole request: through the local gateway, and in a process of its own, owners and stores in this one. */
async function simulation(progress: Progress, isQuick: boolean): Promise<Report> {
  progress('building');
  const built = unwrap(await buildFunctions());
  const measured: Measured[] = [];
  const [banks, profiles] = isQuick ? [QUICK_BANKS, QUICK_PROFILES] : [BANKS, PROFILES];
  for (const bank of banks) measured.push(await measure(built, bank, profiles, progress));
  return reportOf(measured);
}

async function measure(
  functions: readonly BuiltFunction[],
  bank: LargeBank,
  profileCount: number,
  progress: Progress,
): Promise<Measured> {
  progress('making the bank');
  await using stack = await startLargeStack(bank);
  const body = requestBody(stack, profileCount);
  const answered: Answered[] = [];
  while (answered.length < REQUESTS) {
    progress(`through the gateway: ${answered.length + 1} of ${REQUESTS}`);
    answered.push(await throughGateway(stack, body));
  }
  await using own = await openFunction({
    file: functions.find(({ operationId }) => operationId === route.operationId)?.file ?? '',
    variables: variablesBeside(stack, route),
  });
  const figures: Invocation[] = [];
  while (figures.length < REQUESTS) {
    progress(`in a process of its own: ${figures.length + 1} of ${REQUESTS}`);
    figures.push(await own.invoke(proxyEvent(route, { body, headers: await headersOf(stack) })));
  }
  return { bank, answered, figures };
}

/** Profiles of rising ability, each of whose KCs is known for certain. */
function requestBody({ seededTenants }: Stack, profileCount: number): object {
  const tenant = seededTenants.get(TENANT);
  const bank = tenant?.fixtures.mastery.banks[0];
  const kcScope = tenant?.policies[0]?.document.eligibilityRules.kcScope;
  if (bank === undefined || kcScope === undefined) throw new Error('the stack has no bank with a scope');
  const random = makeRandom(11);
  const profiles = Array.from({ length: profileCount }, (_, n) => ({
    syntheticProfileId: `synthetic:${n}`,
    knownMastery: Object.fromEntries(kcScope.map((guid) => [guid, Number(random() * profileCount < n)])),
  }));
  return { ...testOf(bank), profiles };
}

interface Measured {
  readonly bank: LargeBank;
  readonly answered: readonly Answered[];
  readonly figures: readonly Invocation[];
}

interface Answered {
  readonly status: number;
  readonly replications: number;
  readonly seconds: number;
}

async function throughGateway(stack: Stack, body: object): Promise<Answered> {
  const start = performance.now();
  const response = await fetch(`${stack.urls.masteryUrl}${route.path}`, {
    method: route.method,
    headers: { ...(await headersOf(stack)), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { replications = 0 } = (await response.json()) as { readonly replications?: number };
  return { status: response.status, replications, seconds: (performance.now() - start) / 1000 };
}

async function headersOf(stack: Stack): Promise<Readonly<Record<string, string>>> {
  return {
    Authorization: `Bearer ${await stack.tokenFor(TENANT, [route.scope])}`,
    'Idempotency-Key': randomUUID(),
  };
}

function reportOf(measured: readonly Measured[]): Report {
  const figures = measured.flatMap((each) => each.figures);
  const answered = measured.flatMap((each) => each.answered);
  const peak = Math.max(...figures.map((each) => each.peak));
  const isSmall = peak <= MEMORY_MB;
  const temperature = (n: number): string => (n === 0 ? 'cold' : 'warm');
  return {
    text: table(
      [
        '',
        'time',
        'CPU',
        'peak',
        `aim: ≤ ${ANSWER_SECONDS} s; CPU ≤ ${PROCESSOR_SECONDS} s, peak ≤ ${MEMORY_MB} MB`,
      ],
      measured.flatMap(({ bank: { scope, maxItems }, answered: own, figures: alone }) => [
        ...own.map(({ status, replications, seconds }, n) => [
          `${scope} KCs × ${maxItems} items × ${replications}, through the gateway, ${temperature(n)}, status ${status}`,
          `${seconds.toFixed(1)} s`,
          '',
          '',
          verdict(seconds <= ANSWER_SECONDS),
        ]),
        ...alone.map(({ status, last, cpu, peak: most }, n) => [
          `${scope} KCs × ${maxItems} items, the function alone, ${temperature(n)}, status ${status}`,
          `${(last / 1000).toFixed(1)} s`,
          `${(cpu / 1000).toFixed(1)} s`,
          `${most.toFixed(0)} MB`,
          verdict(isSmall && cpu / 1000 <= PROCESSOR_SECONDS),
        ]),
      ]),
    ),
    missed: [
      ...([...answered, ...figures].every(({ status }) => status === route.success.status)
        ? []
        : ['simulation: not answered']),
      ...(isSmall ? [] : [`simulation: ${peak.toFixed(0)} MB of ${MEMORY_MB} MB`]),
    ],
  };
}

export const simulationPart: Part = {
  title: `Recovery simulation, a whole request of ${PROFILES} profiles: KCs in scope × items × replications, banks of 10,000 items`,
  run: simulation,
};
