import { answerAboutAnother } from './wrong-answers.ts';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { addresseeOf, listen, readBody } from '#local/loopback.ts';
import { parsedJson } from '#local/parsed-json.ts';
import { err } from '#shared/kernel/result.ts';
import type { Statement } from '#shared/stage/permissions.ts';
import { type Access, type AccessRecord, createAccess, type LocalRole } from './access.ts';
import { type AccountState, accountSnapshot, callAccount, emptyAccount } from './account.ts';
import { type LocalTable, createDynamoDb } from './dynamodb.ts';
import { localAccount, localCredentials, localRegion } from '#shared/stage/local-stage.ts';
import { type AwsFaults, type FaultPlan, createFaults } from './faults.ts';
import { createKms } from './kms.ts';
import type { LocalQueue, QueueAccess } from './queue.ts';
import { type LocalBucket, type S3Double, createS3, s3ErrorBody } from './s3.ts';
import { createSqs, queueArnOf } from './sqs.ts';
import { createSsm } from './ssm.ts';
import { isRecord } from './tables.ts';
import type { AwsAnswer, AwsError, AwsService, AwsServiceName, Caller, HttpAnswer, Restore } from './wire.ts';
import { notCovered, refuse, snapshotOf } from './wire.ts';

export interface AwsOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly tables?: readonly LocalTable[];
  /** Standard queues; one that takes dead letters precedes the queue that they come from. */
  readonly queues?: readonly LocalQueue[];
  readonly buckets?: readonly LocalBucket[];
  /** A symmetric KMS key is made for each alias (`alias/…`). */
  readonly keyAliases?: readonly string[];
  /** Milliseconds since the epoch; tests give their own. */
  readonly now?: () => number;
  /**
   * Further access key ids and their accounts. With them, every account and region other than the emulator's own is a place without any
   * resource, so that a call to the wrong place gets the empty answer that AWS gives there.
   */
  readonly accounts?: Readonly<Record<string, string>>;
  /** Makes DynamoDB refuse what it refuses under load: `contention.ts`. Absent: concurrent writes wait for each other. */
  readonly contended?: boolean;
  /** The functions' roles by access key id. The emulator's own key is an operator's, who may do what no policy of a resource denies. */
  readonly roles?: Readonly<Record<string, LocalRole>>;
  /** The policies of resources by ARN. */
  readonly policies?: Readonly<Record<string, readonly Statement[]>>;
  /** Deletes expired items on a timer. Absent: only when `sweepExpired` is called. */
  readonly sweepEverySeconds?: number;
}

export interface LocalAws {
  /** `http://127.0.0.1:<port>`: the endpoint of every service. */
  readonly url: string;
  readonly faults: AwsFaults;
  /** The emulator's own account: stacks, subscriptions, certificates and settings. Tests write it. */
  readonly account: AccountState;
  /** What the functions' roles were used for. */
  readonly access: AccessRecord;
  /** How many calls of an operation of a service have come so far, those included that were refused on demand. */
  calls(service: AwsServiceName, operation: string): number;
  /**
   * A queue for code in this process.
   * @param poller the access key id of a function for which Lambda polls the queue; absent: an operator
   * @throws RangeError when there is no queue of this name
   * @throws Error when the function's role does not allow what Lambda does in its name
   */
  queue(name: string, poller?: string): QueueAccess;
  /** What every service holds and how many calls have come; the function brings that back, and forgets what is still to fail. */
  snapshot(): Promise<Restore>;
  /** Deletes what has expired by now, from the tables with a time to live. Returns how many items. */
  sweepExpired(): Promise<number>;
  close(): Promise<void>;
}

/** DynamoDB takes at most 16 MB in one request, the other JSON services less. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** S3 takes 5 GB; this emulator holds it all in memory. */
const MAX_OBJECT_BYTES = 64 * 1024 * 1024;

/**
 * DynamoDB, KMS, S3, SQS and Systems Manager parameters in memory, and what an operator asks of an account (`account.ts`), behind one HTTP server on the loopback
 * interface, over the wire protocol of the AWS SDK. What it does not cover it refuses with UnknownOperationException. Signatures are not verified, but the access key id
 * must be the emulator's own or a function's, whose role then decides.
 */
export async function startAws(options: AwsOptions = {}): Promise<LocalAws> {
  const now = options.now ?? Date.now;
  const ownPlace = createPlace(localAccount, now, options);
  const { dynamodb, kms, sqs, services, s3 } = ownPlace;
  const faults = createFaults();
  const access = createAccess(options.roles ?? {}, options.policies ?? {});
  const counts = new Map<string, number>();
  const counted: FaultPlan = {
    ...faults,
    take(service, operation, request) {
      const name = `${service} ${operation}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return faults.take(service, operation, request);
    },
  };
  const elsewhere = new Map<string, ReturnType<typeof createPlace>>();
  const placeOf = ({ accessKeyId, region }: Signer): Place | undefined => {
    const account = access.isKnown(accessKeyId) ? localAccount : options.accounts?.[accessKeyId];
    if (account === undefined) return undefined;
    if (options.accounts === undefined || (account === localAccount && region === localRegion))
      return ownPlace;
    const name = `${account} ${region}`;
    const known = elsewhere.get(name) ?? createPlace(account, now, {});
    elsewhere.set(name, known);
    return known;
  };
  for (const table of options.tables ?? []) await dynamodb.createTable(table);
  for (const alias of options.keyAliases ?? []) kms.createKey(alias);

  const server = createServer((request, response) => {
    serve({ placeOf, access, faults: counted }, request).then(
      (answer) => send(response, answer),
      (defect: unknown) => {
        console.error('local AWS emulator:', defect);
        const error = { status: 500, type: 'InternalFailure', message: 'defect of the local AWS emulator' };
        send(response, jsonAnswer(err(error), JSON_1_0));
      },
    );
  });
  const url = await listen(server, options.port ?? 0);

  const sweep = (): Promise<number> => dynamodb.sweepExpired(now());
  const timer =
    options.sweepEverySeconds === undefined
      ? undefined
      : setInterval(() => {
          sweep().catch((defect: unknown) => console.error('local AWS emulator: sweep:', defect));
        }, options.sweepEverySeconds * 1000).unref();

  return {
    url,
    faults,
    access,
    account: ownPlace.account,
    calls: (service, operation) => counts.get(`${service} ${operation}`) ?? 0,
    queue(name, poller = localCredentials.accessKeyId) {
      const needs = polling.map((action) => ({ action: `sqs:${action}`, resource: queueArnOf(name) }));
      const denied = access.callerOf(poller, localAccount, 'sqs').authorize(needs);
      if (denied !== undefined) throw new Error(denied.error.message);
      return sqs.queue(name);
    },
    async snapshot() {
      const restores = [snapshotOf(counts), access.snapshot(), accountSnapshot(ownPlace.account)];
      for (const service of [...services, s3]) restores.push(await service.snapshot());
      return async () => {
        for (const restore of restores) await restore();
        faults.reset();
      };
    },
    sweepExpired: sweep,
    async close() {
      clearInterval(timer);
      sqs.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        // The SDK keeps its connections open for the next call.
        server.closeAllConnections();
      });
      for (const place of [ownPlace, ...elsewhere.values()]) await place.dynamodb.close();
    },
  };
}

/** Makes an account and region in which there are only these queues and buckets. */
function createPlace(
  account: string,
  now: () => number,
  { queues = [], buckets = [], contended }: Pick<AwsOptions, 'queues' | 'buckets' | 'contended'>,
) {
  const dynamodb = createDynamoDb(now, contended);
  const kms = createKms(now);
  const sqs = createSqs(queues, now);
  const services: readonly AwsService[] = [dynamodb, kms, sqs, createSsm(kms, now)];
  return { account: emptyAccount(account), dynamodb, kms, sqs, services, s3: createS3(buckets, now) };
}

/** What Lambda does with the role of a function whose event source is a queue ("Using Lambda with Amazon SQS"). */
const polling = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes', 'ChangeMessageVisibility'];

const JSON_1_0 = 'application/x-amz-json-1.0';

/** What one account has in one region. */
interface Place {
  readonly account: AccountState;
  readonly services: readonly AwsService[];
  readonly s3: S3Double;
}

/** The key that signed a request, and for which region. */
interface Signer {
  readonly accessKeyId: string;
  readonly region: string;
}

interface Served {
  /** Undefined for credentials that the emulator does not accept. */
  readonly placeOf: (signer: Signer) => Place | undefined;
  readonly access: Pick<Access, 'callerOf'>;
  readonly faults: FaultPlan;
}

async function serve({ placeOf, access, faults }: Served, request: IncomingMessage): Promise<HttpAnswer> {
  const target = String(request.headers['x-amz-target'] ?? '');
  const [, accessKeyId = '', region = '', signedFor] =
    /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/[^/,]*\/([^/,]*)\/([^/,]*)\//.exec(
      request.headers.authorization ?? '',
    ) ?? [];
  const isForS3 = target === '' && signedFor === 's3';
  const body = await readBody(request, isForS3 ? MAX_OBJECT_BYTES : MAX_JSON_BYTES);
  if (addresseeOf(request) !== 'ours') {
    const error: AwsError = {
      status: 421,
      type: 'AccessDeniedException',
      message: 'only for the loopback interface',
    };
    return jsonAnswer(err(error), JSON_1_0);
  }
  await faults.pass();
  const place = placeOf({ accessKeyId, region });
  const callerOf = (name: AwsServiceName): Caller =>
    access.callerOf(accessKeyId, place?.account.id ?? '', name);
  if (isForS3) return callS3(place?.s3, callerOf('s3'), faults, request, body);
  const ofAccount = callAccount(
    place?.account ?? emptyAccount(undefined),
    signedFor ?? '',
    request,
    body,
    faults,
    // SAFETY: the function looks at the service of the signature before it asks for the caller.
    place && callerOf(signedFor as AwsServiceName),
  );
  if (ofAccount !== undefined) return ofAccount;
  const [prefix, operationName = ''] = target.split('.', 2);
  // Every place has the same services: with credentials of no place, the emulator's own determines the protocol of the refusal.
  const service = (place ?? placeOf(HOME))?.services.find((candidate) => candidate.targetPrefix === prefix);
  if (service === undefined) {
    const what = target === '' ? `${request.method ?? ''} ${request.url ?? ''} without X-Amz-Target` : target;
    return jsonAnswer(notCovered(what), JSON_1_0);
  }
  const called =
    request.method === 'POST' &&
    request.url === '/' &&
    request.headers['content-type'] === service.contentType;
  const answer = !called
    ? notCovered(
        `${request.method ?? ''} ${request.url ?? ''} as ${request.headers['content-type'] ?? 'no type'}`,
      )
    : place !== undefined
      ? await call(service, operationName, callerOf(service.name), faults, body)
      : refuse('UnrecognizedClientException', FOREIGN_CREDENTIALS);
  const stalls = faults.disturbance(service.name, operationName, body) === 'stalls';
  return { ...jsonAnswer(answer, service.contentType), stalls };
}

const never = new Promise<never>(() => undefined);

const HOME: Signer = { accessKeyId: localCredentials.accessKeyId, region: localRegion };
const FOREIGN_CREDENTIALS = `the local AWS emulator is called with the access key id ${localCredentials.accessKeyId} or that of a function only`;

async function call(
  service: AwsService,
  operationName: string,
  caller: Caller,
  faults: FaultPlan,
  body: Buffer | undefined,
): Promise<AwsAnswer> {
  const operation = service.operations.get(operationName);
  if (operation === undefined) return notCovered(`${service.targetPrefix}.${operationName}`);
  const fault = faults.take(service.name, operationName, body);
  if (fault !== undefined) return fault;
  const how = faults.disturbance(service.name, operationName, body);
  if (how === 'hangs') return never;
  if (body === undefined) return refuse('RequestEntityTooLarge', 'more than 16 MB');
  const input = parsedJson(body.toString());
  if (!isRecord(input)) return refuse('SerializationException', 'not a JSON object');
  const answer = await operation(input, caller);
  if (how === 'is late') return never;
  return how === 'is wrong' ? answerAboutAnother(service, input, answer) : answer;
}

async function callS3(
  s3: S3Double | undefined,
  caller: Caller,
  faults: FaultPlan,
  request: IncomingMessage,
  body: Buffer | undefined,
): Promise<HttpAnswer> {
  const { method = '', url = '', headers } = request;
  const refused = (error: AwsError): HttpAnswer => ({
    status: error.status,
    headers: { 'content-type': 'application/xml' },
    // The answer to HEAD has no body, so that only its status shows what is wrong.
    body: method === 'HEAD' ? '' : s3ErrorBody(error),
  });
  if (s3 === undefined)
    return refused({ status: 403, type: 'InvalidAccessKeyId', message: FOREIGN_CREDENTIALS });
  const routed = s3.route({ method, url, headers });
  if (!routed.ok) return refused(routed.error);
  const fault = faults.take('s3', routed.value.operation);
  if (fault !== undefined) return refused(fault.error);
  const how = faults.disturbance('s3', routed.value.operation);
  if (how === 'hangs') return never;
  if (body === undefined) return refused({ status: 400, type: 'EntityTooLarge', message: 'more than 64 MB' });
  const answer = s3.perform(routed.value, { method, url, headers, body }, caller);
  if (how === 'is late') return never;
  if (!answer.ok) return refused(answer.error);
  return how === 'is wrong' && method === 'GET'
    ? { ...answer.value, body: 'another object' }
    : { ...answer.value, stalls: how === 'stalls' };
}

function jsonAnswer(answer: AwsAnswer, contentType: string): HttpAnswer {
  const { status, body } = answer.ok
    ? { status: 200, body: answer.value }
    : {
        status: answer.error.status,
        body: { __type: answer.error.type, message: answer.error.message, ...answer.error.extra },
      };
  return { status, headers: { 'content-type': contentType }, body: JSON.stringify(body) };
}

function send(response: ServerResponse, { status, headers, body, stalls }: HttpAnswer): void {
  response.writeHead(status, { ...headers, 'x-amzn-requestid': randomUUID() });
  if (stalls) response.write(body.slice(0, 1));
  else response.end(body);
}
