import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { StoreName } from '#local/aws/faults.ts';
import { routes, type OperationId } from '#shared/contract/routes.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { allOperations } from '#shared/platform/all-operations.ts';
import { answerOf } from '#test/lemmas/answers.ts';
import { deployed, resourcesOf } from '#test/infra/deployed.ts';
import { replay } from '#test/infra/cloudwatch/evaluator.ts';
import { figuresOf, points } from '#test/infra/cloudwatch/happenings.ts';
import { openWorlds, operations } from '#test/lemmas/worlds.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// What callers see while one dependency is out, and which alarms operators hear: docs/reliability.md has the tables, and each of their rows is compared
// with what every route returns, and with what CloudWatch makes of the lines that the functions write meanwhile.

/** Since when the dependency is out, in minutes. */
const minutes = [1, 10, 60, 1_440] as const;
const started = Date.now();
const clock = { now: started };
/** What is out of what the functions reach by HTTP. */
let isOut: (url: URL, method: string) => boolean = () => false;

const own = processRuntime();
const stack = useTestStack({
  now: () => clock.now,
  inProcess: () => ({
    now: () => clock.now,
    // Pauses pass at once, time limits later than usual: nothing hangs here but a slow machine.
    sleep: (milliseconds, signal) => own.sleep(milliseconds > 1_000 ? 20 * milliseconds : 0, signal),
    fetch: (url, request) =>
      isOut(new URL(url), request.method) ? Promise.reject(new TypeError('out')) : own.fetch(url, request),
  }),
});
const worlds = lazily(() => openWorlds(stack));

/** The routes by what they are for. */
const groups: Readonly<Record<string, readonly OperationId[]>> = {
  'adaptive runs': ['startAdaptiveRun', 'inspectAdaptiveRun', 'advanceAdaptiveRun'],
  simulation: ['simulateScoreRecovery'],
  configuration: ['readSelectionPolicy', 'readScaleCalibration'],
  reports: [
    ...(['readAttemptReport', 'listCandidateReports', 'readClassCohort', 'readSchoolGradeCohort'] as const),
    ...(['readEquivalence', 'readReadiness'] as const),
  ],
  settlement: ['materializeAttemptReport'],
  'improvement runs': [
    ...(['analyzeAdministration', 'readImprovementRun', 'readAlignmentReport'] as const),
    'listRevisionOrders',
  ],
};

it('every route has its group', () => {
  expect(Object.values(groups).flat().toSorted()).toEqual(
    routes.map(({ operationId }) => operationId).toSorted(),
  );
});

const owners = [...new Set(allOperations.map(({ service }) => service))].toSorted();
const store = (name: StoreName) => () => stack.awsFaults.break(name, 'is down');
const owner = (service: string) => () => {
  const patterns = allOperations
    .filter((operation) => operation.service === service)
    .map(({ method, path }) => [method, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)] as const);
  isOut = ({ pathname }, asked) => patterns.some(([method, path]) => method === asked && path.test(pathname));
};

/** Every dependency, by its name in the table, and how it goes out. */
const dependencies: readonly (readonly [name: string, goOut: () => void])[] = [
  ['nothing', () => undefined],
  ['Systems Manager', store('ssm')],
  ['KMS', store('kms')],
  ['DynamoDB `records`', store('records')],
  ['DynamoDB `control`', store('control')],
  ['DynamoDB `settings`: keys, profiles, release state', store('settings')],
  ['DynamoDB `improvement`', store('improvement')],
  ['S3', store('s3')],
  ['SQS', store('sqs')],
  ['key set of the token issuer', () => (isOut = ({ pathname }) => pathname.endsWith('/jwks.json'))],
  ...owners.map((service) => [`owner \`${service}\``, owner(service)] as const),
];

let calls: ReadonlyMap<OperationId, GatewayCall>;
beforeAll(async () => {
  calls = new Map(
    await Promise.all(
      operations.map(async ({ operation }) => [operation, await worlds.request(operation)] as const),
    ),
  );
  await stack.improvement.settled();
  stack.improvement.pause();
}, 60_000);

/** What each route returns now; a failure is a problem that may be repeated. */
async function probe(): Promise<ReadonlySet<OperationId>> {
  const failed = await Promise.all(
    operations.map(async ({ operation, route }) => {
      const reply = await worlds.send(operation, calls.get(operation) ?? {});
      if (reply.status === route.success.status) return [];
      return [[operation, answerOf(route, reply).join(' ')] as const];
    }),
  );
  for (const [operation, answer] of failed.flat())
    if (!isOver(operation)) expect(answer, operation).toMatch(/^(424|503) [a-z-]+ retryable$/);
  return new Set(failed.flat().map(([operation]) => operation));
}

/** The token of the run that inspect and advance name lives for a day. */
const isOver = (operation: OperationId): boolean =>
  clock.now - started >= 1_440 * 60_000 && ['inspectAdaptiveRun', 'advanceAdaptiveRun'].includes(operation);

function textOf(failed: ReadonlySet<OperationId>): string {
  const counted = routes.map(({ operationId }) => operationId as OperationId).filter((each) => !isOver(each));
  if (counted.every((each) => failed.has(each))) return 'all fail';
  const parts = Object.entries(groups).flatMap(([group, members]) => {
    const inGroup = members.filter((each) => !isOver(each));
    const its = inGroup.filter((each) => failed.has(each));
    if (its.length === 0) return [];
    return inGroup.every((each) => failed.has(each)) ? [group] : its.map((each) => `\`${each}\``);
  });
  return parts.length === 0 ? 'all served' : `fail: ${parts.join(', ')}`;
}

/** The cells of one dependency, on containers that served every route just before, or on new ones at each time. */
async function cells(goOut: () => void, containers: 'warm' | 'cold'): Promise<readonly string[]> {
  stack.awsFaults.reset();
  isOut = () => false;
  clock.now = started;
  await stack.killWorkers();
  if (containers === 'warm') expect(await probe()).toEqual(new Set());
  goOut();
  const found: string[] = [];
  for (const minute of minutes) {
    clock.now = started + minute * 60_000;
    if (containers === 'cold') await stack.killWorkers();
    const before = stack.logs().length;
    found.push(textOf(await probe()));
    if (minute === 10) written.push(...stack.logs().slice(before));
  }
  return found;
}

/** What functions wrote in the tenth minute of an outage, on warm and on new containers. */
let written: ReturnType<typeof stack.logs>[number][] = [];

const deployedAlarms = ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm'].flatMap((type) =>
  resourcesOf(deployed(), type, 'operations').map(({ properties }) => ({
    name: String(properties['AlarmName']),
    type,
    properties,
  })),
);

/** The alarms that notify within two hours if every minute of an outage is like the tenth, by their topic. */
function heard(): string {
  const outage = written
    .flatMap(({ line }) => figuresOf(JSON.stringify(line)))
    // Here the time limit of a count passes at once.
    .filter(({ metric }) => metric !== 'REQUEST_UNCOUNTED')
    .map(({ dimensions, ...figure }) => ({ ...figure, dimensions: { ...dimensions, stage: 'prod' } }))
    .flatMap(({ value, ...metric }) => points(metric, { from: 60, to: 180 }, value));
  const { notifications } = replay(deployedAlarms, outage, { minutes: 180 });
  const alarms = (topic: string): string => {
    const names = notifications
      .filter((notification) => notification.topic === topic && notification.state === 'ALARM')
      .map(({ alarm }) => alarm.replace('mastery-reports-prod-', ''))
      // Nothing calls the functions on a schedule here.
      .filter((name) => !name.endsWith('-silent'));
    return [...new Set(names)]
      .toSorted()
      .map((name) => `\`${name}\``)
      .join(', ');
  };
  return `${alarms('Pages') || 'none'} | ${alarms('Tickets') || 'none'}`;
}

/** The rows of a dependency: one if it makes no difference to the containers. */
function rowsOf(name: string, warm: readonly string[], cold: readonly string[]): readonly string[] {
  const row = (containers: string, found: readonly string[]): string => {
    const short = found.map((cell, at) =>
      cell.startsWith('fail:') && cell === found[at - 1] ? 'the same' : cell,
    );
    return `| ${name} | ${containers} | ${short.join(' | ')} |`;
  };
  return isDeepStrictEqual(warm, cold) ? [row('any', warm)] : [row('warm', warm), row('new', cold)];
}

const page = await readFile(join(import.meta.dirname, '../../docs/reliability.md'), 'utf8');
const part = /begin of outages.*?-start -->\n\n(.*?)\n<!--/s.exec(page)?.[1]?.split('\n') ?? [];

const alarmsPart =
  /begin of alarms of outages.*?-start -->\n\n(.*?)\n<!--/s.exec(page)?.[1]?.split('\n') ?? [];

describe('docs/reliability.md has what callers see', () => {
  it.each(dependencies)('while %s is out [MA-218, RP-334]', { timeout: 300_000 }, async (name, goOut) => {
    written = [];
    const found = rowsOf(name, await cells(goOut, 'warm'), await cells(goOut, 'cold'));
    if (name !== 'nothing')
      expect(alarmsPart.filter((line) => line.startsWith(`| ${name} | `))).toEqual([
        `| ${name} | ${heard()} |`,
      ]);
    else expect(heard()).toBe('none | none');
    if (name === 'nothing')
      expect(found).toEqual([`| nothing | any |${' all served |'.repeat(minutes.length)}`]);
    else expect(part.filter((line) => line.startsWith(`| ${name} | `))).toEqual(found);
  });

  it('and has no other rows', () => {
    const names = part.slice(2).map((line) => line.split(' | ')[0]?.slice(2));
    expect([...new Set(names)]).toEqual(dependencies.slice(1).map(([name]) => name));
    expect(part[0]).toBe('| Out | Container | 1 minute | 10 minutes | 1 hour | 1 day |');
    expect(alarmsPart.slice(2).map((line) => line.split(' | ')[0]?.slice(2))).toEqual(
      dependencies.slice(1).map(([name]) => name),
    );
    expect(alarmsPart[0]).toBe('| Out | Pages | Tickets |');
  });
});
