import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  listCandidateReports,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
  readSchoolGradeCohort,
} from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { callsDuring, depthOf, slowDown } from '#test/support/platform-calls.ts';
import type { RecordedCall } from '#test/support/platform-calls.ts';
import { openReportsCaller, reportsAnswerOf } from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

let stack: TestStack;
let caller: ReportsCaller;
beforeAll(async () => {
  stack = await startTestStack();
  caller = openReportsCaller(stack);
});
beforeEach(() => stack.control('POST', 'reset'));
afterAll(() => stack.close());

const tenantId = 'tenant-aurora';
type Fixtures = ReturnType<ReportsCaller['fixtures']>;

/** One good request of each route. */
const requests: readonly { readonly route: Route; readonly callOf: (fixtures: Fixtures) => GatewayCall }[] = [
  {
    route: readAttemptReport,
    callOf: ({ attempts }) => ({ path: { attemptId: attempts.gateFail }, query: '?view=evidence' }),
  },
  { route: readReadiness, callOf: ({ attempts }) => ({ path: { attemptId: attempts.gatePass } }) },
  {
    route: listCandidateReports,
    callOf: ({ candidates }) => ({
      path: { candidateSourcedId: Object.values(candidates)[0] ?? '' },
      query: '?limit=5',
    }),
  },
  { route: readClassCohort, callOf: ({ classes }) => ({ path: { classSourcedId: classes[0] ?? '' } }) },
  {
    route: readSchoolGradeCohort,
    callOf: ({ schools }) => ({ path: { schoolSourcedId: '', grade: '', ...schools[0] } }),
  },
  { route: readEquivalence, callOf: ({ forms }) => ({ path: { qtiTestId: Object.values(forms)[0] ?? '' } }) },
];

/** A caller of its own for each test: what another test has left in a container is not given to it. */
function someone({ scope }: Route): Pick<GatewayCall, 'tenantId' | 'scopes'> {
  return { tenantId, scopes: [scope, randomUUID()] };
}

/** What one request was answered, and how its owners were asked for it. */
async function ask(route: Route, call: GatewayCall) {
  const { result: reply, calls } = await callsDuring(stack, () => caller.call(route, call));
  return { reply, calls, asked: calls.map(({ path }) => path).toSorted(), statuses: statusesOf(calls) };
}

function statusesOf(calls: readonly RecordedCall[]): readonly (number | null)[] {
  return [...new Set(calls.map(({ status }) => status))];
}

/**
 * A body without what belongs to its request, and the times at which it says that this request observed something. The time of an outcome
 * has the same name, and is a fact.
 */
function apart(text: string): { readonly rest: unknown; readonly times: readonly number[] } {
  const times: number[] = [];
  const rest: unknown = JSON.parse(text, function (this: object, name, value: unknown) {
    if (name === 'requestId' || name === 'traceId') return typeof value;
    if (name !== 'observedAt' || 'contribution' in this) return value;
    times.push(parseInstant(String(value)) ?? NaN);
    return typeof value;
  });
  return { rest, times };
}

describe.each(requests)('$route.operationId', ({ route, callOf }) => {
  it('gives an answer again that every owner confirms, with the ids and times of its request [RP-006, RP-085, RP-337]', async () => {
    const call = { ...someone(route), ...callOf(caller.fixtures(tenantId)) };
    const composed = await ask(route, call);
    // A framework may have been kept, and is then confirmed.
    expect([reportsAnswerOf(composed.reply), composed.statuses.includes(200)]).toEqual(['200', true]);
    const before = Date.now();
    const confirmed = await ask(route, call);
    expect([reportsAnswerOf(confirmed.reply), confirmed.statuses]).toEqual(['200', [304]]);
    expect(confirmed.asked).toEqual(composed.asked);

    const { rest, times } = apart(confirmed.reply.text);
    expect(rest).toEqual(apart(composed.reply.text).rest);
    expect(times.length).toBeGreaterThan(1);
    expect(times.filter((time) => time < before)).toEqual([]);
    const [first = '', second = ''] = [composed, confirmed].map(
      ({ reply }) => reply.headers.get('x-request-id') ?? '',
    );
    expect(confirmed.reply.text).not.toContain(first);
    expect(confirmed.reply.text.includes(second)).toBe(composed.reply.text.includes(first));
  });

  it('asks for the confirmations side by side', async () => {
    const call = { ...someone(route), ...callOf(caller.fixtures(tenantId)) };
    await ask(route, call);
    await slowDown(stack);
    const { calls, statuses } = await ask(route, call);
    expect([statuses, depthOf(calls)]).toEqual([[304], 1]);
  });

  it('gives nobody an answer that was another caller’s [RP-337]', async () => {
    const call = { ...someone(route), ...callOf(caller.fixtures(tenantId)) };
    await ask(route, call);
    const { statuses } = await ask(route, { ...call, ...someone(route) });
    expect(statuses).toContain(200);
  });
});

it('composes a report anew as soon as one of its owners says something else [RP-001, RP-337]', async () => {
  const { attempts } = caller.fixtures(tenantId);
  const call = { ...someone(readAttemptReport), path: { attemptId: attempts.formative } };
  const first = await ask(readAttemptReport, call);
  const { resultRecordId, score } = readAttemptReport.success.schema.parse(JSON.parse(first.reply.text));
  const changes = [{ pointer: '/score/value', value: score.value - 1 }];
  await stack.control('PATCH', 'entities', {
    tenantId,
    entity: 'results.settled_record',
    id: resultRecordId,
    changes,
  });
  const second = await ask(readAttemptReport, call);
  expect(JSON.parse(second.reply.text)).toMatchObject({ score: { value: score.value - 1 } });
});

it('hides a report again from whoever may no longer see it [RP-316, RP-337]', async () => {
  const { attempts } = caller.fixtures(tenantId);
  const call = { ...someone(readAttemptReport), path: { attemptId: attempts.formative } };
  expect(reportsAnswerOf((await ask(readAttemptReport, call)).reply)).toBe('200');
  const { reply } = await ask(readAttemptReport, { ...call, claims: { studentIds: [] } });
  expect(reportsAnswerOf(reply)).toBe('404 not-found');
});
