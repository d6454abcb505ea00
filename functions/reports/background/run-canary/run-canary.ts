import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { attempt, type ScheduledHandler } from '#functions/reports/background/invocation.ts';
import { runCanary as row } from '#shared/contract/background.ts';
import type { AdaptiveRun, StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import { strongEntityTag } from '#shared/contract/mastery/primitives.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import type { Route } from '#shared/contract/route.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { withTimeLimit } from '#shared/kernel/sleep.ts';
import { decodeUtf8, parseStrictJson } from '#shared/kernel/strict-json.ts';
import { readCapped } from '#shared/network/http-client.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import { createFunctionLog, type Log } from '#shared/observability/logger.ts';
import { problemRows } from '#shared/problems/registry.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** What the canary calls. */
export interface Canary {
  readonly sandboxUrl: string;
  /** Absent where the stage names no run. */
  readonly run?: CanaryRun;
}

interface CanaryRun {
  readonly masteryUrl: string;
  /** The tenant whose token it is: the canary sends no other. */
  readonly tenantId: string;
  readonly request: StartAdaptiveRunRequest;
  /** Reads the bearer token. Throws the store's errors. */
  readonly readToken: (end: AbortSignal) => Promise<string>;
}

/** What went wrong, in names and codes of our own: nothing of a response or a token. */
interface Fault {
  readonly kind: string;
  readonly call?: string;
  readonly status?: number;
  readonly problem?: string;
  readonly error?: string;
}

type Ports = Pick<Runtime, 'fetch' | 'sleep' | 'now' | 'random'>;

/** How long one call may take: less than a client waits, more than the gateway's slowest success takes as a rule. */
export const CALL_MS = 20_000;
const MAX_BYTES = 1024 * 1024;
const WINDOW_MS = row.everyMinutes * 60_000;
const DAY_MS = 24 * 3_600_000;

/**
 * Calls the sandbox and, where the stage names one, starts and inspects a conformance run, from outside as a client does. It logs a line per step. A step
 * that fails is no error of the invocation: its alarm is on the lines.
 * @param open called once per binding
 */
export function createCanaryFunction(open: () => Canary, runtime: Runtime): ScheduledHandler {
  let opened: Canary | undefined;
  const openLog = createFunctionLog(row, runtime);
  return (_event, context) => {
    const log = openLog(context);
    return attempt(log, async () => {
      opened ??= open();
      const { sandboxUrl, run } = opened;
      await Promise.all([
        take(log, runtime, 'sandbox', () => readSandbox(sandboxUrl, runtime)),
        run && tryRun(run, runtime, log),
      ]);
    });
  };
}

/** Takes one step and logs its outcome. */
async function take(
  log: Log,
  { now }: Ports,
  step: string,
  work: () => Promise<Result<unknown, Fault>>,
): Promise<void> {
  const startedAt = now();
  const result = await work();
  const figures = { step, success: Number(result.ok), durationMs: now() - startedAt };
  if (result.ok) log('CANARY_SUCCEEDED', figures);
  else log('CANARY_FAILED', { ...figures, ...result.error });
}

async function readSandbox(url: string, ports: Ports): Promise<Result<undefined, Fault>> {
  const { readAttemptReport: route } = sandboxRoutes;
  const { masteryGateAttempt: attemptId, candidate } = sandboxIds;
  const address = `${url}${route.path.replace('{attemptId}', attemptId)}`;
  const report = await call(route, address, { headers: {} }, ports);
  if (!report.ok) return report;
  const { body } = report.value;
  return body.attemptId === attemptId && body.candidateSourcedId === candidate && body.gate?.status === 'fail'
    ? ok(undefined)
    : err({ kind: 'other-facts', call: route.operationId });
}

async function tryRun(run: CanaryRun, ports: Ports, log: Log): Promise<void> {
  let usable: string | undefined;
  await take(log, ports, 'credential', async () => {
    const read = await readCredential(run, ports);
    if (!read.ok) return read;
    usable = read.value.token;
    // It fails before the token does, so that an operator renews it in time.
    return read.value.endsSoon ? err({ kind: 'expires-soon' }) : read;
  });
  const token = usable;
  if (token !== undefined) await take(log, ports, 'run', () => startAndInspect(run, token, ports));
}

const claims = z.object({ tenantId: z.string(), exp: z.number(), iat: z.number().optional() });

/**
 * Reads the token and looks at its claims. A token of another tenant is an error and never sent: the canary must not start a run in a school.
 * A token ends soon in its last seven days, or in the last quarter of a life that is shorter than four weeks.
 */
async function readCredential(
  { tenantId, readToken }: CanaryRun,
  { sleep, now }: Ports,
): Promise<Result<{ readonly token: string; readonly endsSoon: boolean }, Fault>> {
  let token: string;
  try {
    token = await withTimeLimit(sleep, CALL_MS, readToken);
  } catch (error) {
    return err({ kind: 'unreadable', error: nameOf(error) });
  }
  const [, payload = ''] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token) ?? [];
  const read = parseStrictJson(decodeUtf8(Buffer.from(payload, 'base64url')) ?? '');
  const claimed = claims.safeParse(read.ok ? read.value : undefined);
  if (!claimed.success) return err({ kind: 'no-token' });
  const { tenantId: tenant, exp, iat = 0 } = claimed.data;
  if (tenant !== tenantId) return err({ kind: 'other-tenant' });
  const leftMs = exp * 1000 - now();
  if (leftMs <= 0) return err({ kind: 'expired' });
  return ok({ token, endsSoon: leftMs < Math.min(7 * DAY_MS, ((exp - iat) * 1000) / 4) });
}

/**
 * Starts the run of this window and inspects it once. The run is abandoned: it has one open delivery session of a candidate of its own, and no answer, so
 * that nothing is scored, published or emitted. A second call in the same window resumes the same run, with
 * a token sealed anew: its inspection is another request, under a key of its own.
 */
async function startAndInspect(
  { masteryUrl, request }: CanaryRun,
  token: string,
  ports: Ports,
): Promise<Result<undefined, Fault>> {
  const window = new Date(Math.floor(ports.now() / WINDOW_MS) * WINDOW_MS).toISOString();
  const post = (route: typeof startAdaptiveRun | typeof inspectAdaptiveRun, key: string, body: unknown) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `canary-${key}`,
    };
    return call(route, `${masteryUrl}${route.path}`, { headers, body: JSON.stringify(body) }, ports);
  };
  const started = await post(startAdaptiveRun, window, request);
  if (!started.ok) return started;
  const { body: first, etag } = started.value;
  if (!isOf(request, first) || !strongEntityTag.safeParse(etag).success)
    return err({ kind: 'other-facts', call: startAdaptiveRun.operationId });
  const inspected = await post(inspectAdaptiveRun, Buffer.from(ports.random(16)).toString('hex'), {
    continuationToken: first.continuationToken,
  });
  if (!inspected.ok) return inspected;
  const { body: second, etag: tag } = inspected.value;
  const isSame =
    isOf(request, second) &&
    tag === etag &&
    isDeepStrictEqual([second.executionPins, second.offeredItem], [first.executionPins, first.offeredItem]);
  return isSame ? ok(undefined) : err({ kind: 'other-facts', call: inspectAdaptiveRun.operationId });
}

/** Returns whether a run is at the first item of what was requested, without a result of any learner. */
function isOf({ runMode, ...ids }: StartAdaptiveRunRequest, run: AdaptiveRun): boolean {
  const facts: Readonly<Record<string, unknown>> = { ...run.executionPins, ...run };
  return (
    Object.entries(ids).every(([name, id]) => facts[name] === id) &&
    run.runMode === runMode &&
    run.status === 'in_progress' &&
    run.offeredItem?.sequence === 1 &&
    run.resultRecordRef === undefined &&
    run.caliperEventRef === undefined
  );
}

/** Calls a route from outside: one attempt on a new connection, since a kept one has been dropped since the last call. */
async function call<Body extends z.ZodType>(
  {
    operationId,
    method,
    success,
  }: Pick<Route, 'operationId' | 'method'> & {
    readonly success: { readonly status: number; readonly schema: Body };
  },
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body?: string },
  { fetch, sleep }: Ports,
): Promise<Result<{ readonly body: z.output<Body>; readonly etag: string | null }, Fault>> {
  const fault = (kind: string, more: Partial<Fault> = {}) => err({ kind, call: operationId, ...more });
  return withTimeLimit(sleep, CALL_MS, async (signal) => {
    try {
      const response = await fetch(url, {
        method,
        // The firewall blocks requests without one.
        headers: { 'user-agent': 'mastery-reports-canary', ...headers },
        ...(body !== undefined && { body }),
        signal,
        freshConnection: true,
      });
      const { status } = response;
      const chunks = await readCapped(response.body, MAX_BYTES);
      const json = parseStrictJson(decodeUtf8(Buffer.concat(chunks ?? [])) ?? '');
      const value = json.ok ? json.value : undefined;
      if (status !== success.status) return fault('other-status', { status, ...problemOf(value) });
      const read = success.schema.safeParse(value);
      return read.success
        ? ok({ body: read.data, etag: response.headers.get('etag') })
        : fault('other-form', { status });
    } catch (error) {
      return fault(signal.aborted ? 'too-slow' : 'unreachable', { error: nameOf(error) });
    }
  });
}

const codes: ReadonlySet<string> = new Set(problemRows.map(({ code }) => code));

/** Returns the code of a problem of this service; a response that is another one may contain anything. */
function problemOf(body: unknown): Partial<Fault> {
  const problem = z.object({ type: z.string() }).safeParse(body).data?.type.split('/').at(-1);
  return problem !== undefined && codes.has(problem) ? { problem } : {};
}
