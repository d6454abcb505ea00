import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { SeededTenant } from '#local/seeds/instantiate.ts';
import { startTestPlatform } from '#test/support/platform.ts';
import type { TestPlatform } from '#test/support/platform.ts';

const START = Date.parse('2026-03-01T10:00:00.000Z');

let platform: TestPlatform;
let aurora: SeededTenant;
let borealis: SeededTenant;

beforeAll(async () => {
  platform = await startTestPlatform({
    clock: () => START,
    verifyClientToken: (token) => Promise.resolve(token === 'client-of-aurora' ? 'tenant-aurora' : undefined),
  });
  ({ aurora, borealis } = platform);
});
afterAll(() => platform.close());
beforeEach(() => platform.reset());

interface CallOptions {
  readonly seeded?: SeededTenant;
  readonly token?: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls a row of the operations over HTTP. */
function call(
  row: { readonly method: string; readonly path: string },
  { seeded = aurora, path = {}, query = '', body, headers = {}, ...rest }: CallOptions = {},
): Promise<Response> {
  const values: Readonly<Record<string, string>> = { tenantId: seeded.tenantId, ...path };
  const url = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));
  return fetch(`${platform.url}${url}${query}`, {
    method: row.method,
    headers: {
      authorization: `Bearer ${rest.token ?? seeded.platform.credentials.platformJwt}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** The answer by the operation's own schema, of the expected status. */
async function read<Answer extends z.ZodType>(
  row: { readonly answer: Answer },
  response: Response,
  status = 200,
): Promise<z.output<Answer>> {
  const text = await response.text();
  expect(response.status, text).toBe(status);
  return row.answer.parse(JSON.parse(text));
}

function bankOf(seeded: SeededTenant) {
  return seeded.fixtures.mastery.banks[0]!;
}

function offerBody(
  seeded: SeededTenant,
  at: number,
  candidateRef = 'candidate-1',
  more: { readonly runTag?: string } = {},
) {
  const manifest = seeded.platform.manifests[0]!;
  const member = manifest.members![at]!;
  return {
    candidateRef,
    rootArtifactVersionId: member.artifactVersionId,
    deliverySnapshot: {
      poolArtifactVersionId: manifest.root!.artifactVersionId,
      packageId: manifest.root!.packageId,
      packageHash: manifest.root!.packageHash,
      qtiIdentifier: member.qtiIdentifier,
      sequence: 1,
      ...more,
    },
  };
}

const offer = (key: string, body: unknown, seeded = aurora): Promise<Response> =>
  call(operations.offerSelectedItem, { seeded, body, headers: { 'idempotency-key': key } });

async function offered(key: string, at = 0, seeded = aurora): Promise<string> {
  const response = await offer(key, offerBody(seeded, at), seeded);
  return (await read(operations.offerSelectedItem, response, 201)).deliverySessionId;
}

function resultBody(seeded: SeededTenant, sessions: readonly string[] = []) {
  const { testSpecId, testBankId, bankOperationId, selectionPolicyId, scaleCalibrationId } = bankOf(seeded);
  return {
    producerResultId: 'producer-1',
    studentId: seeded.fixtures.mastery.resultsStudentId,
    testSpecId,
    testBankId,
    bankOperationId,
    selectionPolicyId,
    scaleCalibrationId,
    scale: { scaleId: 'scale', scaleScore: 500, standardError: 20 },
    stopReason: 'max_items',
    administeredItemCount: sessions.length,
    deliverySessionIds: sessions,
    scoredAt: '2026-03-01T10:00:00.000Z',
  };
}

function componentsBody(seeded: SeededTenant, resultRecordId: string) {
  const { kcGuids, selectionPolicyId, scaleCalibrationId } = bankOf(seeded);
  return {
    resultRecordId,
    components: kcGuids.map((guid, at) => ({
      componentId: `component-${at}`,
      caseCompetencyGuid: guid,
      classification: 'mastered',
      posteriorProbability: 0.9,
      evidenceItemRefs: ['item'],
      selectionPolicyId,
      scaleCalibrationId,
    })),
  };
}

const EVENT_ID = 'urn:uuid:0a6d4c51-3f1e-8c0a-9b7a-000000000001';
function envelope(changes: Readonly<Record<string, unknown>> = {}) {
  return {
    sensor: 'https://mastery.example/sensor',
    sendTime: '2026-03-01T10:00:00.000Z',
    dataVersion: CALIPER_CONTEXT,
    data: [
      {
        '@context': CALIPER_CONTEXT,
        id: EVENT_ID,
        type: 'Event',
        profile: 'GeneralProfile',
        actor: { id: 'https://mastery.example/engine', type: 'SoftwareApplication' },
        action: 'Completed',
        object: { id: 'https://mastery.example/bank', type: 'Assessment' },
        eventTime: '2026-03-01T10:00:00.000Z',
        ...changes,
      },
    ],
  };
}
const emit = (body: unknown, seeded = aurora): Promise<Response> =>
  call(operations.emitEvent, { seeded, body });
const readEvent = (seeded = aurora): Promise<Response> =>
  call(operations.readEvidenceAck, { seeded, query: `?eventIri=${encodeURIComponent(EVENT_ID)}` });

/** The reads whose answers do not depend on what has been written. */
function versionedReads(
  seeded: SeededTenant,
): readonly (readonly [UpstreamOperation, Readonly<Record<string, string>>])[] {
  const bank = bankOf(seeded);
  const root = seeded.platform.manifests[0]!.root!;
  return [
    [operations.readTestSpec, { testSpecId: bank.testSpecId }],
    [operations.validateAdaptiveBankIdentity, { testBankId: bank.testBankId }],
    [operations.readAdaptivePoolRoot, { artifactVersionId: root.artifactVersionId }],
    [operations.readAdaptivePoolManifest, { operationId: bank.bankOperationId }],
    [operations.resolveMapping, { sourcedId: bank.kcGuids[0]! }],
    [operations.verifyAnchor, {}],
  ];
}

describe('reads', () => {
  it('refuse an unknown, absent or empty query parameter, a malformed path, an unserved method and an unknown path', async () => {
    expect((await call(operations.verifyAnchor, { query: '?rank=1' })).status).toBe(400);
    expect((await call(operations.readEvidenceAck)).status).toBe(400);
    expect((await call(operations.readEvidenceAck, { query: '?eventIri=' })).status).toBe(400);
    expect((await call({ method: 'GET', path: '/ims/case/v1p1/CFItems/%E0%A4%A' })).status).toBe(400);
    const unserved = await call({ method: 'DELETE', path: '/extmap/v1/r90' });
    expect([unserved.status, unserved.headers.get('allow')]).toEqual([405, 'GET']);
    expect((await call({ method: 'GET', path: '/extmap/v2' })).status).toBe(404);
  });
});

describe('credentials and tenants', () => {
  it('an absent or unknown token is 401', async () => {
    for (const authorization of ['', 'Bearer nobody', 'Basic YTpi']) {
      const response = await call(operations.verifyAnchor, { headers: { authorization } });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('a tenant sees nothing of the other one, in both directions', async () => {
    for (const [own, other] of [
      [aurora, borealis],
      [borealis, aurora],
    ] as const) {
      const token = own.platform.credentials.platformJwt;
      for (const [row, path] of versionedReads(other)) {
        if (Object.keys(path).length === 0) continue;
        // The other's id under the own tenant, and the other's whole path under the own token.
        expect((await call(row, { seeded: own, path })).status).toBe(404);
        expect((await call(row, { seeded: other, token, path })).status).toBe(404);
      }
      expect((await offer('key', offerBody(other, 0), own)).status).toBe(422);
      expect(
        (await call(operations.writeResultRecord, { seeded: own, body: resultBody(other) })).status,
      ).toBe(404);
    }
  });

  it('sessions, records and events of one tenant do not exist for the other', async () => {
    const session = await offered('key');
    expect((await platform.score('tenant-borealis', session, 1)).status).toBe(404);
    await emit(envelope());
    expect((await readEvent(borealis)).status).toBe(404);
    const written = await call(operations.writeResultRecord, { body: resultBody(aurora) });
    const { resultRecordId } = await read(operations.writeResultRecord, written, 201);
    const foreign = await call(operations.writeKcComponents, {
      seeded: borealis,
      path: { resultRecordId },
      body: componentsBody(borealis, resultRecordId),
    });
    expect(foreign.status).toBe(404);
    // The same key and the same event id are free in the other tenant.
    expect((await offer('key', offerBody(borealis, 0), borealis)).status).toBe(201);
    expect((await emit(envelope({ action: 'Viewed' }), borealis)).status).toBe(200);
  });

  it('the player’s token posts attempts and nothing else, the profile’s token everything but attempts', async () => {
    const session = await offered('key');
    const attempts = { method: 'POST', path: '/tenants/{tenantId}/qti/delivery-sessions/{id}/attempts' };
    const body = { outcomes: { SCORE: 1 } };
    const path = { id: session };
    const token = aurora.platform.credentials.playerToken;
    expect((await call(operations.verifyAnchor, { token })).status).toBe(403);
    expect((await call(attempts, { path, body })).status).toBe(403);
    expect((await call(attempts, { path, body, token })).status).toBe(201);
    expect((await call(attempts, { path, body, token: 'client-of-aurora' })).status).toBe(201);
    expect((await call(operations.verifyAnchor, { token: 'client-of-aurora' })).status).toBe(403);
    expect((await call(attempts, { seeded: borealis, path, body, token: 'client-of-aurora' })).status).toBe(
      404,
    );
    expect((await call(attempts, { path, body, token: 'client-of-nobody' })).status).toBe(401);
  });
});

describe('delivery sessions', () => {
  it('of two runs of a candidate stand side by side, and are returned with their tags, where QTI knows tags', async () => {
    const send = (key: string, at: number, runTag: string) =>
      offer(key, offerBody(aurora, at, 'candidate-1', { runTag }));
    const tags = async () => {
      const path = { candidateRef: 'candidate-1' };
      const { sessions } = await read(
        operations.readCandidateRuntime,
        await call(operations.readCandidateRuntime, { path }),
      );
      return sessions.map(({ deliverySnapshot }) => deliverySnapshot?.runTag);
    };
    const statuses = async (key: string) => [
      (await send(`${key}-1`, 0, 'tag-1')).status,
      (await send(`${key}-2`, 1, 'tag-2')).status,
      (await send(`${key}-3`, 2, 'tag-1')).status,
      (await offer(`${key}-4`, offerBody(aurora, 3))).status,
      (await offer(`${key}-5`, offerBody(aurora, 4))).status,
    ];
    expect(await statuses('new')).toEqual([201, 201, 409, 201, 409]);
    expect(await tags()).toEqual(['tag-1', 'tag-2', undefined]);
    await platform.reset();
    await platform.control('POST', 'qti', { tenantId: 'tenant-aurora', runTags: false });
    expect(await statuses('old')).toEqual([201, 409, 409, 409, 409]);
    expect(await tags()).toEqual([undefined]);
  });

  it('another body under the same key, and a second open session of the candidate, are 409', async () => {
    const session = await offered('key');
    expect((await offer('key', offerBody(aurora, 1))).status).toBe(409);
    expect((await offer('other', offerBody(aurora, 1))).status).toBe(409);
    expect((await offer('third', offerBody(aurora, 1, 'candidate-2'))).status).toBe(201);
    await platform.score('tenant-aurora', session, 0);
    expect((await offer('other', offerBody(aurora, 1))).status).toBe(201);
  });

  it('what is not the pool’s own item is refused, as is a missing key or an undeclared member', async () => {
    const body = offerBody(aurora, 0);
    const snapshot = body.deliverySnapshot;
    const bodies = [
      { ...body, rootArtifactVersionId: 'unknown' },
      { ...body, rootArtifactVersionId: aurora.platform.manifests[1]!.members![0]!.artifactVersionId },
      { ...body, deliverySnapshot: { ...snapshot, poolArtifactVersionId: body.rootArtifactVersionId } },
      { ...body, deliverySnapshot: { ...snapshot, packageId: 'other' } },
      { ...body, deliverySnapshot: { ...snapshot, packageHash: 'a'.repeat(64) } },
      { ...body, deliverySnapshot: { ...snapshot, qtiIdentifier: 'other' } },
    ];
    for (const [at, wrong] of bodies.entries()) expect((await offer(`key-${at}`, wrong)).status).toBe(422);
    expect((await offer('key', { ...body, studentName: 'A' })).status).toBe(400);
    expect((await call(operations.offerSelectedItem, { body })).status).toBe(400);
    expect((await platform.state()).counts['qti.session']).toBe(0);
  });
});

describe('results', () => {
  const write = (body: unknown): Promise<Response> => call(operations.writeResultRecord, { body });

  it('a record about anything but the tenant’s own test, student and sessions is refused', async () => {
    const body = resultBody(aurora);
    expect((await write({ ...body, studentId: 'nobody' })).status).toBe(404);
    for (const change of [
      { testSpecId: 'unknown' },
      { testBankId: 'unknown' },
      { bankOperationId: aurora.fixtures.mastery.banks[3]!.bankOperationId },
      { deliverySessionIds: ['unknown'] },
    ]) {
      expect((await write({ ...body, ...change })).status).toBe(422);
    }
    expect((await write({ ...body, rank: 3 })).status).toBe(400);
    expect((await platform.state()).counts['results.record']).toBe(0);
  });
});

describe('Caliper', () => {
  it('a malformed envelope is 400, another data version 422, another media type 415; nothing of it is stored', async () => {
    for (const body of [
      {},
      [],
      { ...envelope(), extra: 1 },
      { ...envelope(), data: [] },
      { ...envelope(), sendTime: '2026-03-01T10:00:00Z' },
      envelope({ id: 'urn:uuid:1' }),
      envelope({ type: 'GradeEvent' }),
      envelope({ type: 'GradeEvent', action: 'Graded' }),
    ]) {
      expect((await emit(body)).status).toBe(400);
    }
    const mixed = { ...envelope(), data: [...envelope().data, ...envelope({ action: 'Viewed' }).data] };
    expect((await emit(mixed)).status).toBe(409);
    expect(
      (await emit({ ...envelope(), dataVersion: 'http://purl.imsglobal.org/ctx/caliper/v1p1' })).status,
    ).toBe(422);
    const text = await call(operations.emitEvent, {
      body: envelope(),
      headers: { 'content-type': 'text/plain' },
    });
    expect(text.status).toBe(415);
    expect((await platform.state()).counts['caliper.event']).toBe(0);
  });
});
