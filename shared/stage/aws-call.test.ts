import { createServer, type IncomingMessage, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { awsFailure } from './aws-failure.ts';
import { callJson, callQuery } from './aws-call.ts';

type Reply = readonly [number, string];
let server: Server;
let replies: Reply[];
let requests: { readonly request: IncomingMessage; readonly body: string }[];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      requests.push({ request, body });
      const [status, text] = replies.shift() ?? [0, ''];
      if (status === 0) request.socket.destroy();
      else response.writeHead(status).end(text);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  vi.stubEnv(
    'AWS_ENDPOINT_URL',
    `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`,
  );
});
afterAll(() => {
  vi.unstubAllEnvs();
  return new Promise((done) => server.close(done));
});
afterEach(() => {
  expect(replies).toStrictEqual([]);
});

const caller = { region: 'eu-central-1', credentials: { accessKeyId: 'ID', secretAccessKey: 'secret' } };
/** What the caller gets for these replies: the value, or the sentence for the operator. */
async function got(call: () => Promise<unknown>, ...given: readonly Reply[]): Promise<unknown> {
  [replies, requests] = [[...given], []];
  try {
    return await call();
  } catch (error) {
    return awsFailure(error) ?? error;
  }
}
const stacks = () => callQuery(caller, 'cloudformation', 'DescribeStacks', { StackName: 'a&b' });
const gateway = () => callJson(caller, 'apigateway', { method: 'GET', path: '/account' });

describe('a call of the query protocol', () => {
  const answer = (result: string): Reply => [
    200,
    `<?xml version="1.0"?>\n<DescribeStacksResponse xmlns="x">\n ${result}<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>\n</DescribeStacksResponse>\n`,
  ];

  it('is signed for its service and region, and reads elements, lists, entities and empty elements', async () => {
    const xml =
      '<DescribeStacksResult>\n<Stacks><member><A>x &amp;amp; &#x41;&#66; &lt;</A><B/></member><member><A></A></member></Stacks></DescribeStacksResult>';
    expect(await got(stacks, answer(xml))).toStrictEqual({
      Stacks: [{ A: 'x &amp; AB <', B: '' }, { A: '' }],
    });
    expect(requests[0]?.body).toBe('Action=DescribeStacks&Version=2010-05-15&StackName=a%26b');
    expect(requests[0]?.request.headers.authorization).toMatch(
      /Credential=ID\/\d{8}\/eu-central-1\/cloudformation\/aws4_request/,
    );
  });

  it('of IAM is signed for the one region that it has', async () => {
    await got(
      () => callQuery(caller, 'iam', 'CreateRole'),
      [200, '<CreateRoleResponse></CreateRoleResponse>'],
    );
    expect(requests[0]?.request.headers.authorization).toMatch(/\/us-east-1\/iam\//);
  });

  it('has an empty result where the response has none', async () => {
    expect(await got(stacks, answer('<DescribeStacksResult/>'))).toBe('');
    expect(await got(stacks, answer(''))).toBe('');
  });

  it.each([[''], ['{}'], ['<html><body>sign in</body></html>'], ['<DescribeStacksResponse><A></B>']])(
    'does not take %j for a response',
    async (text) => {
      expect(await got(stacks, [200, text])).toMatch(/^AWS cannot be reached: no usable response from 127/);
    },
  );

  it('tries again after a throttle or a failure of the service, and reports every other refusal', async () => {
    const refused = (code: string) =>
      `<ErrorResponse><Error><Code>${code}</Code><Message>it&apos;s no</Message></Error></ErrorResponse>`;
    expect(await got(stacks, [400, refused('Throttling')], [503, ''], answer(''))).toBe('');
    expect(await got(stacks, [403, refused('AccessDenied')])).toBe("AWS refused: AccessDenied: it's no");
    expect(await got(stacks, [502, 'x'], [502, 'x'], [502, 'x'])).toBe(
      'AWS refused: unknown error: cloudformation returned 502',
    );
  });

  it('reports a connection that breaks', async () => {
    expect(await got(stacks, [0, ''])).toBe('AWS cannot be reached: UND_ERR_SOCKET');
  });
});

describe('a call with JSON documents', () => {
  it('has a path, or the name of an operation', async () => {
    expect(await got(gateway, [200, '{"a":1}'])).toStrictEqual({ a: 1 });
    expect(requests[0]?.request).toMatchObject({ method: 'GET', url: '/account' });
    // A type is signed only with a body to describe, as by AWS's own clients.
    expect(requests[0]?.request.headers).not.toHaveProperty('content-type');
    const target = 'CertificateManager.DescribeCertificate';
    await got(() => callJson(caller, 'acm', { method: 'POST', path: '/', target, body: {} }), [200, '{}']);
    expect(requests[0]).toMatchObject({
      body: '{}',
      request: { headers: { 'x-amz-target': target, 'content-type': 'application/x-amz-json-1.1' } },
    });
  });

  it('reports a refusal, and what is no JSON', async () => {
    expect(await got(gateway, [403, '{"__type":"a#AccessDeniedException:x","message":"no"}'])).toBe(
      'AWS refused: AccessDeniedException: no',
    );
    expect(await got(gateway, [200, ''])).toMatch(/no usable response/);
  });
});
