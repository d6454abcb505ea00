import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { ReceivedMessage } from '#local/aws/queue.ts';
import { createFaults } from '#local/aws/faults.ts';
import type { StackAws } from '#local/stack/stack.ts';
import { buildFolder } from '../python.ts';
import { localAccount, localCredentials, localQueueUrl, localRegion } from '#shared/stage/local-stage.ts';

export interface Moto extends AsyncDisposable {
  readonly url: string;
  /** The resource types that its CloudFormation creates as AWS does. */
  readonly types: ReadonlySet<string>;
}

/** Types that moto's CloudFormation creates otherwise than AWS, each with the reason. */
const wrongTypes: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::Deployment':
    'moto ignores the document of an API, and then refuses a deployment of an API without methods',
  'AWS::Lambda::EventSourceMapping':
    'moto evaluates no Fn::GetStackOutput, and fails with the queue of another stack',
};

/** Starts moto on any free port of the loopback interface; disposing it ends it. It authorizes nothing before `assumeRoles`. */
export async function startMoto(program: string): Promise<Moto> {
  const script = join(import.meta.dirname, 'serve_moto.py');
  const child = spawn(join(dirname(program), 'python3'), [script, '--host', '127.0.0.1', '--port', '0'], {
    // It ends with its input, even if this process is killed.
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      MOTO_ACCOUNT_ID: localAccount,
      // The policies of AWS itself, of which a role of the account has one.
      MOTO_IAM_LOAD_MANAGED_POLICIES: 'true',
      OPERATOR_KEY: localCredentials.accessKeyId,
    },
  });
  const closed = once(child, 'close');
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    closed.then(() => reject(new Error(`moto ended before it served: ${lines.at(-1) ?? ''}`)), reject);
    // Both are read to their end: moto would wait for room in the pipe.
    for (const output of [child.stdout, child.stderr])
      createInterface(output).on('line', (line) => {
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
        if (found !== undefined) resolve(found);
        lines.push(line);
      });
  });
  return {
    url,
    // SAFETY: what the script prints first.
    types: new Set(
      (JSON.parse(lines.find((line) => line.startsWith('[')) ?? '[]') as string[]).filter(
        (type) => wrongTypes[type] === undefined,
      ),
    ),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      writeFileSync(join(buildFolder, 'moto.log'), lines.join('\n'));
      await closed;
    },
  };
}

/** Returns moto as the stack uses an AWS. What only our own emulator does on demand (failures, counts, a way back) is refused. */
export function stackAwsOf({ url }: Pick<Moto, 'url'>): StackAws {
  const ours = (): never => {
    throw new Error('only our own emulator does this');
  };
  return {
    url,
    faults: createFaults(),
    access: { of: ours, denials: () => [] },
    calls: ours,
    queue: () => queueOf(url),
    snapshot: () => Promise.resolve(ours),
    close: () => Promise.resolve(),
  };
}

/** Between two requests for what another process changes. */
const POLL_MS = 100;

function queueOf(url: string): ReturnType<StackAws['queue']> {
  const sqs = new SQSClient({ endpoint: url, region: localRegion, credentials: localCredentials });
  const QueueUrl = localQueueUrl(url);
  /** Messages that were given to the stack and that it has not returned or deleted on the queue yet. */
  let open = 0;
  const settle = (sent: Promise<unknown>): void => {
    void sent.finally(() => (open -= 1));
  };
  const ours = (): never => {
    throw new Error('only the queue of our own emulator does this');
  };
  return {
    send: ours,
    deadLetters: ours,
    async receive(signal): Promise<ReceivedMessage | undefined> {
      while (signal?.aborted !== true) {
        const { Messages: [message] = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ['All'] }),
        );
        if (message !== undefined) {
          open += 1;
          const { MessageId = '', Body = '', ReceiptHandle = '', Attributes = {} } = message;
          return {
            messageId: MessageId,
            body: Body,
            receiptHandle: ReceiptHandle,
            receiveCount: Number(Attributes.ApproximateReceiveCount),
            sentAt: Number(Attributes.SentTimestamp),
            firstReceivedAt: Number(Attributes.ApproximateFirstReceiveTimestamp),
          };
        }
        await sleep(POLL_MS, undefined, signal && { signal }).catch(() => undefined);
      }
      return undefined;
    },
    delete: (ReceiptHandle) => settle(sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))),
    release: (ReceiptHandle) =>
      settle(sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }))),
    async idle() {
      for (;;) {
        const { Attributes = {} } = await sqs.send(
          new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
        );
        const waiting = Number(Attributes.ApproximateNumberOfMessages);
        if (open + waiting + Number(Attributes.ApproximateNumberOfMessagesNotVisible) === 0) return;
        await sleep(POLL_MS);
      }
    },
  };
}
