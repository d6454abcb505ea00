import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { addresseeOf } from '#local/loopback.ts';
import { err } from '#shared/kernel/result.ts';
import type { LocalTable } from './dynamodb.ts';
import { createDynamoDb } from './dynamodb.ts';
import { localCredentials } from './environment.ts';
import type { AwsFaults, FaultPlan } from './faults.ts';
import { createFaults } from './faults.ts';
import { createKms } from './kms.ts';
import { createSsm } from './ssm.ts';
import type { AwsAnswer, AwsError, AwsService } from './wire.ts';
import { notCovered, refuse } from './wire.ts';

export interface AwsOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly tables?: readonly LocalTable[];
  /** A symmetric KMS key is made for each alias (`alias/…`). */
  readonly keyAliases?: readonly string[];
  /** Milliseconds since the epoch; tests give their own. */
  readonly now?: () => number;
  /** Deletes expired items on a timer. Absent: only when `sweepExpired` is called. */
  readonly sweepEverySeconds?: number;
}

export interface LocalAws {
  /** `http://127.0.0.1:<port>`: the endpoint of every service. */
  readonly url: string;
  readonly faults: AwsFaults;
  /** Deletes what has expired by now, from the tables with a time to live. Returns how many items. */
  sweepExpired(): Promise<number>;
  close(): Promise<void>;
}

/** DynamoDB takes at most 16 MB in one request. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * DynamoDB, KMS and Systems Manager parameters in memory behind one HTTP server on the loopback interface, over the wire protocol of the
 * AWS SDK. What it does not cover it refuses with UnknownOperationException. Signatures are not verified, but the access key id must be
 * the double's own.
 */
export async function startAws(options: AwsOptions = {}): Promise<LocalAws> {
  const now = options.now ?? Date.now;
  const dynamodb = createDynamoDb(now);
  const kms = createKms(now);
  const services: readonly AwsService[] = [dynamodb, kms, createSsm(kms, now)];
  const faults = createFaults();
  for (const table of options.tables ?? []) await dynamodb.createTable(table);
  for (const alias of options.keyAliases ?? []) kms.createKey(alias);

  const server = createServer((request, response) => {
    serve(services, faults, request).then(
      ({ answer, contentType }) => send(response, answer, contentType),
      (defect: unknown) => {
        console.error('local AWS double:', defect);
        const error = { status: 500, type: 'InternalFailure', message: 'defect of the local AWS double' };
        send(response, err(error), JSON_1_0);
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('local AWS double: no port');

  const sweep = (): Promise<number> => dynamodb.sweepExpired(now());
  const timer =
    options.sweepEverySeconds === undefined
      ? undefined
      : setInterval(() => {
          sweep().catch((defect: unknown) => console.error('local AWS double: sweep:', defect));
        }, options.sweepEverySeconds * 1000).unref();

  return {
    url: `http://127.0.0.1:${address.port}`,
    faults,
    sweepExpired: sweep,
    async close() {
      clearInterval(timer);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        // The SDK keeps its connections open for the next call.
        server.closeAllConnections();
      });
      await dynamodb.close();
    },
  };
}

const JSON_1_0 = 'application/x-amz-json-1.0';

async function serve(
  services: readonly AwsService[],
  faults: FaultPlan,
  request: IncomingMessage,
): Promise<{ readonly answer: AwsAnswer; readonly contentType: string }> {
  const body = await readBody(request);
  if (addresseeOf(request) !== 'ours') {
    const error: AwsError = {
      status: 421,
      type: 'AccessDeniedException',
      message: 'only for the loopback interface',
    };
    return { answer: err(error), contentType: JSON_1_0 };
  }
  const target = String(request.headers['x-amz-target'] ?? '');
  const [prefix, operationName = ''] = target.split('.', 2);
  const service = services.find((candidate) => candidate.targetPrefix === prefix);
  if (service === undefined) {
    const what = target === '' ? `${request.method ?? ''} ${request.url ?? ''} without X-Amz-Target` : target;
    return { answer: notCovered(what), contentType: JSON_1_0 };
  }
  return {
    answer: await call(service, operationName, faults, request, body),
    contentType: service.contentType,
  };
}

async function call(
  service: AwsService,
  operationName: string,
  faults: FaultPlan,
  request: IncomingMessage,
  body: Buffer | undefined,
): Promise<AwsAnswer> {
  if (
    request.method !== 'POST' ||
    request.url !== '/' ||
    request.headers['content-type'] !== service.contentType
  ) {
    return notCovered(
      `${request.method ?? ''} ${request.url ?? ''} as ${request.headers['content-type'] ?? 'no type'}`,
    );
  }
  const credential = /^AWS4-HMAC-SHA256 Credential=([^/,]+)\//.exec(request.headers.authorization ?? '');
  if (credential?.[1] !== localCredentials.accessKeyId) {
    return refuse(
      'UnrecognizedClientException',
      `the local AWS double is called with the access key id ${localCredentials.accessKeyId} only`,
    );
  }
  const operation = service.operations.get(operationName);
  if (operation === undefined) return notCovered(`${service.targetPrefix}.${operationName}`);
  const fault = faults.take(service, operationName);
  if (fault !== undefined) return fault;
  if (body === undefined) return refuse('RequestEntityTooLarge', 'more than 16 MB');
  const input = parse(body);
  return input === undefined ? refuse('SerializationException', 'not a JSON object') : operation(input);
}

/** Undefined when it is too large; it is read to its end all the same, so that the answer arrives. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

function parse(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, answer: AwsAnswer, contentType: string): void {
  const { status, body } = answer.ok
    ? { status: 200, body: answer.value }
    : {
        status: answer.error.status,
        body: { __type: answer.error.type, message: answer.error.message, ...answer.error.extra },
      };
  response.writeHead(status, { 'content-type': contentType, 'x-amzn-requestid': randomUUID() });
  response.end(JSON.stringify(body));
}
