import type { Socket } from 'node:dgram';
import { randomBytes } from 'node:crypto';

/** Adds a call of an owner to the trace of the invocation in progress. Times are epoch milliseconds. */
export type SendSegment = (call: {
  /** The owner. */
  readonly name: string;
  readonly operation: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failed: boolean;
}) => void;

/** What precedes a document to the X-Ray daemon. */
const HEADER = '{"format":"json","version":1}\n';

/**
 * Returns what adds calls to the X-Ray trace of the invocation in progress: one subsegment per call, with names of ours and times only, sent to the daemon
 * that Lambda runs with a traced function. Without a daemon, or in an invocation that is not sampled, it does nothing. Datagrams are not
 * confirmed: a lost one is a gap in a trace, never a failure of a request.
 * @see https://docs.aws.amazon.com/xray/latest/devguide/xray-api-segmentdocuments.html
 */
export function segmentSender(environment: Readonly<Record<string, string | undefined>>): SendSegment {
  let socket: Socket | undefined;
  return ({ name, operation, startedAt, endedAt, failed }) => {
    const [, host, port] = /^([\w.-]+):(\d+)$/.exec(environment['AWS_XRAY_DAEMON_ADDRESS'] ?? '') ?? [];
    const [, trace, parent] =
      /^Root=(1-[0-9a-f]{8}-[0-9a-f]{24});Parent=([0-9a-f]{16});Sampled=1\b/.exec(
        environment['_X_AMZN_TRACE_ID'] ?? '',
      ) ?? [];
    if (host === undefined || trace === undefined) return;
    const segment = {
      ...{ name, type: 'subsegment', namespace: 'remote' },
      ...{ id: randomBytes(8).toString('hex'), trace_id: trace, parent_id: parent },
      ...{ start_time: startedAt / 1000, end_time: endedAt / 1000, fault: failed },
      annotations: { operation },
    };
    socket ??= open();
    socket.send(`${HEADER}${JSON.stringify(segment)}`, Number(port), host);
  };
}

/** Loads the module only for a sampled invocation. */
function open(): Socket {
  const socket = process.getBuiltinModule('node:dgram').createSocket('udp4');
  socket.on('error', () => undefined);
  return socket.unref();
}
