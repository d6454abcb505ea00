import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as operations from '#shared/platform/operations.ts';
import { duringTests } from '#test/support/lazily.ts';
import { startTestPlatform } from '#test/support/platform.ts';
import { callRaw } from '#test/support/raw-call.ts';

const platform = duringTests(startTestPlatform);
/** A read of an owner's, and its address. */
const MANIFEST = 'bank.read_adaptive_pool_manifest';
let manifestPath: string;

beforeAll(() => {
  manifestPath = `/v1/bank-operations/${platform.aurora.platform.manifests[0]!.operationId}/manifest`;
});
beforeEach(() => platform.reset());

function get(path = manifestPath): Promise<Response> {
  const authorization = `Bearer ${platform.aurora.platform.credentials.platformJwt}`;
  return fetch(`${platform.url}${path}`, { headers: { authorization } });
}

/** Status and pointers of a control request that is refused. */
async function refusal(method: string, path: string, body: unknown): Promise<readonly unknown[]> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${platform.url}/_control/${path}`, { method, body: text });
  const { errors } = (await response.json()) as { errors: { pointer: string }[] };
  return [response.status, ...errors.map(({ pointer }) => pointer)];
}

describe('faults', () => {
  it('strike the next n calls of their operation, after those that are skipped, and no other operation; are listed while they wait, and cleared', async () => {
    await platform.fault({ operation: MANIFEST, kind: 'status', status: 502, times: 2, skip: 1 });
    expect((await get()).status).toBe(200);
    expect((await get('/extmap/v1/r90')).status).toBe(200);
    expect((await get()).status).toBe(502);
    expect(await platform.control('GET', 'faults')).toEqual({
      faults: [{ id: 1, operation: MANIFEST, kind: 'status', status: 502, times: 1, skip: 0, struck: 1 }],
    });
    expect((await get()).status).toBe(502);
    expect(await platform.control('GET', 'faults')).toEqual({ faults: [] });
    expect((await get()).status).toBe(200);
    await platform.fault({ operation: MANIFEST, kind: 'down', times: 3 });
    await platform.control('DELETE', 'faults');
    expect((await get()).status).toBe(200);
  });

  it('malformed: by turns no JSON at all, and a repeated member name', async () => {
    await platform.fault({ operation: MANIFEST, kind: 'malformed', times: 2 });
    await expect((await get()).json()).rejects.toThrow(SyntaxError);
    expect(await (await get()).text()).toMatch(/^\{"tenantId":null,"tenantId":"tenant-aurora",/);
  });

  it('duplicate_row and out_of_range: one member of a well-formed answer', async () => {
    const { members } = (await (await get()).json()) as { members: object[] };
    await platform.fault({ operation: MANIFEST, kind: 'duplicate_row', member: '/members' });
    expect(await (await get()).json()).toMatchObject({ members: [members[0], ...members] });
    const { id, path } = operations.readAttemptEvidence;
    const { tenantId, reports } = platform.aurora.platform;
    const [attempt] = reports.attempts;
    const evidencePath = path.replace('{tenantId}', tenantId).replace('{attemptId}', attempt!.attemptId);
    await platform.fault({ operation: id, kind: 'out_of_range', member: '/administeredItemCount' });
    expect(await (await get(evidencePath)).json()).toMatchObject({
      attemptId: attempt!.attemptId,
      administeredItemCount: 1e21,
    });
  });

  it('are refused with a pointer when they could never strike', async () => {
    const fault = { operation: MANIFEST, kind: 'status', times: 1 };
    const emit = { operation: 'caliper.emit_completion_or_simulation', times: 1 };
    for (const [body, pointer] of [
      [{ ...fault, operation: 'bank.unknown' }, '/operation'],
      [{ ...fault, kind: 'slow' }, '/kind'],
      [{ ...fault, times: 0 }, '/times'],
      [{ ...fault, status: 200 }, '/status'],
      [{ ...fault, extra: 1 }, ''],
      [{ ...fault, kind: 'duplicate_row' }, '/member'],
      [{ ...fault, kind: 'down', invariant: 'gap-listed-once' }, '/invariant'],
      [{ ...fault, kind: 'contradiction' }, '/invariant'],
      [{ ...fault, kind: 'contradiction', invariant: 'gap-listed-once' }, '/kind'],
      [{ ...fault, milliseconds: 5 }, '/milliseconds'],
      [{ ...fault, method: 'POST' }, '/method'],
      [{ ...fault, member: '/operationId' }, '/member'],
      [{ ...fault, kind: 'other_entity', member: '/state' }, '/member'],
      [{ ...fault, kind: 'lost_acknowledgement' }, '/kind'],
      ...['wrong_tenant', 'stale', 'other_entity', 'version_drift'].map(
        (kind) => [{ ...emit, kind }, '/kind'] as const,
      ),
    ] as const)
      expect(await refusal('POST', 'faults', body), JSON.stringify(body)).toEqual([400, pointer]);
  });
});

describe('entities', () => {
  it('gain and lose members', async () => {
    const { blueprints, bankMembers, artifacts } = platform.aurora.platform;
    const tenantId = 'tenant-aurora';
    const change = (entity: string, id: string, ...changes: object[]): Promise<unknown> =>
      platform.control('PATCH', 'entities', { tenantId, entity, id, changes });
    await change('content.blueprint', blueprints[0]!.itemId, { pointer: '/title' });
    const member = { memberId: 'm' };
    await change('content.bank_members', bankMembers[0]!.bankId, { pointer: '/data/0', value: member });
    const [artifact] = artifacts;
    await change('qti.artifact', artifact!.artifactVersionId, { pointer: '/itemRefs/0' });
    const { entities } = (await platform.state()).tenants[tenantId]!;
    expect(entities['content.blueprint']![blueprints[0]!.itemId]).not.toHaveProperty('title');
    expect(entities['content.bank_members']![bankMembers[0]!.bankId]).toMatchObject({ data: [member] });
    expect(entities['qti.artifact']![artifact!.artifactVersionId]).toEqual({
      ...artifact!,
      itemRefs: artifact!.itemRefs.slice(1),
    });
  });

  it('are not changed to what the owner could not hold: a pointer names what is wrong', async () => {
    const id = platform.aurora.platform.manifests[0]!.operationId;
    const change = { pointer: '/state', value: 'failed' };
    const sound = { tenantId: 'tenant-aurora', entity: 'bank.manifest', id, changes: [change] };
    for (const [wrong, ...expected] of [
      [{ tenantId: 'tenant-x' }, 404, '/tenantId'],
      [{ id: 'unknown' }, 404, '/id'],
      [{ entity: 'bank.thing' }, 400, '/entity'],
      [{ changes: [] }, 400, '/changes'],
      [{ changes: [{ pointer: 'state' }] }, 400, '/changes/0/pointer'],
      [{ changes: [change, { pointer: '/root/none/x', value: 1 }] }, 400, '/changes/1/pointer'],
      [{ changes: [{ pointer: '/members/99', value: {} }] }, 400, '/changes/0/pointer'],
      [{ changes: [{ pointer: '/state', value: 'odd' }] }, 400, '/changes'],
    ] as const)
      expect(await refusal('PATCH', 'entities', { ...sound, ...wrong })).toEqual(expected);
    expect(await (await get()).json()).toEqual(platform.aurora.platform.manifests[0]);
  });
});

it('refuses an unknown control path, a body that is too long or not JSON, and a clock that goes back', async () => {
  expect(await refusal('POST', 'nothing', {})).toEqual([404, '']);
  expect(await refusal('POST', 'faults', '{')).toEqual([400, '']);
  expect(await refusal('POST', 'faults', ' '.repeat(1024 * 1024 + 1))).toEqual([413, '']);
  expect(await refusal('POST', 'clock', { advanceSeconds: -1 })).toEqual([400, '/advanceSeconds']);
});

describe('what a page in a browser can send', () => {
  const status = async (path: string, method: string, headers: Record<string, string>): Promise<number> =>
    (await callRaw(platform.url, path, { method, headers: Object.entries(headers) })).status;
  const ownPort = (): string => new URL(platform.url).port;

  it('reaches neither owners nor control API under a name of its own (DNS rebinding)', async () => {
    const authorization = `Bearer ${platform.aurora.platform.credentials.platformJwt}`;
    for (const [host, expected] of [
      [`evil.example:${ownPort()}`, 421],
      [`127.0.0.1.evil.example:${ownPort()}`, 421],
      ['localhost:1', 421],
      ['localhost', 421],
      [`localhost:${ownPort()}`, 200],
      [`[::1]:${ownPort()}`, 200],
    ] as const) {
      expect(await status('/_control/state', 'GET', { host }), host).toBe(expected);
      expect(await status('/_control/reset', 'POST', { host }), host).toBe(expected);
      expect(await status(manifestPath, 'GET', { host, authorization }), host).toBe(expected);
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
    expect(await platform.control('GET', 'faults')).toMatchObject({ faults: [{ kind: 'down' }] });
    expect(await status('/_control/faults', 'DELETE', { origin: platform.url })).toBe(200);
  });
});
