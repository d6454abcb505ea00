import { CompactSign, exportJWK, generateKeyPair, type CryptoKey } from 'jose';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { toProxyEvent } from '#local/gateway/proxy-event.ts';
import { createLineReader } from '#local/stack/function-log.ts';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import type { Operation } from '#shared/http/operation.ts';
import type { TenantRate } from '#shared/http/tenant-rate.ts';
import type { PipelineAnswer } from '#shared/http/answers.ts';
import { createPipeline } from '#shared/http/pipeline.ts';
import { createIdempotency } from '#shared/idempotency/idempotency.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import { createMemoryControlTable, type MemoryControlTable } from './control-table.ts';
import { keepLine } from './function-lines.ts';
import { createMemoryKeyRing } from './key-ring.ts';
import { createSigner, wholeRelease } from './release.ts';

export const testIssuerUrl = 'https://issuer.example';
export const testAudience: Readonly<Record<ServiceName, string>> = {
  mastery: 'https://mastery.example',
  reports: 'https://reports.example',
};
const keySetUrl = 'https://issuer.example/.well-known/jwks.json';

/** An issuer in memory: its own key, its published key set, tokens with any header and claims. */
export interface TestIssuer {
  readonly publicKey: CryptoKey;
  readonly jwks: { readonly keys: readonly unknown[] };
  /** A compact JWT. Claims and header members replace the defaults; `undefined` removes one. */
  sign(
    claims?: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
    key?: CryptoKey,
  ): Promise<string>;
  /** A compact JWS over a text that may be no claims. */
  signText(text: string, header?: Readonly<Record<string, unknown>>, key?: CryptoKey): Promise<string>;
}

/** The instant at which tests take place unless they say otherwise. */
export const testNow = Date.UTC(2026, 0, 31, 9, 30);

export async function createTestIssuer(kid = 'key-1'): Promise<TestIssuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'ES256' };
  const signText: TestIssuer['signText'] = (text, header = {}, key = privateKey) =>
    new CompactSign(Buffer.from(text))
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt', ...header })
      .sign(key);
  return {
    publicKey,
    jwks: { keys: [jwk] },
    signText,
    sign(claims = {}, header = {}, key = privateKey) {
      const payload = {
        iss: testIssuerUrl,
        aud: [testAudience.mastery, testAudience.reports],
        sub: 'client-1',
        tenantId: 'tenant-aurora',
        role: 'proctor',
        scope: 'mastery:run mastery:read mastery:simulate reports:read reports:write',
        iat: testNow / 1000,
        exp: testNow / 1000 + 3600,
        ...claims,
      };
      return signText(JSON.stringify(payload), header, key);
    },
  };
}

/** Whom every function of a test trusts that names no other issuer. */
export const testIssuer = await createTestIssuer();

/** What a test says of a request; everything else is as a correct client would send it. */
export interface TestRequest {
  /** Decoded ids: encoded as the gateway hands them over. */
  readonly path?: Readonly<Record<string, string>>;
  /** Path parameters exactly as they arrive, percent-encoding included. */
  readonly rawPath?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** `undefined` leaves a default header out. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** A JSON value. */
  readonly body?: unknown;
  /** The body as text, instead of `body`. */
  readonly rawBody?: string;
  readonly requestId?: string;
}

type Values = Readonly<Record<string, string | readonly string[] | undefined>>;

function pairsOf(values: Values): readonly [string, string][] {
  return Object.entries(values).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
}

/** The event of a request for a route, as the local gateway makes it; bytes come as API Gateway hands over a binary body. */
export function proxyEvent(
  route: Route,
  request: TestRequest,
  defaults: Readonly<Record<string, string>> = {},
): APIGatewayProxyEvent {
  const { rawBody, body, requestId = crypto.randomUUID() } = request;
  const text = rawBody ?? (body === undefined ? '' : JSON.stringify(body));
  const type: Values = text.length === 0 ? {} : { 'Content-Type': 'application/json' };
  const encoded = Object.entries(request.path ?? {}).map(([name, value]) => [
    name,
    encodeURIComponent(value),
  ]);
  return toProxyEvent(
    {
      method: route.method,
      target: `${route.path}?${new URLSearchParams([...pairsOf(request.query ?? {})]).toString()}`,
      rawHeaders: pairsOf({ ...defaults, ...type, ...request.headers }).flat(),
      body: Buffer.from(text),
      sourceIp: '127.0.0.1',
    },
    {
      route,
      pathParameters: { ...(Object.fromEntries(encoded) as Record<string, string>), ...request.rawPath },
    },
    { requestId, stage: 'test', receivedAt: testNow },
  );
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON body. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The status and, of a problem, the last segment of its type: `404 not-found`. */
  readonly summary: string;
}

export interface TestLambdaOptions {
  readonly table?: MemoryControlTable;
  /** Replaces single environment variables; `undefined` removes one. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds that the function has for a request. */
  readonly remainingMs?: number;
  /** Default: everything is released. */
  readonly release?: ReleaseWatch;
  /** Default: admits every request. */
  readonly rate?: TenantRate;
}

/** A route's Lambda over emulators: its clock, its log lines and its control table. */
export interface TestLambda {
  readonly clock: { now: number };
  readonly lines: string[];
  readonly table: MemoryControlTable;
  /** Sends a request with a valid token and, where the route takes one, an Idempotency-Key. */
  invoke(request?: TestRequest): Promise<TestAnswer>;
  /** The same before the answer goes out: of a body that is written in pieces, none has been made. */
  answer(request?: TestRequest): Promise<PipelineAnswer>;
}

/**
 * Binds an operation to the real pipeline in memory.
 * @example const lambda = await testLambda(readSelectionPolicy, operation); const answer = await lambda.invoke({ path: { policyId } });
 */
export async function testLambda<R extends Route>(
  route: R,
  operation: Operation<R>,
  options: TestLambdaOptions = {},
): Promise<TestLambda> {
  const { table = createMemoryControlTable(), remainingMs = 29_000 } = options;
  const clock = { now: testNow };
  const lines: string[] = [];
  const readLine = createLineReader(route.operationId, keepLine);
  const now = (): number => clock.now;
  /** A wait passes at once, and no time limit is ever reached. */
  const sleep: Runtime['sleep'] = (milliseconds, signal) => {
    if (signal !== undefined) return new Promise(() => undefined);
    clock.now += milliseconds;
    return new Promise((resolve) => setImmediate(resolve));
  };
  const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
  const keys = createMemoryKeyRing();
  const { release = () => Promise.resolve({ state: wholeRelease }) } = options;
  const { rate = () => Promise.resolve(undefined) } = options;

  const pipeline = createPipeline(route, {
    operation: () => operation,
    runtime: {
      environment: {
        STAGE: 'test',
        TOKEN_ISSUER: testIssuerUrl,
        TOKEN_AUDIENCE: testAudience[route.service],
        TOKEN_JWKS_URL: keySetUrl,
        TOKEN_ALGORITHMS: 'ES256',
        PROBLEMS_URL: 'https://docs.example/problems',
        REQUESTS_PER_TENANT: '1000',
        RECORDS_TABLE: 'records',
        CONTROL_TABLE: 'control',
        SETTINGS_TABLE: 'settings',
        RELEASE_KEY: JSON.stringify(createSigner().key),
        LOG_LEVEL: 'debug',
        ...options.environment,
      },
      fetch: () => Promise.resolve(new Response(JSON.stringify(testIssuer.jwks))),
      now,
      sleep,
      random,
      write: (line) => {
        lines.push(line);
        readLine(line);
      },
    },
    idempotency: () => createIdempotency({ table, keys, now, sleep, random }),
    release: () => release,
    rate: () => rate,
  });

  const token = await testIssuer.sign();
  const defaults = {
    Authorization: `Bearer ${token}`,
    ...(route.request.idempotencyKey ? { 'Idempotency-Key': 'key-1' } : {}),
  };
  const answer: TestLambda['answer'] = (request = {}) =>
    pipeline(proxyEvent(route, request, defaults), {
      awsRequestId: crypto.randomUUID(),
      getRemainingTimeInMillis: () => remainingMs,
    } as Context);
  return {
    clock,
    lines,
    table,
    answer,
    async invoke(request) {
      const { statusCode, headers, body } = await answer(request);
      const text = typeof body === 'string' ? body : [...body].join('');
      const parsed = JSON.parse(text) as Readonly<Record<string, unknown>>;
      const type = statusCode < 400 ? '' : ` ${String(parsed['type']).split('/').at(-1) ?? ''}`;
      return { status: statusCode, headers, body: parsed, text, summary: `${statusCode}${type}` };
    },
  };
}
