import { paginateScan } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { paginateGetParametersByPath } from '@aws-sdk/client-ssm';
import { sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import { checkModel } from '#functions/mastery/records/check-model.ts';
import { deriveIdentity } from '#functions/mastery/run/identity.ts';
import type { ScoredOutcome } from '#functions/mastery/run/outcomes.ts';
import type { AdaptiveRunState, StopCause } from '#functions/mastery/continuation/run-state.ts';
import {
  acknowledge,
  addOffer,
  beginFinalizing,
  consumeOutcome,
  startState,
} from '#functions/mastery/run/transitions.ts';
import { sealCursor } from '#functions/reports/cursor/cursor.ts';
import { sealReceiptLink } from '#functions/reports/receipts/link.ts';
import { localBucketName, localTableName } from '#shared/stage/local-stage.ts';
import { writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { keepProof, placeOfProof } from '#shared/stores/proof-objects.ts';
import { noteChanges } from '#shared/stores/key-notes.ts';
import { tables } from '#shared/stores/tables.ts';
import { gates, provable } from '#shared/contract/gates.ts';
import type { RunMode } from '#shared/contract/mastery/adaptive-run.ts';
import type { StopReason } from '#shared/contract/stop-reason.ts';
import type { Principal } from '#shared/http/operation.ts';
import { createIdempotency } from '#shared/idempotency/idempotency.ts';
import { identifyRequest } from '#shared/idempotency/request-identity.ts';
import type { IdentifiedRequest } from '#shared/idempotency/request-identity.ts';
import { writeRunMessage } from '#shared/improvement/run-message.ts';
import type { NewOrder, RunPins, RunRecord } from '#shared/improvement/records.ts';
import { hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { initKeyRing, replaceKey, retireKeyNow, retireKeys, rotateKey } from '#shared/keys/administration.ts';
import type { KeyAdministration } from '#shared/keys/administration.ts';
import type { KeyContext } from '#shared/keys/key-record.ts';
import { keyPurposes } from '#shared/keys/key-ring.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { PROMOTE_AFTER_MS, RETIRE_AFTER_MS } from '#shared/keys/key-states.ts';
import { internalError, problem } from '#shared/problems/registry.ts';
import {
  sampleAnalysisPolicyFile,
  sampleCalibrationFile,
  samplePolicyFile,
} from '#test/support/sample-files.ts';
import {
  deprecateRecord,
  prepareAnalysisPolicy,
  prepareCalibration,
  preparePolicy,
  writeRecord,
} from '#shared/records/release.ts';
import type { PreparedRecord } from '#shared/records/release.ts';
import { formatReference, gatesPath, manifestParameter } from '#shared/release/applied-manifest.ts';
import type { ReleaseManifest } from '#shared/release/manifest.ts';
import type { ReleaseKey } from '#shared/release/release-key.ts';
import type { TestAws } from '#test/support/aws.ts';
import { improveRun } from '#test/support/improvement-facts.ts';
import { principalWith } from '#test/support/principal.ts';
import { sampleProof } from '#test/support/proof-receipt.ts';
import { receiptBytes } from '#ops/proof/receipt.ts';
import { freezeItem, openRing, openStores, STAGE, TENANT, WRITTEN_AT } from './forms.ts';
import type { FrozenCursor, FrozenForms, FrozenItem, Stores, TableName } from './forms.ts';

/** Who signs the manifest. */
export interface FrozenSigner {
  readonly key: ReleaseKey;
  /** The compact JWS of a manifest. */
  readonly sign: (manifest: ReleaseManifest) => string;
}

/**
 * Writes one of each form through the code that stores and seals today, with fixed keys, clocks and random bytes, and returns what lies in the
 * stores then. Only what has to be random differs from one call to the next: the nonces of sealed tokens.
 * @param aws an emulator without any data
 * @param observe sees the stores before they are used
 */
export async function writeForms(
  aws: TestAws,
  signer: FrozenSigner,
  observe: (stores: Stores) => Stores = (stores) => stores,
): Promise<FrozenForms> {
  const stores = observe(openStores(aws));
  const dataKeys = await writeKeyRing(stores);
  const ring = openRing(stores.keys, dataKeys, () => WRITTEN_AT);
  await writeRecords(stores);
  await writeRuns(stores);
  const requests = await writeControl(stores, ring);
  const objects = await writeObjects(aws, stores, signer);
  const parameters = await writeParameters(aws, stores, signer);
  return {
    keys: {
      note: 'Test keys. They are public and have never protected anything.',
      dataKeys,
      releaseKey: signer.key,
    },
    tokens: {
      continuations: await sealAll(
        states(await identityOf(ring)),
        async (state) => (await sealContinuation(ring, state, WRITTEN_AT)).token,
      ),
      cursors: await sealAll(cursors, async (cursor) => ({
        ...cursor,
        token: await sealCursor(ring, useOf(cursor), places[cursor.list], WRITTEN_AT),
      })),
      receiptLinks: await sealAll(
        { json: 'application/json', zip: 'application/zip' } as const,
        async (mediaType) => {
          const receipt = { tenantId: TENANT, sha256: sha256Hex('bundle'), mediaType };
          return (await sealReceiptLink(ring, 'https://reports.example/receipts', receipt, WRITTEN_AT))
            .downloadUrl;
        },
      ),
    },
    requests,
    items: Object.fromEntries(
      await Promise.all(tables.map(async ({ name }) => [name, await scan(aws.dynamo, name)] as const)),
    ) as Record<TableName, readonly FrozenItem[]>,
    objects,
    parameters,
    messages: [
      writeRunMessage({ tenantId: 'tenant-a', improvementRunId: 'run_1' }),
      writeRunMessage({ tenantId: 'ü"\\\uffff\u0000😀', improvementRunId: 'run_ß' }),
    ],
    files: { 'two-tenant-proof.json': Buffer.from(receiptBytes(sampleProof())).toString() },
  };
}

async function sealAll<T, Sealed>(
  contents: Readonly<Record<string, T>>,
  seal: (content: T) => Promise<Sealed>,
): Promise<Record<string, Sealed>> {
  const sealed: Record<string, Sealed> = {};
  for (const [name, content] of Object.entries(contents)) sealed[name] = await seal(content);
  return sealed;
}

/** Bytes that are the same at every call: as many as wanted of the digests of a text. */
function fixedBytes(text: string, length: number): Uint8Array {
  return new Uint8Array(Buffer.from(sha256Hex(text), 'hex').subarray(0, length));
}

// --- Key ring -------------------------------------------------------------------------------------------------------------------------

/** Every purpose has keys in every state: k1 retired, k2 opening, k3 active, k4 pending. */
async function writeKeyRing({ keys, retired }: Stores): Promise<FrozenForms['keys']['dataKeys']> {
  const dataKeys: { context: KeyContext; wrapped: string; key: string }[] = [];
  let now = WRITTEN_AT - 3 * RETIRE_AFTER_MS;
  const administration: KeyAdministration = {
    settings: noteChanges(keys, retired),
    kms: {
      make: (context) => {
        const name = [context.stage, context.purpose, context.kid].join(' ');
        const wrapped = fixedBytes(`wrapped ${name}`, 32);
        dataKeys.push({
          context,
          wrapped: Buffer.from(wrapped).toString('base64'),
          key: Buffer.from(fixedBytes(`test key ${name}`, 32)).toString('base64'),
        });
        return Promise.resolve(wrapped);
      },
    },
    stage: STAGE,
    clock: () => now,
  };
  const began = now;
  await initKeyRing(administration);
  for (const purpose of keyPurposes) {
    now = began;
    // k2 takes over at once, from a k1 that has leaked …
    demand(await replaceKey(administration, purpose));
    demand(await retireKeyNow(administration, purpose, 'k1'));
    // … k3 by the schedule …
    demand(await rotateKey(administration, purpose));
    now += PROMOTE_AFTER_MS;
    demand(await rotateKey(administration, purpose));
    demand(await retireKeys(administration, purpose));
    // … and k4 waits.
    now += 1;
    demand(await rotateKey(administration, purpose));
  }
  return dataKeys;
}

function demand<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

// --- Continuations --------------------------------------------------------------------------------------------------------------------

const runControl = { operationId: 'op_AAAAAAAAAAAAAAAAAAAAAA', createdAt: WRITTEN_AT - 1_234 };

async function identityOf(ring: KeyRing) {
  const request = { resultsStudentId: 'student-ü', testBankId: 'bank-1' };
  return deriveIdentity(ring, TENANT, runControl, request, { eligibilityRules: { priorUse: 'avoid' } });
}

/** An adaptive run in every phase, in both modes. */
function states(identity: Awaited<ReturnType<typeof identityOf>>): Record<string, AdaptiveRunState> {
  const begin = (runMode: RunMode): AdaptiveRunState =>
    addOffer(
      startState(
        TENANT,
        {
          selectionPolicyId: 'fractions-policy-7',
          scaleCalibrationId: 'fractions-2026.1',
          testSpecId: 'spec-1',
          testBankId: 'bank-1',
          bankOperationId: 'bank-operation-1',
          runMode,
          ...(runMode === 'production_learner' ? { resultsStudentId: 'student-ü' } : {}),
        },
        identity,
        {
          testSpecId: 'spec-1',
          testSpecHash: sha256Hex('spec'),
          testBankId: 'bank-1',
          testBankIdentityHash: sha256Hex('bank'),
          bankOperationId: 'bank-operation-1',
          qtiPoolPackageId: 'package-1',
          qtiPoolArtifactId: 'artifact-1',
          qtiPoolArtifactVersionId: 'artifact-version-1',
          qtiPoolPackageHash: sha256Hex('package'),
          qtiPoolEtag: '"etag-\\-of-the-pool"',
          resolvedPoolHash: sha256Hex('pool'),
        },
        { selectionPolicy: sha256Hex('policy'), scaleCalibration: sha256Hex('calibration') },
      ),
      offer(1),
    );
  const offer = (sequence: number) => ({
    deliverySessionId: `session-${sequence}`,
    artifactVersionId: `av-${sequence}`,
  });
  const outcome = (sequence: number): ScoredOutcome => ({
    sequence,
    artifactVersionId: `av-${sequence}`,
    attemptId: `attempt-${sequence}`,
    attemptNumber: 1,
    correct: sequence % 2 === 1,
    scoredAt: `2026-01-31T09:2${sequence}:00.000Z`,
    scoredAtMs: Date.parse(`2026-01-31T09:2${sequence}:00.000Z`),
    traceRef: `trace-${sequence}`,
    handedInMs: Date.parse(`2026-01-31T09:2${sequence}:00.000Z`),
  });
  const first = (state: AdaptiveRunState) => consumeOutcome(state, [], outcome(1));
  const both = (state: AdaptiveRunState) => {
    const { state: one, outcomes } = first(state);
    return consumeOutcome(addOffer(one, offer(2)), outcomes, outcome(2)).state;
  };
  const stop = (state: AdaptiveRunState, reason: StopReason, cause: StopCause = reason) =>
    beginFinalizing(both(state), { reason, cause });
  const timed = (state: AdaptiveRunState): AdaptiveRunState => ({
    ...state,
    clockStart: state.startedAt + 321,
  });
  const conformance = timed(begin('owner_conformance'));
  const learner = timed(begin('production_learner'));
  const event = { caliperEventIri: 'urn:uuid:9d2c5a34-6f27-8a43-9c2d-36b0c1c5a5ce' };
  const record = { resultRecordId: 'result-record-1' };
  const components = { componentsAcknowledged: true } as const;
  return {
    'conformance, first item offered': conformance,
    'conformance, one outcome consumed': addOffer(first(conformance).state, offer(2)),
    'conformance, stopped': stop(conformance, 'max_items'),
    'conformance, pool exhausted': stop(conformance, 'max_items', 'pool_exhausted'),
    'conformance, content maxima reached': stop(conformance, 'max_items', 'content_maxima'),
    'conformance, component limit reached': stop(conformance, 'max_items', 'component_limit'),
    'conformance, no informative item': stop(conformance, 'max_items', 'no_informative_item'),
    'conformance, completed': acknowledge(stop(conformance, 'time_budget'), event),
    'learner, first item offered': learner,
    'learner, two outcomes consumed': addOffer(both(learner), offer(3)),
    'learner, stopped': stop(learner, 'classifications_complete'),
    'learner, record acknowledged': acknowledge(stop(learner, 'precision_target_met'), record),
    'learner, components acknowledged': acknowledge(stop(learner, 'max_items'), { ...record, ...components }),
    'learner, completed': acknowledge(stop(learner, 'max_items'), { ...record, ...components, ...event }),
  };
}

// --- Cursors --------------------------------------------------------------------------------------------------------------------------

/** Names no candidate: the list then ends at the claims, which are looked at after the cursor. */
const caller: Principal = principalWith({
  tenantId: TENANT,
  scopes: ['reports:read'],
  classSourcedIds: ['class-2', 'class-1', 'class-2'],
});

const places = {
  listCandidateReports: { modifiedAt: '2026-01-30T08:00:00.123456Z', attemptId: 'attempt ü\u0000/1' },
  listRevisionOrders: { revisionOrderId: 'order_2c4f' },
} as const satisfies Record<FrozenCursor['list'], Readonly<Record<string, string>>>;

const candidates = {
  list: 'listCandidateReports',
  path: { candidateSourcedId: 'candidate-ü' },
  principal: caller,
  keyset: ['modifiedAt', 'attemptId'],
} as const;
const orders = {
  list: 'listRevisionOrders',
  path: { improvementRunId: 'run_1' },
  principal: caller,
  keyset: ['revisionOrderId'],
} as const;

/** Each list without and with every filter. */
const cursors: Record<string, Omit<FrozenCursor, 'token'>> = {
  'candidates, without filters': {
    ...candidates,
    query: {},
    binding: { ...candidates.path, sort: '-modifiedAt', limit: 25 },
  },
  'candidates, with every filter': {
    ...candidates,
    query: {
      qtiTestId: 'test-1',
      testKind: 'formative',
      status: 'scored',
      modifiedSince: '2026-01-01T00:00:00.120Z',
      sort: '-modifiedAt',
      limit: '7',
    },
    binding: {
      ...candidates.path,
      qtiTestId: 'test-1',
      testKind: 'formative',
      status: 'scored',
      // One instant has many spellings, and a binding has one.
      modifiedSince: '2026-01-01T00:00:00.120000000Z',
      sort: '-modifiedAt',
      limit: 7,
    },
  },
  'orders, without filters': { ...orders, query: {}, binding: { ...orders.path, limit: 25 } },
  'orders, with every filter': {
    ...orders,
    query: { status: 'blocked_upstream', targetModule: 'bank', limit: '100' },
    binding: { ...orders.path, status: 'blocked_upstream', targetModule: 'bank', limit: 100 },
  },
};

function useOf({ list, keyset, principal, binding }: Omit<FrozenCursor, 'token'>) {
  // SAFETY: the keyset of a list are the members of its places.
  return { list, keyset, principal, binding } as {
    readonly list: string;
    readonly keyset: readonly never[];
    readonly principal: Principal;
    readonly binding: FrozenCursor['binding'];
  };
}

// --- Idempotency records --------------------------------------------------------------------------------------------------------------

/** A record in every state; of those that are `started`, one that a run holds, one that was let go, and one that was taken over. */
async function writeControl(
  { control: table }: Stores,
  keys: KeyRing,
): Promise<Record<string, IdentifiedRequest>> {
  let calls = 0;
  const idempotency = createIdempotency({
    table,
    keys,
    now: () => WRITTEN_AT,
    sleep: () => Promise.reject(new Error('nothing is waited for')),
    random: (bytes) => fixedBytes(`random ${(calls += 1)}`, bytes),
  });
  const request = (name: string, more: Partial<IdentifiedRequest> = {}): IdentifiedRequest => ({
    tenantId: TENANT,
    method: 'POST',
    canonicalPath: '/v1/adaptive-runs',
    idempotencyKey: name,
    ifMatch: undefined,
    body: { runMode: 'owner_conformance', n: 0.1 },
    ...more,
  });
  const run = async (
    of: IdentifiedRequest,
    status: number,
    outcome: Result<string, ReturnType<typeof problem>>,
  ): Promise<IdentifiedRequest> => {
    const keyed = await idempotency(of);
    await keyed.run(() => Promise.resolve(outcome), {
      successStatus: status,
      waitUntil: WRITTEN_AT + 10_000,
      leaseUntil: WRITTEN_AT + 27_500,
      conflict: () => problem('mastery', 'idempotency-key-reused', 409),
      log: () => undefined,
    });
    return of;
  };
  const held = request('held', { ifMatch: '"7"', body: undefined });
  const taken = request('taken over');
  const begin = async (of: IdentifiedRequest, name: string) => {
    const { id, hash } = await identifyRequest(keys, of);
    const record = {
      id,
      hash,
      state: 'started',
      operationId: `op_${name}`,
      createdAt: WRITTEN_AT,
      attemptId: `attempt of ${name}`,
      leaseUntil: WRITTEN_AT + 27_500,
    } as const;
    await table.create(record, WRITTEN_AT);
    return record;
  };
  await begin(held, 'held');
  const lease = { attemptId: 'the next attempt', leaseUntil: WRITTEN_AT + 60_000 };
  await table.takeOver(await begin(taken, 'taken'), lease, WRITTEN_AT + 30_000);
  return {
    completed: await run(request('completed'), 201, ok('answer')),
    failed: await run(request('failed'), 201, err(problem('mastery', 'resource-not-found', 404))),
    'let go': await run(request('let go'), 201, err(internalError('mastery'))),
    held,
    'taken over': taken,
    'default left out': await run(
      request('default', { body: { attemptId: 'a', view: 'summary' }, sentBody: { attemptId: 'a' } }),
      200,
      ok('answer'),
    ),
  };
}

// --- Records --------------------------------------------------------------------------------------------------------------------------

const deprecation = { deprecatedAt: '2026-01-15T00:00:00Z', sunsetAt: '2026-06-30T00:00:00Z' };

/** A record of each kind, of the platform and of a tenant, with and without a deprecation; a document that is stored compressed. */
const exposureTable = { 'item-1': 0.25, 'item-3': 0.125 };

async function writeRecords({ records: table }: Stores): Promise<void> {
  const own = { tenantId: TENANT, deprecatedAt: deprecation.deprecatedAt };
  const prepared: readonly Result<PreparedRecord, unknown>[] = [
    preparePolicy(samplePolicyFile()),
    preparePolicy(
      samplePolicyFile(
        {
          id: 'own policy',
          visibility: 'tenant',
          timeBudgetSeconds: 900,
          eligibilityRules: {
            exposure: { method: 'sympson_hetter', tableSha256: hashCanonical(exposureTable) },
            priorUse: 'exclude',
            selectionTarget: 'unsettled_components',
          },
        },
        own,
      ),
      exposureTable,
    ),
    prepareCalibration(sampleCalibrationFile(), checkModel),
    prepareCalibration(
      sampleCalibrationFile(
        { id: 'own calibration', visibility: 'tenant', limitations: ['Long. '.repeat(40_000)] },
        own,
      ),
      checkModel,
    ),
    prepareAnalysisPolicy(sampleAnalysisPolicyFile()),
    prepareAnalysisPolicy(sampleAnalysisPolicyFile({ id: 'own analysis policy', visibility: 'tenant' }, own)),
  ];
  for (const record of prepared) {
    const { key } = demand(await writeRecord(table, demand(record)));
    if (key.id === 'fractions-2026.1') demand(await deprecateRecord(table, key, deprecation));
  }
}

// --- Improvement runs -----------------------------------------------------------------------------------------------------------------

const pins: RunPins = {
  contentTestSpecId: 'spec-1',
  contentTestSpecVersion: '4',
  analysisPolicy: { owner: 'tenant', id: 'policy', version: '2', checksum: sha256Hex('policy') },
  formulaVersion: 'alignment-v1',
  rules: '2',
  sourceSet: { ref: 'set-1', sha256: sha256Hex('set') },
  metrics: [
    {
      metric: 'item_difficulty',
      status: 'available',
      reasonCode: null,
      artifact: { ref: 'artifact-1', sha256: sha256Hex('artifact') },
      judged: 'some',
    },
    { metric: 'form_summary', status: 'unavailable', reasonCode: 'owner_artifact_missing', artifact: null },
  ],
  sources: [
    {
      sourceKey: 'act',
      crosswalk: { ref: 'crosswalk-1', sha256: sha256Hex('crosswalk') },
      comparison: { ref: 'comparison-1', sha256: sha256Hex('comparison') },
    },
    { sourceKey: 'sat', crosswalk: { ref: 'ü', sha256: sha256Hex('ü') }, comparison: 'missing' },
    { sourceKey: 'x', crosswalk: { ref: 'c"\\', sha256: sha256Hex('c') }, comparison: null },
  ],
};
const bundle = { sha256: sha256Hex('bundle'), mediaType: 'application/json' } as const;

const scopes: Readonly<Record<string, Pick<RunRecord, 'classSourcedId' | 'schoolSourcedId'>>> = {
  queued: { classSourcedId: 'class ü' },
  parked: { schoolSourcedId: 'school #1' },
  analyzing: { classSourcedId: 'class-1', schoolSourcedId: 'school-1' },
};

/** A run in every state; orders of every status in one that is analyzed, with their lineages. */
async function writeRuns({ improvement: store }: Stores): Promise<void> {
  let at = WRITTEN_AT;
  const create = (name: string): Promise<RunRecord> =>
    store.createRun({
      tenantId: TENANT,
      improvementRunId: `run_${name}`,
      administrationId: 'administration #1',
      // Of every kind: for a class, for a school, for both, and as runs were recorded before.
      ...(scopes[name] ?? {}),
      pins,
      createdAt: (at += 1_000),
    });
  const order = (id: string, lineage: string, evidence: NewOrder['evidence'] = 'source:act'): NewOrder => ({
    revisionOrderId: `order_${id}`,
    evidence,
    targetModule: evidence === 'source:act' ? 'blueprint' : 'bank',
    lineage: sha256Hex(lineage),
  });
  const ack = { receiptId: 'receipt-1', version: '3', observedAt: at + 900_060 };

  const former = await create('failed');
  await store.moveRun(former, ['queued'], { state: 'analyzing' }, at + 10);
  await store.openOrder(former, order('old', 'shared'), at + 11);
  await store.moveOrder(former, 'order_old', { status: 'accepted', ack }, at + 12);
  await store.moveRun(former, ['analyzing'], { state: 'failed', completedAt: at + 20 }, at + 21);

  const run = await create('analyzing');
  await store.moveRun(run, ['queued'], { state: 'analyzing' }, at + 10);
  await store.beginRun(run, 0, at + 11);
  await store.beginRun(run, 3, at + 12);
  await store.beginRun(run, 3, at + 13);
  await store.putEvidence(run, { key: 'metric:item_difficulty', evaluatedAt: at + 14 });
  await store.putEvidence(run, {
    key: 'source:act',
    evaluatedAt: at + 15,
    receipt: bundle,
    comparisonOmitted: false,
  });
  await store.putEvidence(run, {
    key: 'source:sat',
    evaluatedAt: at + 16,
    receipt: { ...bundle, mediaType: 'application/zip' },
    comparisonOmitted: true,
  });
  const open = (id: string, lineage = id) =>
    store.openOrder(run, order(id, lineage, 'metric:item_difficulty'), at + 20);
  await store.openOrder(run, order('pending', 'shared'), at + 20);
  let movedAt = at + 20;
  for (const [name, to] of [
    ['accepted', { status: 'accepted', ack }],
    ['replayed', { status: 'replayed', ack }],
    ['rejected', { status: 'rejected', ack }],
    ['blocked', { status: 'blocked_upstream' }],
  ] as const) {
    await open(name);
    if (name === 'accepted') await open('beside', 'accepted');
    await store.moveOrder(run, `order_${name}`, to, (movedAt += 1));
  }
  await open('overtaken', 'passed');
  await store.confirmOrder(run, order('pending', 'shared'), at + 25);

  const parked = await create('parked');
  await store.openOrder(parked, order('overtaking', 'passed'), at + 30);
  await store.moveRun(parked, ['queued'], { state: 'blocked_upstream' }, at + 31);
  await store.touchRun(parked, 'sweeper', at + 32);
  await store.touchRun(parked, 'worker', at + 33);

  const complete = await create('completed');
  const completedAt = at + 40;
  await store.moveRun(complete, ['queued'], { state: 'completed', completedAt, receipt: bundle }, at + 41);
  const omitting = await create('omitting');
  await store.moveRun(
    omitting,
    ['queued'],
    {
      state: 'completed_with_omissions',
      completedAt,
      receipt: { ...bundle, mediaType: 'application/zip' },
    },
    at + 41,
  );
  await create('queued');
}

// --- Objects and parameters -----------------------------------------------------------------------------------------------------------

const manifest: ReleaseManifest = {
  manifestVersion: 1,
  stage: STAGE,
  rehearsal: false,
  issuedAt: '2026-01-01T00:00:00Z',
  expiresAt: '2027-01-01T00:00:00Z',
  receipts: provable.map((proves, n) => ({
    proves,
    location:
      [`https://proofs.example/${proves}`, `s3://proofs/${proves}`, `file:${proves}.pdf`][n % 3] ?? '',
    sha256: sha256Hex(proves),
    summary: `Proof of ${proves}`,
  })),
};

async function writeObjects(
  { s3 }: TestAws,
  { receipts, release }: Stores,
  { sign }: FrozenSigner,
): Promise<FrozenForms['objects']> {
  const jws = sign(manifest);
  const flags = Object.fromEntries(gates.map((gate) => [gate, gate === 'B' ? 'closed' : 'open']));
  const withdrawn = { manifest: '', flags: {}, appliedAt: WRITTEN_AT - 1 };
  await release.write(withdrawn, undefined);
  const isolationProof = { digest: sha256Hex('two-tenant proof'), outcome: 'proved' } as const;
  await release.write({ manifest: jws, flags, appliedAt: WRITTEN_AT, isolationProof }, withdrawn);

  const { source, run } = improveRun();
  const rehearsal = '{"rehearsal":true}';
  await receipts.put(TENANT, source);
  await receipts.put(TENANT, run);
  await keepProof(s3, localBucketName, 'manifest', jws);
  await keepProof(s3, localBucketName, 'rehearsal', rehearsal);
  const found: Record<string, { contentType: string; text: string }> = {};
  for (const key of [
    `tenant%20%C3%BC%2F%231%2Ea/${source.sha256}`,
    `tenant%20%C3%BC%2F%231%2Ea/${run.sha256}`,
    `release.manifests/${sha256Hex(jws)}`,
    `release.rehearsals/${sha256Hex(rehearsal)}`,
  ]) {
    const object = await s3.send(new GetObjectCommand({ Bucket: localBucketName, Key: key }));
    found[key] = {
      contentType: object.ContentType ?? '',
      text: (await object.Body?.transformToString()) ?? '',
    };
  }
  return found;
}

async function writeParameters(
  { ssm }: TestAws,
  { profiles }: Stores,
  { sign }: FrozenSigner,
): Promise<FrozenForms['parameters']> {
  await profiles.write(TENANT, {
    tenant: TENANT,
    jwt: 'header.payload.signature',
    url: 'https://platform.example/base/',
    analysisPolicyId: 'own analysis policy',
    resultsKcComponents: 'supported',
  });
  await profiles.write('tenant-b', { tenant: 'tenant-b', jwt: 'token', url: 'https://platform.example' });
  for (const gate of gates)
    await writeGateParameter(ssm, `${gatesPath(STAGE)}/${gate}`, gate === 'B' ? 'closed' : 'open');
  const place = placeOfProof(localBucketName, 'manifest', sign(manifest));
  await writeGateParameter(ssm, manifestParameter(STAGE), formatReference(place));
  const found: Record<string, { type: 'String' | 'SecureString'; value: string }> = {};
  const all = { Path: '/', Recursive: true, WithDecryption: true };
  for await (const { Parameters = [] } of paginateGetParametersByPath({ client: ssm }, all))
    for (const { Name = '', Value = '', Type } of Parameters)
      found[Name] = { type: Type === 'SecureString' ? Type : 'String', value: Value };
  return found;
}

// --- Items ----------------------------------------------------------------------------------------------------------------------------

async function scan(client: DynamoDBClient, table: TableName): Promise<readonly FrozenItem[]> {
  const items: Readonly<Record<string, AttributeValue>>[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: localTableName(table) }))
    items.push(...Items);
  const keyOf = (item: Readonly<Record<string, AttributeValue>>): string =>
    JSON.stringify([item['pk']?.S ?? item['id']?.S, item['sk']?.S]);
  return items
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .flatMap((item) => splitParts(freezeItem(item)));
}

/**
 * What the code splits at 375,000 bytes of gzip is split into three here, in one run and one calibration: a reader puts parts together, however
 * large they are, and a megabyte of noise would show no more.
 */
const splits: readonly { readonly in: RegExp; readonly column: string; readonly counter: string }[] = [
  { in: /#run_queued$/, column: 'pins', counter: 'pinsParts' },
  { in: /#own calibration$/, column: 'content', counter: 'parametersParts' },
];

function splitParts(item: FrozenItem): readonly FrozenItem[] {
  const { pk, sk } = item as Readonly<Record<string, { readonly S: string } | undefined>>;
  const split = splits.find((candidate) => candidate.in.test(pk?.S ?? ''));
  if (split === undefined || sk === undefined) return [item];
  const { column, counter } = split;
  const bytes = Buffer.from((item[column] as { readonly B: string } | undefined)?.B ?? '', 'base64');
  if (bytes.length === 0) return [item[counter] === undefined ? item : { ...item, [counter]: { N: '3' } }];
  const third = Math.ceil(bytes.length / 3);
  return [0, 1, 2].map((part) => ({
    ...item,
    sk: { S: sk.S.replace(/0$/, String(part)) },
    [column]: { B: bytes.subarray(part * third, (part + 1) * third).toString('base64') },
  }));
}
