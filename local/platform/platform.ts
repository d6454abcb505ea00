import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as timer } from 'node:timers/promises';
import { formatInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { addresseeOf, isOfForeignOrigin } from '#local/loopback.ts';
import { control, type CallRecord } from './control.ts';
import { contradictionOf } from './contradictions.ts';
import { withImpossibleNumber, withOtherId, withOverlongId, withRepeatedRow } from './entities.ts';
import { renderEntity } from './entity-text.ts';
import { openFaults, type ArmedFault, type Faults } from './faults.ts';
import { refuse, type OwnerAnswer, type OwnerRefusal, type OwnerRequest, type OwnerRoute } from './route.ts';
import { matchRoute } from './routes.ts';
import { openTenant, type TenantSeed, type TenantState } from './tenant-state.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Calls that the log remembers, the latest ones: a stack that runs for days must not grow with them. */
const MAX_CALLS = 50_000;

export interface PlatformOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly seed: readonly TenantSeed[];
  /** Milliseconds since the epoch; the platform's times come from here. */
  readonly clock?: () => number;
  /** The tenant of a client's own token, which the player's call also takes; undefined when the token is no good. */
  readonly verifyClientToken?: (token: string) => Promise<string | undefined>;
}

interface RunningPlatform {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** What `POST /_control/reset` does. */
  readonly reset: () => void;
  /** Ends the server, its open connections and everything that a fault delays. */
  readonly close: () => Promise<void>;
}

/** Everything that a request may touch. */
interface Emulator {
  readonly tenants: ReadonlyMap<string, TenantState>;
  readonly callers: ReadonlyMap<string, Caller>;
  readonly faults: Faults;
  readonly options: PlatformOptions;
  readonly now: () => string;
  readonly wait: (milliseconds: number) => Promise<void>;
}

interface Caller {
  readonly tenantId: string;
  readonly kind: OwnerRoute['caller'];
}

/** What goes out: the whole answer, its first half, or nothing; after the latter two the connection is destroyed. */
interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly fate: 'whole' | 'half' | 'lost';
}

/** What the call log needs in addition to the reply. */
interface Outcome {
  readonly reply: Reply;
  readonly operation: string | null;
  readonly tenantId: string | null;
  readonly fault: ArmedFault | undefined;
}

/**
 * Starts the platform's owners on the loopback interface, holding the given tenants. Everything lives in memory; `POST /_control/reset`
 * brings the start data back. A development tool: it has no transport security, and its control API no credential, so it answers nothing
 * that a page in a browser could have sent: no other host than the loopback interface, and on the control API no other origin.
 */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const clock = options.clock ?? Date.now;
  const tenants = new Map<string, TenantState>();
  const faults = openFaults();
  let calls: CallRecord[] = [];
  let resets = 0;
  let clockOffset = 0;
  const reset = (): void => {
    for (const seed of options.seed) tenants.set(seed.tenantId, openTenant(seed));
    faults.clear();
    calls = [];
    clockOffset = 0;
    resets += 1;
  };
  reset();
  const now = (): string => formatInstant(clock() + clockOffset);
  const closing = new AbortController();
  const wait = async (milliseconds: number): Promise<void> => {
    try {
      await timer(milliseconds, undefined, { signal: closing.signal });
    } catch (error) {
      // The caller has gone: the call goes on and answers into a closed connection.
      if (!closing.signal.aborted) throw error;
    }
  };
  const emulator: Emulator = { tenants, faults, options, now, wait, callers: callersOf(options.seed) };
  const started = performance.now();

  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const requestId = randomUUID();
    const startedAt = performance.now() - started;
    const method = request.method ?? '';
    const [path = '', rawQuery] = (request.url ?? '').split(/\?(.*)/s);
    const body = await readBody(request);
    if (addresseeOf(request) !== 'ours') {
      send(response, requestId, problem(421, 'this platform answers on the loopback interface only'));
      return;
    }
    if (path.startsWith('/_control/')) {
      if (isOfForeignOrigin(request)) {
        const message = 'the control API takes no request of another origin';
        send(response, requestId, json(403, { errors: [{ pointer: '', message }] }));
        return;
      }
      send(response, requestId, controlReply(method, path, body));
      return;
    }
    const startedIn = resets;
    const outcome = await answer(emulator, request, path, rawQuery, body);
    send(response, requestId, outcome.reply);
    // A call that was still waiting belongs to who asked before.
    if (startedIn !== resets) return;
    calls.push({
      operation: outcome.operation,
      method,
      path,
      tenantId: outcome.tenantId,
      requestId,
      startedAt,
      endedAt: performance.now() - started,
      status: outcome.reply.fate === 'lost' ? null : outcome.reply.status,
      fault: outcome.fault?.kind ?? null,
    });
    if (calls.length > MAX_CALLS) calls.shift();
  };

  const controlReply = (method: string, path: string, body: ReceivedBody): Reply => {
    const parsed = body.text === '' ? ok(undefined) : parseStrictJson(body.text);
    if (body.tooLarge)
      return json(413, { errors: [{ pointer: '', message: `is larger than ${MAX_BODY_BYTES} bytes` }] });
    if (!parsed.ok) return json(400, { errors: [{ pointer: '', message: 'is not JSON' }] });
    const controlled = {
      tenants,
      faults,
      calls,
      now,
      reset,
      clearCalls: () => {
        calls = [];
      },
      advanceClock: (milliseconds: number) => {
        clockOffset += milliseconds;
      },
    };
    const answered = control(controlled, method, path, parsed.value);
    return answered === undefined
      ? json(404, { errors: [{ pointer: '', message: `no control path ${method} ${path}` }] })
      : json(answered.status, answered.body);
  };

  const server = createServer((request, response) => {
    listener(request, response).catch((error: unknown) => {
      // A caller that hangs up while it sends is no defect of the platform.
      if (!request.destroyed) console.error(error);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the platform listens on no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    reset,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
        // A timer without a waiting call would keep the process alive.
        closing.abort();
      }),
  };
}

function callersOf(seeds: readonly TenantSeed[]): ReadonlyMap<string, Caller> {
  return new Map(
    seeds.flatMap(({ tenantId, credentials }): [string, Caller][] => [
      [credentials.platformJwt, { tenantId, kind: 'profile' }],
      [credentials.playerToken, { tenantId, kind: 'player' }],
    ]),
  );
}

/** Returns the owner's answer to one call: route, credential, tenant, fault, syntax, work, distortion. */
async function answer(
  emulator: Emulator,
  request: IncomingMessage,
  path: string,
  rawQuery: string | undefined,
  received: ReceivedBody,
): Promise<Outcome> {
  const match = matchRoute(request.method ?? '', path);
  const nowhere = { operation: null, tenantId: null, fault: undefined };
  if (match.kind === 'unknown') return { ...nowhere, reply: problem(404, 'no such path') };
  if (match.kind === 'malformed') return { ...nowhere, reply: problem(400, 'a path segment is malformed') };
  if (match.kind === 'method') {
    return { ...nowhere, reply: problem(405, 'no such method here', { allow: match.allow.join(', ') }) };
  }
  const { route } = match;
  const anonymous = { operation: route.operation, tenantId: null, fault: undefined };
  const caller = await identify(emulator, request.headers.authorization, route);
  if (!caller.ok) return { ...anonymous, reply: caller.error };
  const tenant = emulator.tenants.get(caller.value.tenantId);
  if (tenant === undefined) return { ...anonymous, reply: unauthorized() };
  const known = { ...anonymous, tenantId: tenant.tenantId };
  // Another tenant's path looks like one that does not exist.
  if ((match.path['tenantId'] ?? tenant.tenantId) !== tenant.tenantId) {
    return { ...known, reply: problem(404, 'no such path') };
  }

  const fault = emulator.faults.take(route, path);
  if (fault?.kind === 'down') return { ...known, fault, reply: { ...problem(503, 'down'), fate: 'lost' } };
  if (fault?.kind === 'status') {
    const retryAfter =
      fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) };
    return { ...known, fault, reply: problem(fault.status ?? 503, 'an injected fault', retryAfter) };
  }
  if (fault?.kind === 'latency') await emulator.wait(fault.milliseconds ?? 50);

  const asked = readRequest(emulator, request, route, tenant, match.path, rawQuery, received);
  if (!asked.ok) return { ...known, fault, reply: refusal(asked.error) };
  const handled =
    fault?.kind === 'stale' && route.stale !== undefined
      ? route.stale(asked.value)
      : route.handle(asked.value);
  if ('refused' in handled) return { ...known, fault, reply: distortText(refusal(handled), fault) };
  const entity = distortEntity(emulator, route, tenant, handled, fault);
  return { ...known, fault, reply: distortText(render(request, route, entity), fault) };
}

/** Returns who calls, and whether this route takes such a caller. */
async function identify(
  emulator: Emulator,
  authorization: string | undefined,
  route: OwnerRoute,
): Promise<Result<Caller, Reply>> {
  const token = /^Bearer ([!-~]+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return err(unauthorized());
  const caller = emulator.callers.get(token) ?? (await clientOf(emulator, token));
  if (caller === undefined) return err(unauthorized());
  return caller.kind === route.caller
    ? ok(caller)
    : err(problem(403, `this operation takes the ${route.caller}’s token`));
}

async function clientOf(emulator: Emulator, token: string): Promise<Caller | undefined> {
  const tenantId = await emulator.options.verifyClientToken?.(token);
  return tenantId === undefined ? undefined : { tenantId, kind: 'player' };
}

/** Checks query, headers and body by the route's own schemas. */
function readRequest(
  emulator: Emulator,
  request: IncomingMessage,
  route: OwnerRoute,
  tenant: TenantState,
  path: Readonly<Record<string, string>>,
  rawQuery: string | undefined,
  received: ReceivedBody,
): Result<OwnerRequest, OwnerRefusal> {
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(rawQuery ?? '')) {
    if (!route.query.includes(name) && !route.optionalQuery.includes(name))
      return err(refuse(400, `the query parameter ${name} is unknown`));
    if (Object.hasOwn(query, name)) return err(refuse(400, `the query parameter ${name} is repeated`));
    if (value === '') return err(refuse(400, `the query parameter ${name} is empty`));
    query[name] = value;
  }
  for (const name of route.query) {
    if (query[name] === undefined) return err(refuse(400, `the query parameter ${name} is missing`));
  }
  const idempotencyKey = request.headers['idempotency-key'] ?? '';
  if (
    route.demandsIdempotencyKey &&
    (typeof idempotencyKey !== 'string' || !/^[!-~]{1,255}$/.test(idempotencyKey))
  ) {
    return err(refuse(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters'));
  }
  const body = readJson(route, request.headers['content-type'], received);
  if (!body.ok) return body;
  return ok({
    tenant,
    path,
    query,
    body: body.value,
    idempotencyKey: String(idempotencyKey),
    now: emulator.now(),
  });
}

function readJson(
  route: OwnerRoute,
  contentType: string | undefined,
  received: ReceivedBody,
): Result<unknown, OwnerRefusal> {
  if (route.body === undefined) return ok(undefined);
  if (received.tooLarge) return err(refuse(413, `the body is larger than ${MAX_BODY_BYTES} bytes`));
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType ?? '')) {
    return err(refuse(415, 'the body must be application/json'));
  }
  const parsed = parseStrictJson(received.text);
  if (!parsed.ok) return err(refuse(400, `the body is no I-JSON text: ${parsed.error.kind}`));
  const early = route.precheck?.(parsed.value);
  if (early !== undefined) return err(early);
  const body = route.body.safeParse(parsed.value);
  if (body.success) return ok(body.data);
  const issue = body.error.issues[0];
  const where = issue?.path.map((step) => `/${String(step)}`).join('') ?? '';
  return err(
    refuse(400, `the body is invalid at ${where === '' ? 'its root' : where}: ${issue?.message ?? ''}`),
  );
}

/** Faults that change what is answered, but not that it is a well-formed answer. */
function distortEntity(
  emulator: Emulator,
  route: OwnerRoute,
  tenant: TenantState,
  answered: OwnerAnswer,
  fault: ArmedFault | undefined,
): OwnerAnswer {
  const { body } = answered;
  if (typeof body !== 'object' || body === null) return answered;
  const [first = ''] = route.identities;
  if (fault?.kind === 'overlong_id') return { ...answered, body: withOverlongId(body, first) };
  if (fault?.kind === 'other_entity') return { ...answered, body: withOtherId(body, fault.member ?? first) };
  if (fault?.kind === 'duplicate_row')
    return { ...answered, body: withRepeatedRow(body, fault.member ?? '') };
  if (fault?.kind === 'out_of_range')
    return { ...answered, body: withImpossibleNumber(body, fault.member ?? '') };
  if (fault?.kind === 'contradiction' && fault.invariant !== undefined)
    return { ...answered, body: contradictionOf(fault.invariant, route.operation)?.(body) ?? body };
  if (fault?.kind === 'version_drift') return { ...answered, body: route.drift?.(body) ?? body };
  if (fault?.kind !== 'wrong_tenant') return answered;
  const other = [...emulator.tenants.values()].find((candidate) => candidate.tenantId !== tenant.tenantId);
  if (route.tenantInAnswer) {
    return { ...answered, body: { ...body, tenantId: other?.tenantId ?? `${tenant.tenantId}-other` } };
  }
  return { ...answered, body: (other === undefined ? undefined : route.foreign?.(other)) ?? body };
}

/** Faults on the way: the work is done, the answer does not arrive as it was meant. */
function distortText(reply: Reply, fault: ArmedFault | undefined): Reply {
  switch (fault?.kind) {
    case 'cut':
      // An empty answer has no half.
      return { ...reply, fate: reply.body === '' ? 'lost' : 'half' };
    case 'lost_acknowledgement':
      return { ...reply, fate: 'lost' };
    case 'malformed':
      return {
        ...reply,
        status: 200,
        headers: { ...reply.headers, 'content-type': 'application/json' },
        // By turns, so that a test with two calls meets both.
        body: fault.struck % 2 === 1 ? '<html>not JSON</html>' : withDuplicateKey(reply.body),
      };
    default:
      return reply;
  }
}

function withDuplicateKey(text: string): string {
  return text.startsWith('{"')
    ? `{${text.slice(1, text.indexOf('":') + 2)}null,${text.slice(1)}`
    : '{"a":1,"a":2}';
}

function render(request: IncomingMessage, route: OwnerRoute, { status, body }: OwnerAnswer): Reply {
  if (typeof body !== 'object' || body === null) return { status, headers: {}, body: '', fate: 'whole' };
  if (!route.versioned) return json(status, body, { 'cache-control': 'no-store' });
  const { text, etag } = renderEntity(body);
  const headers = { etag, 'cache-control': 'private, no-cache' };
  if (matchesEtag(request.headers['if-none-match'], etag))
    return { status: 304, headers, body: '', fate: 'whole' };
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
    fate: 'whole',
  };
}

/** RFC 9110 section 13.1.2: `*` or a list, compared weakly. */
function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    fate: 'whole',
  };
}

function problem(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return json(
    status,
    { type: 'about:blank', status, detail },
    { 'content-type': 'application/problem+json', ...headers },
  );
}

function refusal({ refused, detail }: OwnerRefusal): Reply {
  return problem(refused, detail);
}

function unauthorized(): Reply {
  return problem(401, 'a known Bearer token is required', { 'www-authenticate': 'Bearer' });
}

function send(response: ServerResponse, requestId: string, reply: Reply): void {
  if (reply.fate === 'lost') {
    response.destroy();
    return;
  }
  const bytes = Buffer.from(reply.body);
  const length: Record<string, string> =
    reply.status === 304 ? {} : { 'content-length': String(bytes.length) };
  response.writeHead(reply.status, { ...reply.headers, ...length, 'x-request-id': requestId });
  if (reply.fate === 'whole') {
    response.end(bytes);
    return;
  }
  // The promised length never comes: destroyed only after the first half has left, or it would not be a cut answer.
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}

interface ReceivedBody {
  readonly text: string;
  readonly tooLarge: boolean;
}

async function readBody(request: IncomingMessage): Promise<ReceivedBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    // SAFETY: without an encoding set, a request yields buffers.
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size <= MAX_BODY_BYTES) chunks.push(bytes);
  }
  return { text: Buffer.concat(chunks).toString('utf8'), tooLarge: size > MAX_BODY_BYTES };
}
