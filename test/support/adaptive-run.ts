import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import * as z from 'zod';
import { attemptRequest } from '#local/attempt-request.ts';
import { startRequest } from '#local/journey/bank.ts';
import { adaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import type { AdaptiveRun, RunMode, StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { logCodes } from '#shared/observability/log-codes.ts';
import { resultRecordRequest } from '#shared/platform/owners/results.ts';
import type { MasteryProblem } from '#shared/contract/mastery/problem.ts';
import { openControlRecords, type Controlled } from './control-records.ts';
import type { GatewayReply } from './gateway-call.ts';
import { lazily } from './lazily.ts';
import { callMastery, problemOf } from './mastery-call.ts';
import { stateOf } from './platform-control.ts';
import { storePolicy, type PolicyChange, type PolicyParameters } from './released-records.ts';
import type { TestStack } from './stack.ts';

/** An answer, held against the contract before a test sees it. */
export type RunReply =
  | {
      readonly kind: 'run';
      readonly status: number;
      readonly headers: Headers;
      readonly body: AdaptiveRun;
      readonly etag: string;
    }
  | {
      readonly kind: 'problem';
      readonly status: number;
      readonly headers: Headers;
      readonly body: MasteryProblem;
    };
export type RunGiven = Extract<RunReply, { kind: 'run' }>;

type RunRoute = typeof startAdaptiveRun | typeof inspectAdaptiveRun | typeof advanceAdaptiveRun;

/** One request of a run, which can be sent as often as wanted: the same bytes under the same key. */
export interface RunRequest extends Controlled {
  /** The function that serves it. */
  readonly operationId: string;
  readonly send: () => Promise<RunReply>;
  /** Sends it and fails the test unless a run comes back. */
  readonly sendForRun: () => Promise<RunGiven>;
}

/** An entity by kind and id, and its members' new values by JSON Pointer; without a value the member goes. */
export interface OwnerChange {
  readonly entity: string;
  readonly id: string;
  readonly changes: readonly { readonly pointer: string; readonly value?: unknown }[];
}

/** The runs of one tenant of a stack: its requests, its player, and a look at what its owners hold. */
export type AdaptiveRuns = ReturnType<typeof makeRuns>;

/** Which bank of the seed, and for whom. */
interface Asked {
  readonly bank?: string;
  readonly mode?: RunMode;
}

/** The bank whose policy stops after five items, and the one that stops when its two seconds are over. */
export const SHORT_BANK = 'fraction-subtraction-short';
export const TIMED_BANK = 'fraction-subtraction-timed';

function makeRuns(stack: TestStack, tenantId: string) {
  const seeded = stack.seededTenants.get(tenantId)!;
  const control = openControlRecords(stack);

  function request(route: RunRoute, body: object, ifMatch?: string): RunRequest {
    const idempotencyKey = randomUUID();
    const { method, path: canonicalPath } = route;
    const asked = { tenantId, method, canonicalPath, idempotencyKey, ifMatch, body };
    const send = async (): Promise<RunReply> => {
      const reply = await callMastery(stack, route, { tenantId, key: idempotencyKey, ifMatch, body });
      return checkedReply(route, reply, seeded.platform.credentials.platformJwt);
    };
    return {
      operationId: route.operationId,
      send,
      sendForRun: async () => runOf(await send()),
      ...control.of(asked),
    };
  }

  /** The body of a start over one of the seed's banks; default: a learner's run over the bank that every answer is news to. */
  function startBody({
    bank = SHORT_BANK,
    mode = 'production_learner',
  }: Asked = {}): StartAdaptiveRunRequest {
    const { banks, resultsStudentId } = seeded.fixtures.mastery;
    return startRequest({ fixture: banks.find(({ name }) => name === bank)!, resultsStudentId }, mode);
  }
  /** The same under a policy that differs from the bank's, with parameters beside it. */
  async function bodyUnder(
    change: PolicyChange,
    asked?: Asked,
    parameters?: PolicyParameters,
  ): Promise<StartAdaptiveRunRequest> {
    const body = startBody(asked);
    const from = body.selectionPolicyId;
    return { ...body, selectionPolicyId: await storePolicy(stack, tenantId, { from, change, parameters }) };
  }
  /** The members of a bank's pool, as the seed gave them to Bank. */
  function membersOf(bank: string) {
    const { bankOperationId } = seeded.fixtures.mastery.banks.find(({ name }) => name === bank)!;
    return (
      seeded.platform.manifests.find(({ operationId }) => operationId === bankOperationId)!.members ?? []
    );
  }
  const start = (body: object = startBody()): RunRequest => request(startAdaptiveRun, body);
  const inspect = (continuationToken: string): RunRequest =>
    request(inspectAdaptiveRun, { continuationToken });
  const advance = (continuationToken: string, etag: string): RunRequest =>
    request(advanceAdaptiveRun, { continuationToken }, etag);

  /** Plays the offered item: QTI scores one attempt. */
  async function play(run: AdaptiveRun, score: 0 | 1 = 1): Promise<void> {
    if (run.offeredItem === null) throw new Error('no item is offered');
    const { deliverySessionId } = run.offeredItem;
    const { platformUrl } = stack.urls;
    const playerToken = await stack.tokenFor(tenantId, []);
    const attempt = { platformUrl, tenantId, playerToken, deliverySessionId, correct: score === 1 };
    const response = await fetch(...attemptRequest(attempt));
    expect(response.status).toBe(201);
  }
  /** Plays the offered item and inspects, which gives the tag that the next advance needs. */
  async function playAndInspect(run: AdaptiveRun, score?: 0 | 1): Promise<RunGiven> {
    await play(run, score);
    return inspect(run.continuationToken).sendForRun();
  }
  /** Plays the offered item and advances. */
  async function answer({ body }: RunGiven, score?: 0 | 1): Promise<RunGiven> {
    const { etag } = await playAndInspect(body, score);
    return advance(body.continuationToken, etag).sendForRun();
  }
  const state = () => stateOf(stack, tenantId);

  return {
    startBody,
    bodyUnder,
    membersOf,
    start,
    inspect,
    advance,
    play,
    playAndInspect,
    answer,
    state,
    /** Answers every item that is offered, until the run stops. */
    async toEnd(run: RunGiven): Promise<RunGiven> {
      let last = run;
      while (last.body.status === 'in_progress') last = await answer(last);
      return last;
    },
    /** A run with one answer consumed and its second item offered. */
    async underWay() {
      const first = await start().sendForRun();
      return { first, second: await answer(first) };
    },
    /** A run over the timed bank that has played its first item when its time was over: the advance ends it. */
    async playedOut(mode?: RunMode) {
      const started = await start(startBody({ bank: TIMED_BANK, ...(mode && { mode }) })).sendForRun();
      await stack.control('POST', 'clock', { advanceSeconds: 60 });
      const { etag } = await playAndInspect(started.body);
      return { started, etag, advance: advance(started.body.continuationToken, etag) };
    },
    /** What Results has been sent as the record of a completed run. */
    async recordOf({ body }: RunGiven) {
      const record = (await state()).entities['results.record']![body.resultRecordRef!];
      return z.object({ request: resultRecordRequest }).parse(record).request;
    },
    /** Changes an entity as its owner would; resolves to what brings the former entity back. */
    async change(change: OwnerChange): Promise<() => Promise<void>> {
      const before = (await state()).entities[change.entity]?.[change.id];
      await stack.control('PATCH', 'entities', { tenantId, ...change });
      return async () => {
        const changes = change.changes.map(({ pointer }) => memberOf(before, pointer));
        await stack.control('PATCH', 'entities', { tenantId, ...change, changes });
      };
    },
  };
}

/** Opens the runs of a tenant. */
export function openAdaptiveRuns(stack: TestStack, tenantId = 'tenant-aurora'): AdaptiveRuns {
  return makeRuns(stack, tenantId);
}

/** The runs of one tenant, for all tests of a file. */
export function useAdaptiveRuns(stack: TestStack, tenantId?: string): AdaptiveRuns {
  return lazily(() => openAdaptiveRuns(stack, tenantId));
}

/** The log line of a receipt. */
export function receiptOf(stack: Pick<TestStack, 'logs'>, receiptId: string): Record<string, unknown> {
  const line = z.looseObject({ receiptId: z.literal(receiptId) });
  const [found] = stack.logs().flatMap((log) => line.safeParse(log.line).data ?? []);
  if (found === undefined) throw new Error('no log line has this receipt');
  return found;
}

/** A receipt without what every log line has, of which its id is the content address. */
export function receiptTraceOf(
  stack: Pick<TestStack, 'logs'>,
  receiptId: string,
): z.infer<typeof receiptTrace> & { readonly code: unknown } {
  const { receiptId: own, ...line } = receiptOf(stack, receiptId);
  // Members of every line, and those by which CloudWatch counts it, are no part of the receipt.
  const { fields } = logCodes.RUN_RECEIPT;
  const trace = Object.fromEntries(Object.entries(line).filter(([name]) => name in fields));
  expect(hashCanonical(trace)).toBe(own);
  return { code: line['code'], ...receiptTrace.parse(trace) };
}
const receiptTrace = z.looseObject({
  profile: z.string(),
  hosts: z.array(z.string()).length(1),
  trace: z.array(
    z.looseObject({
      operation: z.string(),
      tenant: z.string(),
      namedTenant: z.string().optional(),
      outcome: z.string().default('answered'),
    }),
  ),
});

/** How many log lines have a code. */
export function linesOf(stack: Pick<TestStack, 'logs'>, code: string): number {
  return stack.logs().filter(({ line }) => JSON.stringify(line).includes(`"${code}"`)).length;
}

/** The session of the item that a run offers. */
export function sessionOf({ body }: RunGiven): string {
  return body.offeredItem!.deliverySessionId;
}

/** The whole top-level member that a pointer leads into, so that putting it back undoes any change below it. */
function memberOf(entity: unknown, pointer: string): OwnerChange['changes'][number] {
  const [, name = ''] = pointer.split('/');
  const value = (entity as Readonly<Record<string, unknown>>)[name];
  return { pointer: `/${name}`, ...(value === undefined ? {} : { value }) };
}

/**
 * What every answer must be, whatever went wrong on the way: a run of the published schema with a strong tag and the documented status, or
 * a problem that its route declares, in the envelope, with `Retry-After` when it may be repeated; and no credential anywhere.
 */
function checkedReply(route: RunRoute, reply: GatewayReply, credential: string): RunReply {
  const { status, headers, text } = reply;
  expect(text).not.toContain(credential);
  if (status === route.success.status) {
    expect(headers.get('content-type')).toBe('application/json');
    const etag = headers.get('etag') ?? '';
    expect(isStrongEntityTag(etag)).toBe(true);
    return { kind: 'run', status, headers, body: adaptiveRun.parse(JSON.parse(text)), etag };
  }
  const body = problemOf(reply);
  expect(headers.get('etag')).toBeNull();
  expect(problemKeysOf(route)).toContain(`${status} ${body.code}`);
  // The one retryable problem that may come without a time: `sentenceOf` says when it does.
  if (body.code !== 'finalization-incomplete') expect(headers.has('retry-after')).toBe(body.retryable);
  return { kind: 'problem', status, headers, body };
}

/** The run of an answer; fails the test for a problem, and says which. */
export function runOf(reply: RunReply): RunGiven {
  if (reply.kind === 'run') return reply;
  throw new Error(`a run was expected and not ${sentenceOf(reply)}`);
}

/**
 * An answer in one line, for tables of expectations: status, code, the owner that is named and whether to repeat, or status, state and
 * reportability.
 */
export function sentenceOf(reply: RunReply): string {
  const { status, body } = reply;
  if (reply.kind === 'run') return `${status} ${reply.body.status} ${reply.body.scaleReportability}`;
  const problem = body as MasteryProblem;
  const whenMended = problem.retryable && !reply.headers.has('retry-after') ? 'when mended' : undefined;
  return [
    status,
    problem.code,
    problem.upstream?.service,
    problem.retryable ? 'retryable' : undefined,
    whenMended,
  ]
    .filter((word) => word !== undefined)
    .join(' ');
}
