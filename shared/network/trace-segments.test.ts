import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { segmentSender } from './trace-segments.ts';

const TRACE = '1-697dd2a8-0123456789abcdef01234567';
const call = {
  ...{ name: 'qti', operation: 'qti.read_candidate_runtime' },
  ...{ startedAt: 1_000, endedAt: 1_250, failed: false },
};
let daemon: Socket;
let address: string;
beforeEach(async () => {
  daemon = createSocket('udp4').bind(0, '127.0.0.1');
  await once(daemon, 'listening');
  address = `127.0.0.1:${daemon.address().port}`;
});
afterEach(() => daemon.close());

it('sends one subsegment per call of a sampled invocation, with nothing of the call but owner, operation and times', async () => {
  const environment = {
    AWS_XRAY_DAEMON_ADDRESS: address,
    _X_AMZN_TRACE_ID: `Root=${TRACE};Parent=0123456789abcdef;Sampled=1;Lineage=1:a:0`,
  };
  const received = once(daemon, 'message');
  segmentSender(environment)(call);
  const [datagram] = (await received) as [Buffer];
  const [header = '', body = ''] = datagram.toString().split('\n');
  expect(JSON.parse(header)).toEqual({ format: 'json', version: 1 });
  expect(JSON.parse(body)).toStrictEqual({
    ...{ name: 'qti', type: 'subsegment', namespace: 'remote' },
    ...{ id: expect.stringMatching(/^[0-9a-f]{16}$/) as string, trace_id: TRACE },
    ...{ parent_id: '0123456789abcdef', start_time: 1, end_time: 1.25, fault: false },
    annotations: { operation: 'qti.read_candidate_runtime' },
  });
});

it.each([
  ['not sampled', { _X_AMZN_TRACE_ID: `Root=${TRACE};Parent=0123456789abcdef;Sampled=0` }],
  ['without a trace', {}],
  ['of another form, since a caller may send the header', { _X_AMZN_TRACE_ID: 'candidate-1' }],
])('sends nothing in an invocation that is %s', async (_, traced) => {
  const sampled = { _X_AMZN_TRACE_ID: `Root=${TRACE};Parent=fedcba9876543210;Sampled=1` };
  const received = once(daemon, 'message');
  segmentSender({ AWS_XRAY_DAEMON_ADDRESS: address, ...traced })(call);
  // What comes first is what was sent last.
  segmentSender({ AWS_XRAY_DAEMON_ADDRESS: address, ...sampled })(call);
  const [datagram] = (await received) as [Buffer];
  expect(datagram.toString()).toContain('fedcba9876543210');
});

it('does nothing without a daemon', () => {
  const traced = { _X_AMZN_TRACE_ID: `Root=${TRACE};Parent=0123456789abcdef;Sampled=1` };
  expect(() => segmentSender(traced)(call)).not.toThrow();
});
