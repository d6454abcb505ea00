import { randomUUID } from 'node:crypto';
import type { Stack } from '#local/stack/stack.ts';
import { simulateScoreRecovery as route } from '#shared/contract/mastery/routes.ts';
import { proxyEvent } from '#test/support/lambda.ts';
import { buildFunctions } from '#tools/bundling/build.ts';
import { makeRandom } from './bank.ts';
import { openFunction } from './function.ts';
import type { Invocation } from './function-process.ts';
import { startLargeStack, variablesBeside } from './large-stack.ts';
import { judge, table } from './measure.ts';
import type { Part, Progress, Report } from './measure.ts';

const TENANT = 'tenant-aurora';
/** The matrix that the aims speak of: all its KCs are known of every profile, and every test goes on to its last item. */
const PROFILES = 100;
const BANK = { items: 10_000, scope: 500, maxItems: 60 };
/** A first request finds a new container, a second one a warm one. */
const REQUESTS = 2;

/** Aims, on a machine like a Lambda with one whole processor. */
const ANSWER_SECONDS = 15;
/** The matrix’s, held by the whole invocation: the processor’s time is the same whatever else the machine does. */
const PROCESSOR_SECONDS = 10;
const MEMORY_MB = 512;

/** The whole request: through the local gateway, and in a process of its own, owners and stores in this one. */
async function simulation(progress: Progress): Promise<Report> {
  progress('building');
  const built = await buildFunctions();
  if (!built.ok) throw new Error(built.error.join('\n'));
  progress('making the bank');
  await using stack = await startLargeStack(BANK);
  const body = requestBody(stack);
  const answered: Answered[] = [];
  while (answered.length < REQUESTS) {
    progress(`through the gateway: ${answered.length + 1} of ${REQUESTS}`);
    answered.push(await throughGateway(stack, body));
  }
  await using own = await openFunction({
    file: built.value.find(({ operationId }) => operationId === route.operationId)?.file ?? '',
    variables: variablesBeside(stack, route),
  });
  const figures: Invocation[] = [];
  while (figures.length < REQUESTS) {
    progress(`in a process of its own: ${figures.length + 1} of ${REQUESTS}`);
    figures.push(await own.invoke(proxyEvent(route, { body, headers: await headersOf(stack) })));
  }
  return reportOf(answered, figures);
}

/** Profiles of rising ability, each of whose KCs is known for certain. */
function requestBody({ seededTenants }: Stack): object {
  const bank = seededTenants.get(TENANT)?.fixtures.mastery.banks[0];
  if (bank === undefined) throw new Error('the stack has no bank');
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

async function throughGateway(stack: Stack, body: object): Promise<Answered> {
  const start = performance.now();
  const response = await fetch(`${stack.urls.masteryUrl}${route.path}`, {
    method: route.method,
    headers: { ...(await headersOf(stack)), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return { status: response.status, seconds: (performance.now() - start) / 1000 };
}

async function headersOf(stack: Stack): Promise<Readonly<Record<string, string>>> {
  return {
    Authorization: `Bearer ${await stack.tokenFor(TENANT, [route.scope])}`,
    'Idempotency-Key': randomUUID(),
  };
}

function reportOf(answered: readonly Answered[], figures: readonly Invocation[]): Report {
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
      [
        ...answered.map(({ status, seconds }, n) => [
          `through the gateway, ${temperature(n)}, status ${status}`,
          `${seconds.toFixed(1)} s`,
          '',
          '',
          judge(seconds <= ANSWER_SECONDS),
        ]),
        ...figures.map(({ status, last, cpu, peak: own }, n) => [
          `the function alone, ${temperature(n)}, status ${status}`,
          `${(last / 1000).toFixed(1)} s`,
          `${(cpu / 1000).toFixed(1)} s`,
          `${own.toFixed(0)} MB`,
          judge(isSmall && cpu / 1000 <= PROCESSOR_SECONDS),
        ]),
      ],
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
  name: 'simulation',
  title: `Recovery simulation, a whole request: ${PROFILES} profiles × ${BANK.scope} KCs × ${BANK.maxItems} items, ${BANK.items.toLocaleString('en')} items in the bank`,
  run: simulation,
};
