import { createHash, randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import type { SQSEvent } from 'aws-lambda';
import { toProxyEvent } from '#local/gateway/proxy-event.ts';
import { isStreaming, PRELUDE_END, ResponseStream, runStreaming } from '#local/gateway/response-stream.ts';
import type { Stack } from '#local/stack/stack.ts';
import { matchRoute } from '#local/platform/routes.ts';
import { variablesOf } from '#local/stack/function-variables.ts';
import { deployedFunctions, type DeployedFunction } from '#shared/contract/functions.ts';
import { COUNT_PREFIX } from '#shared/contract/tenant-rate.ts';
import type { Route } from '#shared/contract/route.ts';
import { createAwsClients } from '#shared/lambda/process-runtime.ts';
import { fetchOverHttp, readCapped, type Fetch } from '#shared/network/http-client.ts';
import type { AwsClients, AwsSettings, Runtime } from '#shared/runtime/runtime.ts';
import type { Clients } from '#shared/stores/clients.ts';
import { makeS3 } from '#shared/stores/make-clients.ts';
import { localCredentials, localRegion } from '#shared/stage/local-stage.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { sourceOf } from '#test/support/in-process.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import { clientsOf, startTestStack, type TestStack } from '#test/support/stack.ts';
import { Scheduler, type Actor, type Known, type Life, type Schedule } from './scheduler.ts';

// What the actors of a schedule run in: the handlers' sources over the emulators, with every call that leaves them a step of the scheduler.

export const TENANT = 'tenant-aurora';

/** An answer that a client got. */
export interface Answer {
  readonly route: Route;
  readonly actor: string;
  readonly call: GatewayCall;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** What a test changes about the ports, to plant a defect. */
export interface Plant {
  /** Changes the input of an SDK command before it is sent. */
  readonly send?: (command: SdkCommand, by: Life) => void | Promise<void>;
  /** Stands between a function and an owner. */
  readonly fetch?: (request: Asked, ask: () => Promise<Fetched>) => Promise<Fetched>;
}

export interface SdkCommand {
  readonly constructor: { readonly name: string };
  readonly input: Record<string, unknown>;
}

export interface Asked {
  readonly by: Life;
  readonly operation: string;
  readonly url: string;
  readonly body: string | undefined;
}

export interface Fetched {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly bytes: Uint8Array | undefined;
}

type Bind = (runtime: Runtime) => (event: unknown, ...rest: readonly unknown[]) => Promise<unknown>;

/** A message of the queue, and how often it has been delivered. */
interface Message {
  readonly body: string;
  received: number;
}

/** Where every schedule begins. */
const START = Date.UTC(2026, 2, 2, 10, 15);
const REDELIVERIES = 6;
const CLIENT_TRIES = 8;
/** Less than the time for which a token is good. */
const TOKEN_MS = 600_000;

export class World {
  readonly stack: TestStack;
  readonly caller: ReturnType<typeof openReportsCaller>;
  readonly answers: Answer[] = [];
  /** Log lines of the schedule: the code, the actor and the rest. */
  readonly lines: { readonly actor: string; readonly line: Record<string, unknown> }[] = [];
  messages: Message[] = [];
  /** Is called with each answer at its time. */
  onAnswer: ((answer: Answer) => Promise<void>) | undefined;
  plant: Plant = {};
  readonly clients: Clients;
  readonly #binds: ReadonlyMap<string, Bind>;
  readonly #clients = new Map<unknown, RealClient>();
  readonly #constants = new Map<string, unknown>();
  #known: Known = nothingKnown();
  #clock: { of: { now: number } };
  #scheduler: Scheduler | undefined;
  readonly #tokens = new Map<string, string>();
  #drawn = 0;
  /** What is under way outside of steps: on a thread of its own, or read only once. */
  readonly #busy = new Set<Promise<unknown>>();
  #keys = 0;

  private constructor(stack: TestStack, clock: { of: { now: number } }, binds: ReadonlyMap<string, Bind>) {
    this.stack = stack;
    this.#clock = clock;
    this.#binds = binds;
    this.clients = clientsOf(stack);
    this.caller = openReportsCaller(stack);
    watchCrypto((work) => this.#counted(work));
  }

  static async open(rows: readonly DeployedFunction[] = deployedFunctions): Promise<World> {
    const clock = { of: { now: START } };
    const stack = await startTestStack({ now: () => clock.of.now });
    stack.improvement.pause();
    const binds = new Map<string, Bind>();
    for (const row of rows) {
      // SAFETY: what every handler file exports; test/contract/bindings.test.ts holds them to it.
      const { bind } = (await import(/* @vite-ignore */ pathToFileURL(sourceOf(row)).href)) as { bind: Bind };
      binds.set(row.operationId, bind);
    }
    return new World(stack, clock, binds);
  }

  get scheduler(): Scheduler {
    if (this.#scheduler === undefined) throw new Error('nothing is scheduled');
    return this.#scheduler;
  }

  /** Forgets what has been answered and logged so far. */
  forget(): void {
    this.answers.length = 0;
    this.lines.length = 0;
  }

  /** A scheduler that begins now. */
  begin(schedule: Schedule, known = this.#known): Scheduler {
    return new Scheduler(this.#clock.of.now, schedule, known, () => this.#underWay());
  }

  /** Runs actors by a schedule. */
  async run(scheduler: Scheduler, actors: readonly Actor[]): Promise<void> {
    this.#scheduler = scheduler;
    this.#clock.of = scheduler;
    try {
      await scheduler.run(actors);
    } finally {
      this.#clock.of = { now: scheduler.now };
    }
  }

  /** Runs one program undisturbed, before or after a schedule. */
  async alone<T>(program: (actor: Actor) => Promise<T>): Promise<T> {
    let result: { readonly value: T } | undefined;
    const actor: Actor = {
      name: 'alone',
      run: async (self) => void (result = { value: await program(self) }),
    };
    const scheduled = this.#scheduler;
    await this.run(this.begin([], nothingKnown()), [actor]);
    this.#scheduler = scheduled;
    if (result === undefined) throw new Error('the program has not ended');
    return result.value;
  }

  /** Brings everything back to where every schedule of a scenario begins. */
  async reset(known: Known): Promise<void> {
    this.#known = known;
    this.onAnswer = undefined;
    // SAFETY: it is a whole stack; its type hides this from tests that share one.
    await (this.stack as TestStack & Pick<Stack, 'reset'>).reset();
    this.stack.improvement.pause();
    this.#clock.of = { now: START };
    this.forget();
    this.messages = [];
    this.#drawn = 0;
    this.#keys = 0;
  }

  async close(): Promise<void> {
    for (const client of this.#clients.values()) client.destroy();
    await this.stack.close();
  }

  freshKey(): string {
    return `key-${(this.#keys += 1)}`;
  }

  passTime(milliseconds: number): void {
    this.#clock.of.now += milliseconds;
  }

  /** Sends a request until its answer is final, as a good client does: with the same key after a crash and after a retryable problem. */
  async client(actor: Actor, route: Route, call: GatewayCall, maxTries = CLIENT_TRIES): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      const answer = await this.request(actor, route, call);
      const isFinal = answer !== undefined && !(JSON.parse(answer.text) as { retryable?: boolean }).retryable;
      if (isFinal || (answer !== undefined && tries >= maxTries)) return answer;
      if (tries >= CLIENT_TRIES) throw new Violation(`${actor.name} gets no final answer`);
      if (answer !== undefined) await this.scheduler.sleep(this.scheduler.live(actor), 1_000);
    }
  }

  /** Sends a request once. Undefined: its function has died. */
  async request(actor: Actor, route: Route, call: GatewayCall): Promise<Answer | undefined> {
    const { key, ifMatch, body, path = {}, claims } = { claims: undefined, ...call };
    const target = Object.entries(path).reduce<string>(
      (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
      route.path,
    );
    const token = await this.#token(route.scope, claims);
    const headers = {
      authorization: `Bearer ${token}`,
      ...(typeof key === 'string' ? { 'idempotency-key': key } : {}),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const event = toProxyEvent(
      {
        method: route.method,
        target,
        rawHeaders: Object.entries(headers).flat(),
        body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
        sourceIp: '127.0.0.1',
      },
      {
        route,
        pathParameters: Object.fromEntries(
          Object.entries(path).map(([name, value]) => [name, encodeURIComponent(value)]),
        ),
      },
      { requestId: randomUUID(), stage: 'local', receivedAt: this.#clock.of.now },
    );
    const outcome = await this.invoke(actor, route, event);
    if (outcome.kind === 'died') return undefined;
    if (outcome.kind !== 'returned') throw new Violation(`${route.operationId} threw`);
    const {
      statusCode,
      headers: sent,
      body: text,
    } = outcome.value as { statusCode: number; headers: Record<string, string>; body: string };
    const answer = { route, actor: actor.name, call, status: statusCode, headers: sent, text };
    this.answers.push(answer);
    if (this.onAnswer !== undefined) await this.#counted(this.onAnswer(answer));
    this.scheduler.note(
      actor,
      `gets ${String(statusCode)}${
        statusCode < 400
          ? ''
          : ` ${
              String((JSON.parse(text) as { type?: string }).type)
                .split('/')
                .at(-1) ?? ''
            }`
      }`,
    );
    return answer;
  }

  /** Delivers the next message to the worker, again and again until it is done. */
  async deliver(actor: Actor, row: DeployedFunction, message: Message): Promise<void> {
    while (message.received < REDELIVERIES) {
      message.received += 1;
      const attributes = { ApproximateReceiveCount: String(message.received) };
      const event = {
        Records: [{ messageId: 'message', body: message.body, attributes }],
      } as unknown as SQSEvent;
      const outcome = await this.invoke(actor, row, event);
      const failed = (outcome as { value?: { batchItemFailures?: readonly unknown[] } }).value
        ?.batchItemFailures;
      if (outcome.kind === 'returned' && (failed ?? []).length === 0) return;
    }
  }

  /** Invokes a function in a container of its own. */
  async invoke(
    actor: Actor,
    row: DeployedFunction,
    event: unknown,
  ): Promise<{ readonly kind: 'returned'; readonly value: unknown } | { readonly kind: 'threw' | 'died' }> {
    const { scheduler } = this;
    const bind = this.#binds.get(row.operationId);
    if (bind === undefined) throw new Error(`${row.operationId} is not bound`);
    const life = scheduler.live(actor, row.lambda.timeoutSeconds * 1_000);
    const handler = bind(this.#runtime(life, row));
    const context = {
      awsRequestId: randomUUID(),
      functionName: row.operationId,
      memoryLimitInMB: String(row.lambda.memoryMb),
      getRemainingTimeInMillis: () => Math.max(0, life.endsAt - scheduler.now),
    };
    const working = (async () => {
      if (!isStreaming<object>(handler)) return handler(event, context);
      const chunks: Uint8Array[] = [];
      const stream = new ResponseStream((chunk) => Promise.resolve(void chunks.push(chunk)));
      await runStreaming(handler, event, stream, context);
      const all = Buffer.concat(chunks);
      const end = all.indexOf(PRELUDE_END);
      return {
        ...(JSON.parse(all.toString('utf8', 0, end)) as object),
        body: all.toString('utf8', end + PRELUDE_END.length),
      };
    })();
    const value = working.then(
      (returned) => ({ kind: 'returned' as const, value: returned }),
      () => ({ kind: 'threw' as const }),
    );
    const outcome = await Promise.race([value, life.death.then(() => ({ kind: 'died' as const }))]);
    scheduler.end(life);
    return outcome;
  }

  #runtime(life: Life, row: DeployedFunction): Runtime {
    const { urls, rehearsal } = this.stack;
    const gatewayUrl = new URL(urls.masteryUrl).origin;
    return {
      environment: variablesOf(row, { awsUrl: urls.awsUrl, gatewayUrl, releaseKey: rehearsal.releaseKey }),
      fetch: this.#fetch(life),
      aws: this.#aws(life),
      now: () => this.#clock.of.now + life.skew,
      sleep: (milliseconds, signal) => this.scheduler.sleep(life, milliseconds, signal),
      random: (count) => this.#random(count),
      write: (line) => {
        this.lines.push({ actor: life.actor.name, line: JSON.parse(line) as Record<string, unknown> });
      },
    };
  }

  /** The same bytes for the same schedule. */
  #random(count: number): Uint8Array {
    const bytes: Buffer[] = [];
    for (let length = 0; length < count; length += 32)
      bytes.push(
        createHash('sha256')
          .update(String((this.#drawn += 1)))
          .digest(),
      );
    return new Uint8Array(Buffer.concat(bytes).subarray(0, count));
  }

  #aws(life: Life): AwsClients {
    const bounded = createAwsClients(() => ({}));
    const watched = new Map<unknown, () => unknown>();
    return <Client>(make: (settings: AwsSettings) => Client): Client => {
      const known = watched.get(make) ?? (() => this.sdk(life, make));
      watched.set(make, known);
      // SAFETY: it makes a client of the same class.
      return bounded(known as () => Client);
    };
  }

  /** An SDK client whose calls are steps. */
  sdk<Client>(life: Life, make: (settings: AwsSettings) => Client): Client {
    if (!this.#clients.has(make)) {
      const unsigned = {
        endpoint: this.stack.urls.awsUrl,
        region: localRegion,
        credentials: localCredentials,
        signer: {
          sign: (request: SignedRequest) =>
            Promise.resolve(nameSigner(request, makeS3 === (make as unknown))),
        },
      };
      this.#clients.set(make, make(unsigned) as RealClient);
    }
    const real = this.#clients.get(make)!;
    const send = (command: SdkCommand, { abortSignal }: { abortSignal?: AbortSignal } = {}) =>
      this.#send(life, command, (sent) => real.send(sent), abortSignal);
    // SAFETY: of the same class, for the SDK's paginators.
    return Object.assign(Object.create(real) as object, { send }) as Client;
  }

  #send(
    life: Life,
    command: SdkCommand,
    send: (command: SdkCommand) => Promise<unknown>,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const { key, isWrite, about } = placeOf(command);
    // As the SDK does for all tries of a call.
    if (command.constructor.name === 'TransactWriteItemsCommand')
      command.input['ClientRequestToken'] ??= randomUUID();
    // No actor of a schedule comes near the bound: none can notice when another is counted.
    if (String((command.input['Key'] as { id?: { S?: string } } | undefined)?.id?.S).startsWith(COUNT_PREFIX))
      return this.#counted(send(command));
    const perform = async (): Promise<unknown> => {
      await this.plant.send?.(command, life);
      if (key !== 'queue') return send(command);
      this.messages.push({ body: String(command.input['MessageBody']), received: 0 });
      return { MessageId: 'message' };
    };
    return this.#step(
      life,
      `${command.constructor.name.replace(/Command$/, '')} ${about}`,
      { key, isWrite, isRepeated: true, perform },
      JSON.stringify(command.input),
      signal,
    );
  }

  #fetch(life: Life): Fetch {
    return async (url, request) => {
      const ask = async (): Promise<Fetched> => {
        const { status, headers, body } = await fetchOverHttp(url, {
          ...request,
          signal: new AbortController().signal,
        });
        const chunks = await readCapped(body, 2 ** 27);
        const names = ['content-type', 'etag', 'retry-after', 'x-request-id', 'cache-control'];
        return {
          status,
          headers: Object.fromEntries(names.map((name) => [name, headers.get(name)])),
          bytes: chunks && Buffer.concat(chunks),
        };
      };
      const path = new URL(url).pathname;
      const match = url.startsWith(this.stack.urls.platformUrl)
        ? matchRoute(request.method, path)
        : undefined;
      const operation = match?.kind === 'found' ? match.route.operation : 'keys';
      const isWrite = request.method === 'POST';
      const key = ownerKeys[operation] ?? (isWrite ? operation : 'constant');
      const perform = () =>
        this.plant.fetch?.({ by: life, operation, url, body: request.body }, ask) ?? ask();
      const constant = `${url} ${request.headers['if-none-match'] ?? ''}`;
      const { status, headers, bytes } = (await this.#step(
        life,
        operation,
        { key, isWrite, isRepeated: false, perform },
        constant,
        request.signal,
      )) as Fetched;
      return {
        status,
        headers: { get: (name) => headers[name.toLowerCase()] ?? null },
        body: (async function* () {
          if (bytes !== undefined) yield await Promise.resolve(bytes);
        })(),
      };
    };
  }

  /** Makes a call a step of the scheduler, unless it reads what nobody writes: that is read once. */
  async #step(
    life: Life,
    label: string,
    effect: {
      readonly key: string;
      readonly isWrite: boolean;
      readonly isRepeated: boolean;
      readonly perform: () => Promise<unknown>;
    },
    constant: string,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { key, isWrite, perform } = effect;
    if (isWrite && !this.#known.written.has(key)) {
      this.#known.written.add(key);
      this.#constants.clear();
    }
    if (this.#known.written.has(key)) return this.scheduler.call(life, { label, ...effect }, signal);
    const name = `${label} ${constant}`;
    if (!this.#constants.has(name)) this.#constants.set(name, await this.#counted(perform()));
    return this.#constants.get(name);
  }

  /** A token per scope, claims and time: many schedules are at the same time. */
  async #token(scope: Route['scope'], claims: GatewayCall['claims']): Promise<string> {
    const name = JSON.stringify([scope, claims, Math.floor(this.#clock.of.now / TOKEN_MS)]);
    const token =
      this.#tokens.get(name) ?? (await this.#counted(this.stack.tokenFor(TENANT, [scope], claims)));
    this.#tokens.set(name, token);
    return token;
  }

  /** Waits for something that is no step: the scheduler must not take its caller for idle. */
  async #counted<T>(work: Promise<T>): Promise<T> {
    this.#busy.add(work);
    return work.finally(() => this.#busy.delete(work));
  }

  /** Undefined: nothing is. */
  #underWay(): Promise<void> | undefined {
    const [work] = this.#busy;
    return work?.then(
      () => undefined,
      () => undefined,
    );
  }
}

/** To begin with. */
export function nothingKnown(): Known {
  return { footprints: new Map(), written: new Set(), isLearning: true };
}

/** What a schedule has shown to be wrong. */
export class Violation extends Error {}

/** What an owner's operation touches, where something that a function writes is among it. */
const ownerKeys: Readonly<Record<string, string>> = {
  'qti.offer_selected_item': 'sessions',
  'qti.read_candidate_runtime': 'sessions',
  'qti.read_attempt_evidence': 'settlements',
  'results.write_result_record': 'results',
  'results.write_kc_components': 'results',
  'results.write_settled_components': 'settlements',
  'results.read_settled_record': 'settlements',
  'caliper.emit_completion_or_simulation': 'events',
  'caliper.read_evidence_ack': 'events',
};

const readCommand = /^(Get|Query|Decrypt|List|Describe|Head|GenerateDataKey)/;

/** What an SDK command touches. */
function placeOf({ constructor: { name }, input }: SdkCommand): {
  readonly key: string;
  readonly isWrite: boolean;
  readonly about: string;
} {
  const isWrite = !readCommand.test(name);
  const inputs =
    name === 'TransactWriteItemsCommand'
      ? (input['TransactItems'] as readonly Record<string, Record<string, unknown>>[]).map(
          (item) => Object.values(item)[0]!,
        )
      : [input];
  const tables = inputs.flatMap(({ TableName: table }) =>
    typeof table === 'string' ? [table.split('-').at(-1)!] : [],
  );
  const keys = [...new Set(tables)];
  if (keys.length > 0) return { key: keys.join(), isWrite, about: keys.join() };
  if ('QueueUrl' in input) return { key: 'queue', isWrite, about: 'queue' };
  if ('Bucket' in input) return { key: 'receipts', isWrite, about: 'receipts' };
  if ('Name' in input || 'Path' in input || 'Names' in input)
    return { key: 'parameters', isWrite, about: 'parameters' };
  return { key: 'kms', isWrite: false, about: 'kms' };
}

interface RealClient {
  readonly send: (command: unknown) => Promise<unknown>;
  readonly destroy: () => void;
}

interface SignedRequest {
  readonly headers: Record<string, string>;
}

/** Names the key, as a signature does: the emulator verifies none, and to compute one takes as long as the call. */
function nameSigner(request: SignedRequest, isForS3: boolean): SignedRequest {
  const scope = `${localCredentials.accessKeyId}/20260302/${localRegion}/${isForS3 ? 's3' : 'any'}/aws4_request`;
  request.headers['authorization'] =
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
  return request;
}

/** Shows what WebCrypto does on threads of its own. */
function watchCrypto(watch: <T>(work: Promise<T>) => Promise<T>): void {
  const { subtle } = globalThis.crypto;
  for (const name of ['sign', 'verify', 'encrypt', 'decrypt', 'digest', 'importKey'] as const) {
    const original = subtle[name].bind(subtle) as (...given: readonly unknown[]) => Promise<unknown>;
    const value = (...given: readonly unknown[]) => watch(original(...given));
    Object.defineProperty(subtle, name, { configurable: true, value });
  }
}
