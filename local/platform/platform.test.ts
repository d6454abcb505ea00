import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import { allOperations } from '#shared/platform/all-operations.ts';
import * as operations from '#shared/platform/operations.ts';
import { ownerRoutes } from '#local/platform/routes.ts';
import type { SeededTenant } from '#local/seeds/instantiate.ts';
import { duringTests } from '#test/support/lazily.ts';
import { startTestPlatform } from '#test/support/platform.ts';

const platform = duringTests(() =>
  startTestPlatform({
    verifyClientToken: (token) => Promise.resolve(token === 'client-of-aurora' ? 'tenant-aurora' : undefined),
  }),
);
let aurora: SeededTenant;
let borealis: SeededTenant;
beforeAll(() => {
  ({ aurora, borealis } = platform);
});
beforeEach(() => platform.reset());

it('serves every upstream operation once, and no other path but the player’s', () => {
  const player = {
    method: 'POST',
    path: '/tenants/{tenantId}/qti/delivery-sessions/{deliverySessionId}/attempts',
  };
  const named = (rows: readonly { readonly method: string; readonly path: string }[]): readonly string[] =>
    rows.map(({ method, path }) => `${method} ${path}`).toSorted();
  expect(named(ownerRoutes)).toEqual(named([...allOperations, player]));
});

interface CallOptions {
  readonly seeded?: SeededTenant;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls a row of the operations over HTTP; with the credential of the tenant's service profile unless another is given. */
function call(
  row: { readonly method: string; readonly path: string },
  { seeded = aurora, path = {}, query = '', body, headers = {} }: CallOptions = {},
): Promise<Response> {
  const values: Readonly<Record<string, string>> = { tenantId: seeded.tenantId, ...path };
  const url = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));
  const authorization = `Bearer ${seeded.platform.credentials.platformJwt}`;
  return fetch(`${platform.url}${url}${query}`, {
    method: row.method,
    headers: { authorization, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
const statusOf = async (...args: Parameters<typeof call>): Promise<number> => (await call(...args)).status;

function offerBody({ platform: { manifests } }: SeededTenant, at = 0) {
  const { root, members } = manifests[0]!;
  const { artifactVersionId, qtiIdentifier } = members![at]!;
  const { artifactVersionId: poolArtifactVersionId, packageId, packageHash } = root!;
  return {
    candidateRef: 'candidate-1',
    rootArtifactVersionId: artifactVersionId,
    deliverySnapshot: { poolArtifactVersionId, packageId, packageHash, qtiIdentifier, sequence: 1 },
  };
}
const offer = (key: string, body: unknown, seeded = aurora): Promise<Response> =>
  call(operations.offerSelectedItem, { seeded, body, headers: { 'idempotency-key': key } });
const sessionIn = async (response: Response): Promise<string> =>
  operations.offerSelectedItem.answer.parse(await response.json()).deliverySessionId;

/** Scores a delivered item, as the player does. */
const score = (id: string, authorization: string, seeded = aurora): Promise<number> =>
  statusOf(
    { method: 'POST', path: '/tenants/{tenantId}/qti/delivery-sessions/{id}/attempts' },
    { seeded, path: { id }, body: { outcomes: { SCORE: 1 } }, headers: { authorization } },
  );

function resultBody({ fixtures: { mastery } }: SeededTenant) {
  const { testSpecId, testBankId, bankOperationId, selectionPolicyId, scaleCalibrationId } =
    mastery.banks[0]!;
  return {
    ...{ testSpecId, testBankId, bankOperationId, selectionPolicyId, scaleCalibrationId },
    producerResultId: 'producer-1',
    studentId: mastery.resultsStudentId,
    scale: { scaleId: 'scale', scaleScore: 500, standardError: 20 },
    stopReason: 'max_items',
    administeredItemCount: 0,
    deliverySessionIds: [] as string[],
    scoredAt: '2026-03-01T10:00:00.000Z',
  };
}

/** Attaches a component to a result record, as the mastery engine does. */
function attach(resultRecordId: string, seeded = aurora): Promise<number> {
  const { kcGuids, selectionPolicyId, scaleCalibrationId } = seeded.fixtures.mastery.banks[0]!;
  const component = {
    ...{ componentId: 'component-1', caseCompetencyGuid: kcGuids[0], evidenceItemRefs: ['item'] },
    ...{ classification: 'mastered', posteriorProbability: 0.9, selectionPolicyId, scaleCalibrationId },
  };
  const body = { resultRecordId, components: [component] };
  return statusOf(operations.writeKcComponents, { seeded, path: { resultRecordId }, body });
}

const EVENT_ID = 'urn:uuid:0a6d4c51-3f1e-8c0a-9b7a-000000000001';
function envelope(changes: object = {}) {
  const event = {
    '@context': CALIPER_CONTEXT,
    id: EVENT_ID,
    type: 'Event',
    profile: 'GeneralProfile',
    actor: { id: 'https://mastery.example/engine', type: 'SoftwareApplication' },
    action: 'Completed',
    object: { id: 'https://mastery.example/bank', type: 'Assessment' },
    eventTime: '2026-03-01T10:00:00.000Z',
  };
  return {
    sensor: 'https://mastery.example/sensor',
    sendTime: '2026-03-01T10:00:00.000Z',
    dataVersion: CALIPER_CONTEXT,
    data: [{ ...event, ...changes }],
  };
}

describe('credentials and tenants', () => {
  it('a tenant sees nothing of the other one, in both directions', async () => {
    const session = await sessionIn(await offer('key', offerBody(aurora)));
    const player = `Bearer ${borealis.platform.credentials.playerToken}`;
    expect(await score(session, player, borealis)).toBe(404);
    expect(await statusOf(operations.emitEvent, { body: envelope() })).toBe(200);
    const query = `?eventIri=${encodeURIComponent(EVENT_ID)}`;
    expect(await statusOf(operations.readEvidenceAck, { seeded: borealis, query })).toBe(404);
    for (const [own, other] of [
      [aurora, borealis],
      [borealis, aurora],
    ] as const) {
      const {
        testSpecId,
        testBankId,
        bankOperationId: operationId,
        kcGuids,
      } = other.fixtures.mastery.banks[0]!;
      const { artifactVersionId } = other.platform.manifests[0]!.root!;
      const authorization = `Bearer ${own.platform.credentials.platformJwt}`;
      for (const [row, path] of [
        [operations.readTestSpec, { testSpecId }],
        [operations.validateAdaptiveBankIdentity, { testBankId }],
        [operations.readAdaptivePoolRoot, { artifactVersionId }],
        [operations.readAdaptivePoolManifest, { operationId }],
        [operations.readCfItem, { sourcedId: kcGuids[0]! }],
      ] as const) {
        expect(await statusOf(row, { seeded: other, path })).toBe(200);
        // The other's id under the own tenant, and the other's whole path under the own token.
        expect(await statusOf(row, { seeded: own, path })).toBe(404);
        expect(await statusOf(row, { seeded: other, path, headers: { authorization } })).toBe(404);
      }
      expect((await offer('other', offerBody(other), own)).status).toBe(422);
      expect(await statusOf(operations.writeResultRecord, { seeded: own, body: resultBody(other) })).toBe(
        404,
      );
    }
    const written = await call(operations.writeResultRecord, { body: resultBody(aurora) });
    const { resultRecordId } = operations.writeResultRecord.answer.parse(await written.json());
    expect(await attach(resultRecordId, borealis)).toBe(404);
    expect(await attach(resultRecordId)).toBe(201);
  });

  it('the player’s token posts attempts and nothing else, the profile’s token everything but attempts', async () => {
    const session = await sessionIn(await offer('key', offerBody(aurora)));
    const scored = (authorization: string, seeded?: SeededTenant) => score(session, authorization, seeded);
    const { platformJwt, playerToken } = aurora.platform.credentials;
    for (const authorization of ['', 'Bearer nobody', 'Basic YTpi', 'Bearer client-of-nobody'])
      expect(await scored(authorization)).toBe(401);
    expect(await scored(`Bearer ${platformJwt}`)).toBe(403);
    for (const token of [playerToken, 'client-of-aurora']) {
      const headers = { authorization: `Bearer ${token}` };
      expect(await statusOf(operations.verifyAnchor, { headers })).toBe(403);
      expect(await scored(headers.authorization, borealis)).toBe(404);
      expect(await scored(headers.authorization)).toBe(201);
    }
  });
});

it('an outage comes before the work of a call, a lost acknowledgement after it; a reset undoes both', async () => {
  const start = await platform.state();
  for (const [kind, sessions, status] of [
    ['down', 0, 201],
    ['lost_acknowledgement', 1, 200],
  ] as const) {
    await platform.fault({ operation: operations.offerSelectedItem.id, kind });
    await expect(offer('key', offerBody(aurora))).rejects.toThrow();
    expect((await platform.state()).counts['qti.session']).toBe(sessions);
    expect((await offer('key', offerBody(aurora))).status).toBe(status);
    await platform.fault({ operation: operations.offerSelectedItem.id, kind });
    await platform.reset();
    expect(await platform.state()).toEqual(start);
  }
});

describe('what the owners cannot take is refused', () => {
  it('an unknown, absent or empty query parameter, a malformed path, an unserved method, an unknown path', async () => {
    expect(await statusOf(operations.verifyAnchor, { query: '?rank=1' })).toBe(400);
    expect(await statusOf(operations.readEvidenceAck)).toBe(400);
    expect(await statusOf(operations.readEvidenceAck, { query: '?eventIri=' })).toBe(400);
    expect(await statusOf({ method: 'GET', path: '/ims/case/v1p1/CFItems/%E0%A4%A' })).toBe(400);
    expect(await statusOf({ method: 'DELETE', path: '/extmap/v1/r90' })).toBe(405);
    expect(await statusOf({ method: 'GET', path: '/extmap/v2' })).toBe(404);
  });

  it('an offer of what is not the pool’s own item, without a key, or with an undeclared member', async () => {
    const body = offerBody(aurora);
    const foreign = aurora.platform.manifests[1]!.members![0]!;
    for (const [at, change] of [
      { rootArtifactVersionId: 'unknown' },
      { rootArtifactVersionId: foreign.artifactVersionId },
      ...[
        { poolArtifactVersionId: body.rootArtifactVersionId },
        { packageId: 'other' },
        { packageHash: 'a'.repeat(64) },
        { qtiIdentifier: 'other' },
      ].map((wrong) => ({ deliverySnapshot: { ...body.deliverySnapshot, ...wrong } })),
    ].entries())
      expect((await offer(`key-${at}`, { ...body, ...change })).status).toBe(422);
    expect((await offer('key', { ...body, studentName: 'A' })).status).toBe(400);
    expect(await statusOf(operations.offerSelectedItem, { body })).toBe(400);
    expect((await platform.state()).counts['qti.session']).toBe(0);
  });

  it('another offer under the same key, and a second open session of the candidate', async () => {
    const session = await sessionIn(await offer('key', offerBody(aurora)));
    expect((await offer('key', offerBody(aurora, 1))).status).toBe(409);
    expect((await offer('other', offerBody(aurora, 1))).status).toBe(409);
    expect(await score(session, `Bearer ${aurora.platform.credentials.playerToken}`)).toBe(201);
    expect((await offer('other', offerBody(aurora, 1))).status).toBe(201);
  });

  it('a record about anything but the tenant’s own test, student and sessions', async () => {
    for (const [change, status] of [
      [{ studentId: 'nobody' }, 404],
      [{ testSpecId: 'unknown' }, 422],
      [{ testBankId: 'unknown' }, 422],
      [{ bankOperationId: aurora.fixtures.mastery.banks[3]!.bankOperationId }, 422],
      [{ deliverySessionIds: ['unknown'] }, 422],
      [{ rank: 3 }, 400],
    ] as const)
      expect(
        await statusOf(operations.writeResultRecord, { body: { ...resultBody(aurora), ...change } }),
      ).toBe(status);
    expect((await platform.state()).counts['results.record']).toBe(0);
  });

  it('a malformed envelope, another event under the same id, another data version, another media type', async () => {
    const both = [...envelope().data, ...envelope({ action: 'Viewed' }).data];
    for (const [body, status] of [
      [{}, 400],
      [[], 400],
      [{ ...envelope(), extra: 1 }, 400],
      [{ ...envelope(), data: [] }, 400],
      [{ ...envelope(), sendTime: '2026-03-01T10:00:00Z' }, 400],
      [envelope({ id: 'urn:uuid:1' }), 400],
      [envelope({ type: 'GradeEvent' }), 400],
      [envelope({ type: 'GradeEvent', action: 'Graded' }), 400],
      [{ ...envelope(), data: both }, 409],
      [{ ...envelope(), dataVersion: 'http://purl.imsglobal.org/ctx/caliper/v1p1' }, 422],
    ] as const)
      expect(await statusOf(operations.emitEvent, { body })).toBe(status);
    const headers = { 'content-type': 'text/plain' };
    expect(await statusOf(operations.emitEvent, { body: envelope(), headers })).toBe(415);
    expect((await platform.state()).counts['caliper.event']).toBe(0);
  });
});
