import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listen } from '#local/loopback.ts';
import { serviceNames, type ServiceName } from '#shared/contract/route.ts';
import { useTestStack } from '#test/support/stack.ts';
import { answerOf, compareServers, type ParityTarget } from './compare.ts';
import { parityRows } from './rows.ts';

const stack = useTestStack();

async function localOf(service: ServiceName): Promise<ParityTarget> {
  const scope = service === 'mastery' ? 'mastery:read' : 'reports:read';
  return { url: stack.urls[`${service}Url`], token: await stack.tokenFor('tenant-aurora', [scope]) };
}

describe.each(serviceNames)('the odd requests of %s', (service) => {
  it.each(parityRows(service))('$what: the local gateway returns $local', async (row) => {
    expect(await answerOf(await localOf(service), row)).toBe(row.local);
    // Where the status of the service is known, the local gateway has the same.
    expect(row.local).toMatch(new RegExp(`^${row.realStatus ?? ''}`));
  });

  it('show no difference between the local gateway and itself', async () => {
    const local = await localOf(service);
    expect(await compareServers(service, local, local)).toEqual({
      sent: parityRows(service).length,
      differences: [],
    });
  });
});

it('a server that differs in one request is reported for it, by name', async () => {
  const rows = parityRows('mastery').filter(({ withToken }) => !withToken);
  let at = 0;
  // It returns what the local gateway does, in the order of the rows, but for one.
  const server = createServer((request, response) => {
    const { what, local } = rows[at++]!;
    const [status = '', type] = local.split(' ');
    request.resume().on('end', () => {
      response.writeHead(what === 'an id that is a URL' ? 403 : Number(status));
      response.end(type === undefined ? '' : JSON.stringify({ type: `https://problems.example/${type}` }));
    });
  });
  const url = await listen(server, 0);
  const { sent, differences } = await compareServers(
    'mastery',
    { url, token: undefined },
    await localOf('mastery'),
  );
  server.close();
  expect(sent).toBe(rows.length);
  expect(differences).toEqual([
    expect.stringMatching(/^an id that is a URL: the target returns 403 .*, the local gateway 401 /),
    expect.stringMatching(/^an id that is a URL: .* and 401 was expected/),
  ]);
});
