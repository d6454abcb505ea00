import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import { manifest } from '#shared/platform/owners/bank.ts';
import { startTestPlatform } from '#test/support/platform.ts';
import type { TestPlatform } from '#test/support/platform.ts';

let platform: TestPlatform;
/** What the platform would have waited. */
let waits: number[] = [];

beforeAll(async () => {
  platform = await startTestPlatform({
    wait: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
  });
});
afterAll(() => platform.close());
beforeEach(async () => {
  waits = [];
  await platform.reset();
});

const MANIFEST = 'bank.read_adaptive_pool_manifest';

function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const authorization = `Bearer ${platform.aurora.platform.credentials.platformJwt}`;
  return fetch(`${platform.url}${path}`, { headers: { authorization, ...headers } });
}

function post(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const authorization = `Bearer ${platform.aurora.platform.credentials.platformJwt}`;
  return fetch(`${platform.url}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

function operationId(): string {
  return platform.aurora.platform.manifests[0]!.operationId;
}

const readManifest = (): Promise<Response> => get(`/v1/bank-operations/${operationId()}/manifest`);

async function manifestNow(): Promise<unknown> {
  return manifest.parse(await (await readManifest()).json());
}

function offer(key: string, candidateRef = 'candidate'): Promise<Response> {
  const { root, members } = platform.aurora.platform.manifests[0]!;
  return post(
    '/tenants/tenant-aurora/qti/delivery-sessions',
    {
      candidateRef,
      rootArtifactVersionId: members![0]!.artifactVersionId,
      deliverySnapshot: {
        poolArtifactVersionId: root!.artifactVersionId,
        packageId: root!.packageId,
        packageHash: root!.packageHash,
        qtiIdentifier: members![0]!.qtiIdentifier,
        sequence: 1,
      },
    },
    { 'idempotency-key': key },
  );
}

async function refusedFault(body: unknown): Promise<unknown> {
  const response = await fetch(`${platform.url}/_control/faults`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(400);
  return response.json();
}

describe('faults', () => {
  it('strike the next n calls of their operation, after those that are skipped, and no other operation', async () => {
    await platform.fault({ operation: MANIFEST, kind: 'status', status: 502, times: 2, skip: 1 });
    const statuses: number[] = [];
    for (let at = 0; at < 5; at += 1) statuses.push((await readManifest()).status);
    expect(statuses).toEqual([200, 502, 502, 200, 200]);
    await platform.fault({ operation: MANIFEST, kind: 'status', times: 1 });
    expect((await get('/extmap/v1/r90')).status).toBe(200);
    expect((await readManifest()).status).toBe(503);
  });

  it('latency: the same answer, so many milliseconds later', async () => {
    const before = await manifestNow();
    await platform.fault({ operation: MANIFEST, kind: 'latency', milliseconds: 1234, times: 1 });
    await platform.fault({ operation: MANIFEST, kind: 'latency', times: 1 });
    expect(await manifestNow()).toEqual(before);
    expect(waits).toEqual([1234]);
    await manifestNow();
    expect(waits).toEqual([1234, 50]);
  });

  it('malformed: by turns no JSON at all, and a repeated member name', async () => {
    await platform.fault({ operation: MANIFEST, kind: 'malformed', times: 2 });
    const [first, second] = [await readManifest(), await readManifest()];
    expect([first.status, second.status]).toEqual([200, 200]);
    await expect(first.json()).rejects.toThrow(SyntaxError);
    const text = await second.text();
    expect(text).toMatch(/^\{"tenantId":null,"tenantId":"tenant-aurora",/);
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  it('lost_acknowledgement: the write is done, the answer never comes', async () => {
    await platform.fault({ operation: 'qti.offer_selected_item', kind: 'lost_acknowledgement', times: 1 });
    await expect(offer('key')).rejects.toThrow();
    expect((await platform.state()).counts['qti.session']).toBe(1);
    expect((await offer('key')).status).toBe(200);
  });

  it('down: the connection is gone before any work', async () => {
    await platform.fault({ operation: 'qti.offer_selected_item', kind: 'down', times: 1 });
    await expect(offer('key')).rejects.toThrow();
    expect((await platform.state()).counts['qti.session']).toBe(0);
    expect((await offer('key')).status).toBe(201);
  });

  it('are listed while they wait, and cleared', async () => {
    await platform.fault({ operation: MANIFEST, kind: 'down', times: 3, skip: 1 });
    await readManifest();
    expect(await platform.control('GET', 'faults')).toEqual({
      faults: [{ id: 1, operation: MANIFEST, kind: 'down', times: 3, skip: 0, struck: 0 }],
    });
    await platform.control('DELETE', 'faults');
    expect((await readManifest()).status).toBe(200);
  });

  it('are refused with a pointer when they could never strike', async () => {
    const fault = { operation: MANIFEST, kind: 'status', times: 1 };
    const pointerOf = async (body: unknown): Promise<string[]> => {
      const refused = (await refusedFault(body)) as { errors: { pointer: string; message: string }[] };
      return refused.errors.map((error) => error.pointer);
    };
    expect(await pointerOf({ ...fault, operation: 'bank.unknown' })).toEqual(['/operation']);
    expect(await pointerOf({ ...fault, kind: 'slow' })).toEqual(['/kind']);
    expect(await pointerOf({ ...fault, times: 0 })).toEqual(['/times']);
    expect(await pointerOf({ ...fault, status: 200 })).toEqual(['/status']);
    expect(await pointerOf({ ...fault, extra: 1 })).toEqual(['']);
    expect(await pointerOf({ ...fault, milliseconds: 5 })).toEqual(['/milliseconds']);
    expect(await pointerOf({ ...fault, method: 'POST' })).toEqual(['/method']);
    expect(await pointerOf({ ...fault, kind: 'lost_acknowledgement' })).toEqual(['/kind']);
    const emit = { operation: 'caliper.emit_completion_or_simulation', times: 1 };
    expect(await pointerOf({ ...emit, kind: 'wrong_tenant' })).toEqual(['/kind']);
    expect(await pointerOf({ ...emit, kind: 'stale' })).toEqual(['/kind']);
    expect(await pointerOf({ ...emit, kind: 'other_entity' })).toEqual(['/kind']);
    expect(await pointerOf({ ...fault, member: '/operationId' })).toEqual(['/member']);
    expect(await pointerOf({ ...fault, kind: 'other_entity', member: '/state' })).toEqual(['/member']);
    expect(await pointerOf({ ...emit, kind: 'version_drift' })).toEqual(['/kind']);
    const { errors } = (await refusedFault({ ...fault, operation: 'x' })) as {
      errors: { message: string }[];
    };
    expect(errors[0]!.message).toContain(MANIFEST);
  });
});

describe('entities', () => {
  it('members are added and removed; every kind of entity is found under its id', async () => {
    const { platform: seeded } = platform.aurora;
    const change = (entity: string, id: string, pointer: string, value?: unknown): Promise<unknown> =>
      platform.control('PATCH', 'entities', {
        tenantId: 'tenant-aurora',
        entity,
        id,
        changes: [value === undefined ? { pointer } : { pointer, value }],
      });
    await change('content.blueprint', seeded.blueprints[0]!.itemId, '/title');
    await change('content.bank_members', seeded.bankMembers[0]!.bankId, '/data/0', { memberId: 'm' });
    await change('qti.artifact', seeded.artifacts[0]!.artifactVersionId, '/itemRefs/0');
    await change('case.item', seeded.caseItems[0]!.identifier, '/uri', 'https://other.example/');
    await change('extmap.anchor_table', 'r90', '/sourcePoints/0/sourceRef', null);
    const { entities } = (await platform.state()).tenants['tenant-aurora']!;
    expect(entities['content.blueprint']![seeded.blueprints[0]!.itemId]).not.toHaveProperty('title');
    expect(entities['content.bank_members']![seeded.bankMembers[0]!.bankId]).toMatchObject({
      data: [{ memberId: 'm' }],
    });
    expect(entities['extmap.anchor_table']!['r90']).toHaveProperty('sourcePoints.0.sourceRef', null);
  });

  it('what the owner could not hold is refused with a pointer, and nothing changes', async () => {
    const id = operationId();
    const send = async (changes: Readonly<Record<string, unknown>>): Promise<unknown> => {
      const response = await fetch(`${platform.url}/_control/entities`, {
        method: 'PATCH',
        body: JSON.stringify({
          tenantId: 'tenant-aurora',
          entity: 'bank.manifest',
          id,
          changes: [{ pointer: '/state', value: 'failed' }],
          ...changes,
        }),
      });
      const { errors } = (await response.json()) as { errors: { pointer: string }[] };
      return [response.status, errors[0]!.pointer];
    };
    expect(await send({ tenantId: 'tenant-x' })).toEqual([404, '/tenantId']);
    expect(await send({ id: 'unknown' })).toEqual([404, '/id']);
    expect(await send({ entity: 'bank.thing' })).toEqual([400, '/entity']);
    expect(await send({ changes: [] })).toEqual([400, '/changes']);
    expect(await send({ changes: [{ pointer: 'state' }] })).toEqual([400, '/changes/0/pointer']);
    expect(await send({ changes: [{ pointer: '/root/none/x', value: 1 }] })).toEqual([
      400,
      '/changes/0/pointer',
    ]);
    expect(await send({ changes: [{ pointer: '/members/99', value: {} }] })).toEqual([
      400,
      '/changes/0/pointer',
    ]);
    expect(await send({ changes: [{ pointer: '/state', value: 'odd' }] })).toEqual([400, '/changes']);
    expect(await manifestNow()).toEqual(platform.aurora.platform.manifests[0]);
  });
});

describe('calls and state', () => {
  it('state counts per tenant and over all of them; reset brings the start back', async () => {
    const start = await platform.state();
    expect(start.counts['qti.session']).toBe(0);
    await offer('key');
    await post('/caliper/v1p2/events', {
      sensor: 's',
      sendTime: '2026-03-01T10:00:00.000Z',
      dataVersion: CALIPER_CONTEXT,
      data: [],
    });
    const after = await platform.state();
    expect(after.counts['qti.session']).toBe(1);
    expect(after.tenants['tenant-aurora']!.counts['qti.session']).toBe(1);
    expect(after.tenants['tenant-borealis']!.counts['qti.session']).toBe(0);
    expect(Object.values(after.tenants['tenant-aurora']!.entities['qti.session']!)).toMatchObject([
      { candidateRef: 'candidate', session: { status: 'open', attempts: [] } },
    ]);
    await platform.fault({ operation: MANIFEST, kind: 'down', times: 1 });
    await platform.reset();
    expect(await platform.state()).toEqual(start);
    expect((await readManifest()).status).toBe(200);
  });

  it('an unknown control path and a body that is no JSON are refused', async () => {
    expect((await fetch(`${platform.url}/_control/nothing`)).status).toBe(404);
    const response = await fetch(`${platform.url}/_control/faults`, { method: 'POST', body: '{' });
    expect(response.status).toBe(400);
    const clock = await fetch(`${platform.url}/_control/clock`, {
      method: 'POST',
      body: '{"advanceSeconds":-1}',
    });
    expect(clock.status).toBe(400);
  });
});

describe('what a page in a browser can send', () => {
  /** A raw request; fetch sets Host and Origin itself. */
  function status(path: string, method: string, headers: Readonly<Record<string, string>>): Promise<number> {
    return new Promise((resolve, reject) => {
      const call = request(`${platform.url}${path}`, { method, headers }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      call.on('error', reject);
      call.end();
    });
  }
  const ownPort = (): string => new URL(platform.url).port;

  it('reaches neither owners nor control API under a name of its own (DNS rebinding)', async () => {
    const authorization = `Bearer ${platform.aurora.platform.credentials.platformJwt}`;
    const path = `/v1/bank-operations/${operationId()}/manifest`;
    for (const host of [
      `evil.example:${ownPort()}`,
      `127.0.0.1.evil.example:${ownPort()}`,
      'localhost:1',
      'localhost',
    ]) {
      expect(await status('/_control/state', 'GET', { host }), host).toBe(421);
      expect(await status('/_control/reset', 'POST', { host }), host).toBe(421);
      expect(await status(path, 'GET', { host, authorization }), host).toBe(421);
    }
    for (const host of [`localhost:${ownPort()}`, `[::1]:${ownPort()}`]) {
      expect(await status('/_control/state', 'GET', { host }), host).toBe(200);
      expect(await status(path, 'GET', { host, authorization }), host).toBe(200);
    }
  });

  it('changes nothing by the control API from another origin', async () => {
    await platform.fault({ operation: MANIFEST, kind: 'down' });
    for (const origin of [
      'https://evil.example',
      'null',
      '',
      `https://127.0.0.1:${ownPort()}`,
      'http://127.0.0.1:1',
      `http://evil.example:${ownPort()}`,
    ]) {
      expect(await status('/_control/faults', 'DELETE', { origin }), origin).toBe(403);
      expect(await status('/_control/state', 'GET', { origin }), origin).toBe(403);
    }
    expect(await (await fetch(`${platform.url}/_control/faults`)).json()).toMatchObject({
      faults: [{ kind: 'down' }],
    });
    expect(await status('/_control/faults', 'DELETE', { origin: platform.url })).toBe(200);
  });
});
