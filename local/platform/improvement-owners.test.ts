import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { RevisionOrderAck, RevisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import type { SeededTenant } from '#local/seeds/instantiate.ts';
import { startTestPlatform } from '#test/support/platform.ts';
import type { TestPlatform } from '#test/support/platform.ts';
import { faultKinds } from './faults.ts';
import { itemId } from './form-items.ts';

let platform: TestPlatform;
let aurora: SeededTenant;
beforeAll(async () => {
  platform = await startTestPlatform({ clock: () => Date.parse('2026-06-01T10:00:00.000Z') });
  ({ aurora } = platform);
});
afterAll(() => platform.close());
beforeEach(() => platform.reset());

interface Asked {
  readonly path: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}
interface Sent {
  readonly seeded?: SeededTenant;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function call(row: UpstreamOperation, { path, query = {} }: Asked, sent: Sent = {}): Promise<Response> {
  const { seeded = aurora, headers = {}, body } = sent;
  const values: Readonly<Record<string, string>> = { tenantId: seeded.tenantId, ...path };
  const url = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));
  const search = new URLSearchParams(query).toString();
  return fetch(`${platform.url}${url}${search === '' ? '' : `?${search}`}`, {
    method: row.method,
    headers: {
      authorization: `Bearer ${seeded.platform.credentials.platformJwt}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function textOf(response: Response, status = 200): Promise<string> {
  const text = await response.text();
  expect(response.status, text).toBe(status);
  return text;
}

function administrationOf(seeded: SeededTenant, id = seeded.fixtures.reports.administrations[0]!) {
  return seeded.platform.reports.administrations.find(({ administrationId }) => administrationId === id)!;
}

function sourcesOf(seeded: SeededTenant, administrationId?: string): Asked {
  const { contentTestSpecId, contentTestSpecVersion } = administrationOf(seeded, administrationId);
  return { path: { testSpecId: contentTestSpecId }, query: { version: contentTestSpecVersion } };
}

async function readSources(seeded = aurora, administrationId?: string) {
  const asked = sourcesOf(seeded, administrationId);
  return operations.readAlignmentSources.answer.parse(
    JSON.parse(await textOf(await call(operations.readAlignmentSources, asked, { seeded }))),
  );
}

async function readAnalysis(administrationId: string, seeded = aurora) {
  const response = await call(
    operations.readAdministrationAnalysis,
    { path: { administrationId } },
    { seeded },
  );
  return operations.readAdministrationAnalysis.answer.parse(JSON.parse(await textOf(response)));
}

const crosswalkAsked = async (seeded = aurora): Promise<Asked> => {
  const { path, query } = sourcesOf(seeded);
  const { sources } = await readSources(seeded);
  return { path: { ...path, crosswalkId: sources[0]!.crosswalkId }, query: query! };
};
const artifactAsked = async (seeded = aurora): Promise<Asked> => {
  const { metrics } = await readAnalysis(seeded.fixtures.reports.administrations[0]!, seeded);
  return { path: { artifactRef: metrics[0]!.artifact!.artifactRef } };
};

/** The reads of what never changes under its id, each with the entity that it answers. */
const immutable = [
  [
    operations.readAlignmentSources,
    (seeded?: SeededTenant) => Promise.resolve(sourcesOf(seeded ?? aurora)),
    'content.alignment_sources',
    'testSpecId',
    '/sources/0/sourceVersion',
  ],
  [
    operations.readAlignmentCrosswalk,
    crosswalkAsked,
    'content.alignment_crosswalk',
    'crosswalkId',
    '/requirements/0/sourceRequirementId',
  ],
  [
    operations.readAnalysisArtifact,
    artifactAsked,
    'analytics.artifact',
    'artifactRef',
    '/rows/0/measures/0/name',
  ],
] as const;

describe.each(immutable.map((read) => [read[0].id, ...read] as const))(
  '%s',
  (_, row, good, kind, idName, pointer) => {
    it('answers by its own schema, with a strong ETag that a conditional read confirms', async () => {
      const asked = await good();
      const response = await call(row, asked);
      const etag = response.headers.get('etag')!;
      expect(isStrongEntityTag(etag)).toBe(true);
      const answer: unknown = JSON.parse(await textOf(response));
      expect(row.answer.parse(answer)).toEqual(answer);
      const confirmed = await call(row, asked, { headers: { 'if-none-match': etag } });
      expect([confirmed.status, await confirmed.text()]).toEqual([304, '']);
    });

    it('has nothing of another tenant, and nothing under an unknown id', async () => {
      const asked = await good();
      const foreign = await call(row, asked, { seeded: platform.borealis });
      expect(foreign.status).toBe(404);
      const unknown = { ...asked, path: { ...asked.path, [idName]: 'unknown' } };
      expect((await call(row, unknown)).status).toBe(404);
    });

    it.each(['version_drift', 'stale'])('is other bytes under the same ids once: %s', async (fault) => {
      const asked = await good();
      const before = await textOf(await call(row, asked));
      await platform.fault({ operation: row.id, kind: fault });
      const other = await textOf(await call(row, asked));
      expect(other).not.toBe(before);
      const ids = (text: string): unknown => (JSON.parse(text) as Record<string, unknown>)[idName];
      expect(ids(other)).toBe(ids(before));
      expect(() => row.answer.parse(JSON.parse(other)) as unknown).not.toThrow();
      expect(await textOf(await call(row, asked))).toBe(before);
    });

    it('is about another tenant under a fault', async () => {
      await platform.fault({ operation: row.id, kind: 'wrong_tenant' });
      const answer = JSON.parse(await textOf(await call(row, await good()))) as Record<string, unknown>;
      expect(answer['tenantId']).toBe('tenant-borealis');
    });

    it('is changed by the control API, and answered with another ETag', async () => {
      const asked = await good();
      const before = await call(row, asked);
      await platform.change('tenant-aurora', kind, asked.path[idName]!, pointer, 'changed');
      const after = await call(row, asked);
      expect(sha256Hex(await after.text())).not.toBe(sha256Hex(await before.text()));
      expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    });
  },
);

describe('the digests in what owners list', () => {
  const artifact = async (artifactRef: string, seeded: SeededTenant): Promise<string> =>
    textOf(await call(operations.readAnalysisArtifact, { path: { artifactRef } }, { seeded }));

  it.each(['tenant-aurora', 'tenant-borealis'])('are of the bytes that they answer: %s', async (tenantId) => {
    const seeded = platform.seededTenants[tenantId]!;
    let read = 0;
    for (const analysis of seeded.platform.reports.analyses) {
      const { metrics, comparisons } = await readAnalysis(analysis.administrationId, seeded);
      for (const { artifact: pin } of [...metrics, ...comparisons]) {
        if (pin === null) continue;
        expect(sha256Hex(await artifact(pin.artifactRef, seeded))).toBe(pin.sha256);
        read += 1;
      }
    }
    expect(read).toBeGreaterThan(30);
    for (const { testSpecId, testSpecVersion, sources } of seeded.platform.reports.alignmentSources) {
      for (const { crosswalkId, sha256 } of sources) {
        const asked = { path: { testSpecId, crosswalkId }, query: { version: testSpecVersion } };
        const response = await call(operations.readAlignmentCrosswalk, asked, { seeded });
        expect(sha256Hex(await textOf(response))).toBe(sha256);
      }
    }
  });

  it('are of what is generated, too, whenever it is asked for', async () => {
    const large = aurora.fixtures.reports.special.administrations['large-sitting']!;
    const { path, query } = sourcesOf(aurora, large);
    const { sources } = await readSources(aurora, large);
    expect(sources).toHaveLength(50);
    expect(new Set(sources.map(({ sourceKey }) => sourceKey)).size).toBe(50);
    for (const at of [0, 1, 49]) {
      const { crosswalkId, sha256, sourceKey } = sources[at]!;
      const asked = { path: { ...path, crosswalkId }, query: query! };
      const text = await textOf(await call(operations.readAlignmentCrosswalk, asked));
      expect(sha256Hex(text)).toBe(sha256);
      const crosswalk = operations.readAlignmentCrosswalk.answer.parse(JSON.parse(text));
      expect(crosswalk.sourceKey).toBe(sourceKey);
      expect(crosswalk.requirements).toHaveLength(10_000);
      const ids = crosswalk.requirements.map(({ sourceRequirementId }) => sourceRequirementId);
      expect(new Set(ids).size).toBe(10_000);
    }
    const rows: number[] = [];
    for (const { artifact: pin } of (await readAnalysis(large)).metrics) {
      const text = await artifact(pin!.artifactRef, aurora);
      expect(sha256Hex(text)).toBe(pin!.sha256);
      const parsed = operations.readAnalysisArtifact.answer.parse(JSON.parse(text));
      rows.push(parsed.kind === 'metric' ? parsed.rows.length : 0);
    }
    expect(rows).toEqual([2000, 2000, 2000, 1]);
    const { counts } = (await platform.state()).tenants['tenant-aurora']!;
    expect(counts['content.alignment_crosswalk']).toBe(
      aurora.platform.reports.alignmentSources.flatMap((set) => set.sources).length,
    );
  });

  it('stay when an artifact is changed: it no longer fits', async () => {
    const [administrationId = ''] = aurora.fixtures.reports.administrations;
    const { artifactRef, sha256 } = (await readAnalysis(administrationId)).metrics[0]!.artifact!;
    await platform.change('tenant-aurora', 'analytics.artifact', artifactRef, '/sampleCount', 23);
    expect((await readAnalysis(administrationId)).metrics[0]!.artifact).toEqual({ artifactRef, sha256 });
    expect(sha256Hex(await artifact(artifactRef, aurora))).not.toBe(sha256);
  });

  it('follow a later analysis once it is published', async () => {
    const [administrationId = ''] = aurora.fixtures.reports.administrations;
    const before = await readAnalysis(administrationId);
    const [later] = aurora.platform.reports.laterAnalyses.get(administrationId)!;
    for (const member of ['version', 'metrics', 'comparisons'] as const)
      await platform.change(
        'tenant-aurora',
        'analytics.administration_analysis',
        administrationId,
        `/${member}`,
        later![member],
      );
    const after = await readAnalysis(administrationId);
    expect(after.version).not.toBe(before.version);
    const [was, is] = [before, after].map(({ metrics }) => metrics[1]!.artifact!);
    expect(is!.artifactRef).not.toBe(was!.artifactRef);
    for (const pin of [was!, is!])
      expect(sha256Hex(await artifact(pin.artifactRef, aurora))).toBe(pin.sha256);
  });
});

describe('Content’s alignments', () => {
  it('are of the version that is asked for, and of no other', async () => {
    const asked = await crosswalkAsked();
    for (const row of [operations.readAlignmentSources, operations.readAlignmentCrosswalk]) {
      expect((await call(row, { ...asked, query: { version: 'another' } })).status).toBe(404);
      expect((await call(row, { path: asked.path })).status).toBe(400);
    }
    const other = sourcesOf(aurora, aurora.fixtures.reports.special.administrations['nothing-trips']);
    const elsewhere = { path: { ...asked.path, ...other.path }, query: other.query! };
    expect((await call(operations.readAlignmentCrosswalk, elsewhere)).status).toBe(404);
  });

  it('keep a crosswalk of a version that has been replaced', async () => {
    const asked = await crosswalkAsked();
    const { testSpecId = '' } = asked.path;
    await platform.change(
      'tenant-aurora',
      'content.alignment_sources',
      testSpecId,
      '/testSpecVersion',
      'next',
    );
    expect((await call(operations.readAlignmentSources, asked)).status).toBe(404);
    expect((await call(operations.readAlignmentCrosswalk, asked)).status).toBe(200);
  });

  it('show a crosswalk of another version under the version of its list', async () => {
    const id = aurora.fixtures.reports.special.administrations['crosswalk-of-another-version']!;
    const { path, query } = sourcesOf(aurora, id);
    const { sources } = await readSources(aurora, id);
    const versions = await Promise.all(
      sources.map(async ({ crosswalkId }) => {
        const asked = { path: { ...path, crosswalkId }, query: query! };
        const text = await textOf(await call(operations.readAlignmentCrosswalk, asked));
        return operations.readAlignmentCrosswalk.answer.parse(JSON.parse(text)).testSpecVersion;
      }),
    );
    expect(versions.map((version) => version === query!['version'])).toEqual([true, false]);
  });
});

const receivers = [
  ['bank', operations.orderBankRevision],
  ['blueprint', operations.orderBlueprintRevision],
] as const;
type Module = (typeof receivers)[number][0];

/** An order as a run would send it, on the tenant's first administration. */
function orderOf(module: Module, seeded = aurora): RevisionOrderRequest {
  const { reports } = seeded.fixtures;
  const { administrationId, contentTestSpecId, contentTestSpecVersion } = administrationOf(seeded);
  const form = seeded.platform.reports.forms.find(
    (entity) => entity.contentTestSpecId === contentTestSpecId,
  )!;
  const analysis = seeded.platform.reports.analyses.find((one) => one.administrationId === administrationId)!;
  const { artifactRef, sha256 } = analysis.metrics[0]!.artifact!;
  const isBank = module === 'bank';
  return {
    revisionOrderId: 'order_1',
    administrationId,
    targetModule: module,
    requestedAction: isBank ? 'rotate_item' : 'repair_crosswalk',
    qtiItemId: isBank ? itemId(form.qtiTestId, 1) : null,
    qtiFormId: null,
    qtiTestId: form.qtiTestId,
    contentTestSpecId,
    contentTestSpecVersion,
    caseGuids: [],
    sourceKeys: isBank ? [] : [reports.sourceKeys[0]!],
    reasonCodes: [isBank ? 'difficulty_out_of_band' : 'blueprint_coverage_defect'],
    observedMetric: { name: 'proportion_correct', value: 0.97, unit: 'proportion' },
    threshold: { operator: 'gt', value: 0.95 },
    analysisPolicyId: reports.analysisPolicyId,
    analysisPolicyVersion: '2026.1',
    supersedesRevisionOrderId: null,
    evidence: [{ resourceId: artifactRef, sha256 }],
  };
}

describe.each(receivers)('the receiver of revision orders: %s', (module, row) => {
  const send = (order: RevisionOrderRequest, { seeded = aurora, key = order.revisionOrderId } = {}) =>
    call(row, { path: {} }, { seeded, body: order, headers: { 'idempotency-key': key } });
  const acked = async (response: Response, status = 201): Promise<RevisionOrderAck> =>
    row.answer.parse(JSON.parse(await textOf(response, status)));
  const received = async (): Promise<number> =>
    (await platform.state()).tenants['tenant-aurora']!.counts[`${module}.revision_order`]!;
  const order = (changes: Partial<RevisionOrderRequest> = {}): RevisionOrderRequest => ({
    ...orderOf(module),
    ...changes,
  });

  it('accepts an order once, and answers its repetition with the first receipt', async () => {
    const first = await acked(await send(order()));
    expect(first).toMatchObject({
      tenantId: 'tenant-aurora',
      revisionOrderId: 'order_1',
      decision: 'accepted',
      receivedAt: '2026-06-01T10:00:00.000Z',
    });
    await platform.control('POST', 'clock', { advanceSeconds: 60 });
    const again = await acked(await send(order()), 200);
    expect(again).toEqual({ ...first, decision: 'replayed' });
    expect(await received()).toBe(1);
    const { entities } = (await platform.state()).tenants['tenant-aurora']!;
    expect(entities[`${module}.revision_order`]).toEqual({ order_1: { order: order(), ack: first } });
  });

  it('gives every order and every tenant a receipt of its own, whatever it supersedes', async () => {
    const first = await acked(await send(order()));
    const next = order({ revisionOrderId: 'order_2', supersedesRevisionOrderId: 'never-delivered' });
    const second = await acked(await send(next));
    const other = await acked(await send(orderOf(module, platform.borealis), { seeded: platform.borealis }));
    expect(new Set([first.receiptId, second.receiptId, other.receiptId]).size).toBe(3);
    expect(await received()).toBe(2);
  });

  it('refuses another order under the same id', async () => {
    await acked(await send(order()));
    const other = order({ supersedesRevisionOrderId: 'order_0' });
    expect((await send(other)).status).toBe(409);
    expect(await received()).toBe(1);
  });

  it.each<[string, () => Partial<RevisionOrderRequest>]>([
    [
      'of the other module',
      () => {
        const { targetModule, requestedAction } = orderOf(module === 'bank' ? 'blueprint' : 'bank');
        return { targetModule, requestedAction };
      },
    ],
    [
      'with an action of the other module',
      () => ({ requestedAction: orderOf(module === 'bank' ? 'blueprint' : 'bank').requestedAction }),
    ],
    [
      'on an administration of another tenant',
      () => ({ administrationId: orderOf(module, platform.borealis).administrationId }),
    ],
    [
      'on another test spec',
      () => ({
        contentTestSpecId: administrationOf(
          aurora,
          aurora.fixtures.reports.special.administrations['nothing-trips'],
        ).contentTestSpecId,
      }),
    ],
    ['on an unknown form', () => ({ qtiTestId: 'unknown' })],
    ['on an unknown item', () => ({ qtiItemId: `${orderOf('bank').qtiItemId!}1` })],
    ['on an item of another tenant', () => ({ qtiItemId: orderOf('bank', platform.borealis).qtiItemId })],
    ['on an unknown source', () => ({ sourceKeys: [...aurora.fixtures.reports.sourceKeys, 'unknown'] })],
  ])('refuses an order %s', async (_, changes) => {
    expect((await send(order(changes()))).status).toBe(422);
    expect(await received()).toBe(0);
  });

  it('takes the order’s id as the key, and nothing else', async () => {
    expect((await send(order(), { key: 'another' })).status).toBe(422);
    expect((await call(row, { path: {} }, { body: order() })).status).toBe(400);
    const incomplete = { ...order(), evidence: [] };
    expect((await send(incomplete)).status).toBe(400);
    expect(await received()).toBe(0);
  });

  it('is missing until somebody brings it back', async () => {
    const { administrationId } = order();
    const set = (status: string) =>
      platform.change('tenant-aurora', `${module}.receiver`, administrationId, '/status', status);
    await set('missing');
    expect((await send(order())).status).toBe(503);
    expect(await received()).toBe(0);
    await set('available');
    await acked(await send(order()));
  });

  it('refuses an action for good, however often it is asked', async () => {
    const { administrationId, requestedAction } = order();
    await platform.change('tenant-aurora', `${module}.receiver`, administrationId, '/refuses', [
      requestedAction,
    ]);
    const first = await acked(await send(order()));
    expect(first.decision).toBe('rejected');
    expect(await acked(await send(order()), 200)).toEqual(first);
  });

  it('loses an acknowledgement, but not the order', async () => {
    await platform.fault({ operation: row.id, kind: 'lost_acknowledgement' });
    await expect(send(order())).rejects.toThrow();
    expect((await acked(await send(order()), 200)).decision).toBe('replayed');
  });

  it('acknowledges another order, and another version, under a fault', async () => {
    await platform.fault({ operation: row.id, kind: 'other_entity' });
    expect((await acked(await send(order()))).revisionOrderId).not.toBe('order_1');
    const { version } = await acked(await send(order()), 200);
    await platform.fault({ operation: row.id, kind: 'version_drift' });
    expect((await acked(await send(order()), 200)).version).not.toBe(version);
    await platform.fault({ operation: row.id, kind: 'wrong_tenant' });
    expect((await acked(await send(order()), 200)).tenantId).toBe('tenant-borealis');
  });
});

describe('the receivers of the seed', () => {
  it('are missing, and refuse, where the seed says so', () => {
    const { special, administrations } = aurora.fixtures.reports;
    const { receivers: held } = aurora.platform.reports;
    const of = (module: Module, id: string) => held[module].find((one) => one.administrationId === id);
    expect(of('blueprint', administrations[2]!)).toMatchObject({ status: 'missing' });
    expect(of('bank', administrations[2]!)).toMatchObject({ status: 'available', refuses: [] });
    const refusing = special.administrations['refused-by-bank']!;
    expect(of('bank', refusing)).toMatchObject({ refuses: ['regenerate_item'] });
  });
});

describe('faults of the improvement owners', () => {
  const reads = [operations.readAdministrationAnalysis, ...immutable.map(([row]) => row)];
  const rows: readonly UpstreamOperation[] = [...reads, ...receivers.map(([, row]) => row)];

  it.each(rows.map((row) => [row.id, row] as const))('are all there: %s', async (operation, { method }) => {
    const refused: string[] = [];
    for (const kind of faultKinds)
      await platform.fault({ operation, kind }).catch(() => {
        refused.push(kind);
      });
    expect(refused).toEqual([method === 'GET' ? 'lost_acknowledgement' : 'stale']);
  });
});
