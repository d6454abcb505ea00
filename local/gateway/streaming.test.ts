import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gatewayRow } from '#test/support/probe-routes.ts';
import { startTestGateway, type TestGateway } from '#test/support/test-gateway.ts';

/** A bundle of a streaming function as Lambda would run it: it does what the request's body says. */
const streaming = `
import { once } from 'node:events';
const never = () => new Promise(() => {});
const mega = 'x'.repeat(1024 * 1024);
export const handler = awslambda.streamifyResponse(async (event, stream, context) => {
  const { do: wish } = JSON.parse(event.body ?? '{}');
  const write = async (chunk) => { if (!stream.write(chunk)) await once(stream, 'drain'); };
  if (wish === 'throw') throw new Error('as wished');
  if (wish === 'nothing') { stream.end(); return; }
  if (wish === 'malformed') { stream.write('{"statusCode":'); stream.write(new Uint8Array(8)); stream.end(); return; }
  if (wish === 'no prelude') { stream.end('x'.repeat(100_000)); return; }
  if (wish === 'late') {
    stream.on('close', () => console.log('CLOSED'));
    const channel = new BroadcastChannel('streaming-test');
    const told = once(channel, 'message');
    console.log('WAITS');
    await told;
    channel.close();
  }
  const out = awslambda.HttpResponseStream.from(stream, {
    statusCode: 201,
    headers: { 'Content-Type': 'application/json', 'X-Left': context.getRemainingTimeInMillis() },
    multiValueHeaders: { Link: ['<a>', '<b>'] },
  });
  await new Promise((taken) => out.write('one ', taken));
  if (wish === 'unended') return;
  if (wish === 'break') throw new Error('as wished');
  if (wish === 'exit') process.exit(3);
  if (wish === 'hang') await never();
  if (wish === 'much' || wish === 'late') for (let n = 0; n < 50; n += 1) await write(mega);
  if (wish === 'endless') {
    stream.on('close', () => console.log('CLOSED'));
    for (let written = 1; !stream.destroyed && written < 500; written += 1) {
      await write(mega);
      console.log('WROTE ' + written);
    }
  }
  await write(new TextEncoder().encode('two'));
  stream.end();
});
`;

const buffered = `export const handler = async () => ({ statusCode: 200, body: 'whole' });`;

let gateway: TestGateway;
/** What to do when the gateway has noticed that a caller is gone. */
let onGone = (): void => undefined;

beforeAll(async () => {
  gateway = await startTestGateway({
    functions: { stream: streaming, streamOfBuffered: buffered, bufferOfStreaming: streaming },
    routes: [
      gatewayRow('stream', 'POST', '/v1/streams', 'stream'),
      gatewayRow('streamOfBuffered', 'POST', '/v1/mistakes', 'stream'),
      gatewayRow('bufferOfStreaming', 'POST', '/v1/other-mistakes', 'buffered'),
    ],
    timeoutSeconds: 2,
    limit: 1,
    invoke: (invoke) => (name, event, requestId, caller) => {
      caller.addEventListener('abort', () => onGone());
      return invoke(name, event, requestId, caller);
    },
  });
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.output = '';
});
const failed = JSON.stringify({ service: 'mastery', failure: 'integration-failed' });

function ask(wish: string, path = 'streams'): Promise<Response> {
  return fetch(`${gateway.url}/mastery/v1/${path}`, { method: 'POST', body: JSON.stringify({ do: wish }) });
}

/** An answer whose body is not read until the test does so. */
function open(wish: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest(`${gateway.url}/mastery/v1/streams`, { method: 'POST' }, resolve)
      .on('error', reject)
      .end(JSON.stringify({ do: wish }));
  });
}

describe('a streamed route', () => {
  it('sends what there is while the function goes on, and breaks off when its time is over', async () => {
    const read: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const chunk of (await open('hang')) as AsyncIterable<Buffer>) read.push(chunk.toString());
    };
    await expect(reading()).rejects.toThrow('aborted');
    expect(read).toEqual(['one ']);
  });

  it.each(['break', 'exit', 'unended'])(
    'of a function that does this in the middle ends abnormally: %s; the next request is served',
    async (wish) => {
      const response = await ask(wish);
      expect(response.status).toBe(201);
      await expect(response.text()).rejects.toThrow('terminated');
      expect(await (await ask('')).text()).toBe('one two');
    },
  );

  it.each(['throw', 'nothing', 'malformed', 'no prelude'])(
    'is a failed integration where no answer begins: %s; the next request is served',
    async (wish) => {
      const response = await ask(wish);
      expect(response.status).toBe(500);
      expect(await response.text()).toBe(failed);
      expect(await (await ask('')).text()).toBe('one two');
    },
  );

  it('breaks off when its environment is killed', async () => {
    const response = await open('hang');
    expect(await gateway.pool.kill('stream')).toBe(1);
    await expect(response.toArray()).rejects.toThrow('aborted');
    expect(await (await ask('')).text()).toBe('one two');
  });

  it('makes a function wait for a caller that does not read', async () => {
    const before = gateway.accesses.length;
    const response = await open('endless');
    // Until its time is over: it could have written everything.
    await expect.poll(() => gateway.accesses.length, { timeout: 10_000 }).toBe(before + 1);
    expect(gateway.output).toContain('WROTE 1\n');
    expect(gateway.output).not.toContain('WROTE 100\n');
    response.destroy();
  });

  it('ends the stream of its function when the caller hangs up, and has its environment back', async () => {
    const response = await open('endless');
    response.destroy();
    await expect.poll(() => gateway.output, { timeout: 10_000 }).toContain('CLOSED\n');
    expect(gateway.output).not.toContain('WROTE 100\n');
    expect(await (await ask('')).text()).toBe('one two');
  });

  it('ends the stream of a function that begins to answer after its caller has hung up', async () => {
    const channel = new BroadcastChannel('streaming-test');
    onGone = () => channel.postMessage('go on');
    const waiting = httpRequest(`${gateway.url}/mastery/v1/streams`, { method: 'POST' });
    waiting.on('error', () => undefined).end(JSON.stringify({ do: 'late' }));
    await expect.poll(() => gateway.output, { timeout: 10_000 }).toContain('WAITS\n');
    waiting.destroy();
    await expect.poll(() => gateway.output, { timeout: 10_000 }).toContain('CLOSED\n');
    channel.close();
    onGone = () => undefined;
    expect(await (await ask('')).text()).toBe('one two');
  });

  it('and its function must agree on how an answer is given', async () => {
    expect(await (await ask('', 'mistakes')).text()).toBe(failed);
    expect(await (await ask('', 'other-mistakes')).text()).toBe(failed);
    // Asked once more: neither is left busy.
    expect(await (await ask('', 'other-mistakes')).text()).toBe(failed);
  });
});
