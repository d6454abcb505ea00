import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { paginateScan, type AttributeValue, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { paginateGetParametersByPath } from '@aws-sdk/client-ssm';
import { sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import { checkModel } from '#functions/mastery/records/check-model.ts';
import type { RunBasis } from '#functions/mastery/run/basis.ts';
import type { ScoredOutcome } from '#functions/mastery/run/outcomes.ts';
import type { AdaptiveRunState, StopCause } from '#functions/mastery/continuation/run-state.ts';
import {
  acknowledge,
  addOffer,
  beginFinalizing,
  consumeOutcome,
  startState,
} from '#functions/mastery/run/transitions.ts';
import { sealReceiptLink } from '#functions/reports/receipts/link.ts';
import { localBucketName, localTableName } from '#shared/stage/local-stage.ts';
import { writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { createObjectVersions } from '#shared/stores/object-versions.ts';
import { keepProof, placeOfProof } from '#shared/stores/proof-objects.ts';
import { noteChanges } from '#shared/stores/key-notes.ts';
import { tables } from '#shared/stores/tables.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { eligibilityRules } from '#shared/contract/mastery/selection-policy.ts';
import { analysisTrigger } from '#shared/contract/reports/analysis-policy.ts';
import type { StopReason } from '#shared/contract/stop-reason.ts';
import { identifyRequest } from '#shared/idempotency/request-identity.ts';
import { writeRunMessage } from '#shared/improvement/run-message.ts';
import { runPins, type OrderRecord, type RunPins, type RunRecord } from '#shared/improvement/records.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { Result } from '#shared/kernel/result.ts';
import { changeKeys, initKeyRing, type KeyAdministration } from '#shared/keys/administration.ts';
import { keyPurposes, type KeyRing } from '#shared/keys/key-ring.ts';
import {
  planReplace,
  planRetire,
  planRetireNow,
  planRotate,
  PROMOTE_AFTER_MS,
  RETIRE_AFTER_MS,
} from '#shared/keys/key-states.ts';
import {
  sampleAnalysisPolicyFile,
  sampleCalibrationFile,
  sampleParameters,
  sampleCrosswalkTrigger,
  samplePolicyFile,
  sampleTrigger,
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
import {
  calibrationParameters,
  type CalibrationParameters,
  type ExposureTable,
} from '#shared/records/records.ts';
import { exposureMethod, exposureMethods } from '#test/reference/exposure-methods.ts';
import {
  artifactOf,
  everyTrigger,
  improveRun,
  mappingOf,
  policyWith,
  requirementOf,
  runArtifacts,
} from '#test/support/improvement-facts.ts';
import type { ImprovedRun } from '#test/support/improvement-facts.ts';
import { sampleProof } from '#test/support/proof-receipt.ts';
import { receiptBytes, type ProofReceipt } from '#ops/proof/receipt.ts';
import {
  each,
  freezeItem,
  openRing,
  openStores,
  placeInList,
  STAGE,
  TENANT,
  READ_AT,
  WRITTEN_AT,
} from './forms.ts';
import type { FrozenForms, FrozenItem, Stores, TableName } from './forms.ts';
import { covering } from './missing-examples.ts';
import type { DecodedForms } from './read.ts';
import type { GateFlags } from '#shared/release/release-state.ts';

/** A folder of frozen forms. */
export interface FrozenVersion {
  readonly forms: FrozenForms;
  readonly decoded: DecodedForms & Readonly<Record<string, unknown>>;
  /** Whether the version is released: its readers are frozen, and its forms are never written again. */
  readonly isReleased: boolean;
}

/** The names of all versions, oldest first. */
export const versions: readonly string[] = readdirSync(import.meta.dirname)
  .filter((name) => /^v\d+$/.test(name))
  .toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1)));

export function versionOf(name: string): FrozenVersion {
  const folder = `${import.meta.dirname}/${name}`;
  const [forms, decoded] = ['forms', 'decoded'].map(
    (file) => JSON.parse(readFileSync(`${folder}/${file}.json`, 'utf8')) as unknown,
  );
  return { forms, decoded, isReleased: existsSync(`${folder}/readers.mjs`) } as FrozenVersion;
}

/** Who signs the manifest. */
export interface FrozenSigner {
  readonly key: ReleaseKey;
  /** The compact JWS of a manifest. */
  readonly sign: (manifest: ReleaseManifest) => string;
}

/**
 * Writes one of each form through the code that stores and seals today: the values that the newest frozen forms were read as, written again
 * under fixed keys, clocks and random bytes. What a later form holds beyond those values is given here. Only what has to be random differs from
 * one call to the next: the nonces of sealed tokens.
 * @param aws an emulator without any data
 * @param observe sees the stores before they are used
 */
export async function writeForms(
  aws: TestAws,
  { forms, decoded }: FrozenVersion,
  signer: FrozenSigner,
  observe: (stores: Stores) => Stores = (stores) => stores,
): Promise<FrozenForms> {
  const stores = observe(openStores(aws));
  const dataKeys = [...(await writeKeyRing(stores)), ...(await writeProfiles(stores))];
  const ring = openRing(stores.keys, dataKeys, () => WRITTEN_AT);
  await writeRecords(stores);
  await writeRuns(stores, decoded.improvement.runs);
  await writeControl(stores, ring, forms.requests, decoded.control);
  const manifest = signer.sign(decoded.settings.release.manifest);
  const objects = await writeObjects(aws, stores, manifest, decoded.settings.release);
  const parameters = await writeParameters(aws, stores, manifest, decoded['parameters of a release'].flags);
  return {
    keys: {
      note: 'Test keys. They are public and have never protected anything.',
      dataKeys,
      releaseKey: signer.key,
    },
    tokens: {
      continuations: await each(
        states(decoded.continuation),
        async (state) => (await sealContinuation(ring, state, WRITTEN_AT)).token,
      ),
      cursors: await each(forms.tokens.cursors, async (cursor, name) => ({
        ...cursor,
        token: (await (await placeInList(ring, cursor, WRITTEN_AT)).seal(decoded.cursor[name]!.opened))!,
      })),
      receiptLinks: await each(
        decoded['receipt-link'],
        async (receipt) =>
          (await sealReceiptLink(ring, 'https://reports.example/receipts', receipt!, WRITTEN_AT)).downloadUrl,
      ),
    },
    requests: forms.requests,
    items: Object.fromEntries(
      await Promise.all(tables.map(async ({ name }) => [name, await scan(aws.dynamo, name)] as const)),
    ) as Record<TableName, readonly FrozenItem[]>,
    objects,
    parameters,
    messages: decoded['messages of the queue'].map((run) => writeRunMessage(run!)),
    files: {
      'two-tenant-proof.json': Buffer.from(receiptBytes(sampleProof())).toString(),
      'two-tenant-proof of the engine.json': Buffer.from(receiptBytes(proofOfEngine())).toString(),
    },
  };
}

/** A proof of the mastery engine in which nothing is open, and one check was not asked. */
function proofOfEngine(): ProofReceipt {
  const { operationId, method, path } = startAdaptiveRun;
  const check = { title: 'what holds', asked: 'what was sent' };
  return sampleProof({
    service: 'mastery',
    routes: [{ operationId, method, path, open: false }],
    checks: [
      { ...check, id: `routes.${operationId}.both`, result: 'not_open', why: 'a gate is closed' },
      { ...check, id: 'run.advance-to-stop.A', result: 'not_asked', why: 'the tenant has no attempt' },
    ],
  });
}

/** Bytes that are the same at every call: as many as wanted of the digests of a text. */
function fixedBytes(text: string, length: number): Uint8Array {
  return new Uint8Array(Buffer.from(sha256Hex(text), 'hex').subarray(0, length));
}

// --- Key ring -------------------------------------------------------------------------------------------------------------------------

/** Every purpose has keys in every state: k1 retired, k2 opening, k3 active, k4 pending. */
async function writeKeyRing({ keys, retired }: Stores): Promise<FrozenForms['keys']['dataKeys']> {
  const dataKeys: { context: Readonly<Record<string, string>>; wrapped: string; key: string }[] = [];
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
    demand(await changeKeys(administration, purpose, planReplace));
    demand(await changeKeys(administration, purpose, planRetireNow('k1')));
    // … k3 by the schedule …
    demand(await changeKeys(administration, purpose, planRotate));
    now += PROMOTE_AFTER_MS;
    demand(await changeKeys(administration, purpose, planRotate));
    demand(await changeKeys(administration, purpose, planRetire));
    // … and k4 waits.
    now += 1;
    demand(await changeKeys(administration, purpose, planRotate));
  }
  return dataKeys;
}

function demand<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

// --- Continuations --------------------------------------------------------------------------------------------------------------------

/** An adaptive run in every phase, in both modes, from the values that a run of each mode began with. */
function states(frozen: DecodedForms['continuation']): Record<string, AdaptiveRunState> {
  const begin = (name: string): AdaptiveRunState => {
    const { state } = frozen[name]!;
    const { pins, candidateRef, runSeed, runTag = '', startedAt, clockStart = 0 } = state;
    const basis = {
      pins,
      policy: { checksum: state.selectionPolicyChecksum },
      calibration: { document: { checksum: state.scaleCalibrationChecksum } },
    };
    const identity = { candidateRef, runSeed, runTag, startedAt };
    const begun = startState(TENANT, { ...state, ...pins }, identity, basis as RunBasis);
    return { ...addOffer(begun, offer(1)), clockStart };
  };
  const offer = (sequence: number) => ({
    deliverySessionId: `session-${sequence}`,
    rootArtifactVersionId: `av-${sequence}`,
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
  const conformance = begin('conformance, first item offered');
  const learner = begin('learner, first item offered');
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
    'conformance, no deciding item': stop(conformance, 'max_items', 'no_deciding_item'),
    'conformance, completed': acknowledge(stop(conformance, 'time_budget'), event),
    'learner, first item offered': learner,
    'learner, two outcomes consumed': addOffer(both(learner), offer(3)),
    'learner, stopped': stop(learner, 'classifications_complete'),
    'learner, record acknowledged': acknowledge(stop(learner, 'precision_target_met'), record),
    'learner, components acknowledged': acknowledge(stop(learner, 'max_items'), { ...record, ...components }),
    'learner, completed': acknowledge(stop(learner, 'max_items'), { ...record, ...components, ...event }),
  };
}

// --- Idempotency records --------------------------------------------------------------------------------------------------------------

/** How long a run holds its record. */
const HELD_UNTIL = WRITTEN_AT + 27_500;

/** A record in every state; of those that are `started`, one that a run holds, one that was let go, and one that was taken over. */
async function writeControl(
  { control: table }: Stores,
  keys: KeyRing,
  requests: FrozenForms['requests'],
  frozen: DecodedForms['control'],
): Promise<void> {
  for (const [name, request] of Object.entries(requests)) {
    const { state, terminalStatus = 0, ...last } = frozen[name]!;
    const { id, hash } = await identifyRequest(keys, request);
    const isTakenOver = name === 'taken over';
    const lease = { attemptId: isTakenOver ? 'the first attempt' : last.attemptId, leaseUntil: HELD_UNTIL };
    const record = { ...last, id, hash, ...lease, state: 'started' } as const;
    await table.create(record, WRITTEN_AT);
    if (state !== 'started') await table.settle(record, { state, terminalStatus }, WRITTEN_AT);
    else if (isTakenOver) await table.takeOver(record, last, HELD_UNTIL);
    else if (last.leaseUntil === 0) await table.release(record, WRITTEN_AT);
    else await table.renew(record, last.leaseUntil, WRITTEN_AT);
  }
}

// --- Records --------------------------------------------------------------------------------------------------------------------------

const deprecation = { deprecatedAt: '2026-01-15T00:00:00Z', sunsetAt: '2026-06-30T00:00:00Z' };

/** A policy with each rule that one alone cannot show: each method of exposure control, and each value of the other rules. */
function policiesOfRules(): readonly Result<PreparedRecord, unknown>[] {
  const { priorUse, selectionTarget, blueprintCoverage } = eligibilityRules.shape;
  const named = (name: string, rule: object, table?: ExposureTable) =>
    preparePolicy(
      samplePolicyFile(
        { id: name, visibility: 'tenant', timeBudgetSeconds: 900, eligibilityRules: rule },
        { tenantId: TENANT },
      ),
      table,
    );
  return [
    ...exposureMethods.map((method) => {
      const { rule: exposure, table } = exposureMethod(method).example(['item-1', 'item-3']);
      return named(`exposure ${method}`, { exposure }, table);
    }),
    ...priorUse.unwrap().options.map((value) => named(`prior use ${value}`, { priorUse: value })),
    ...selectionTarget.unwrap().options.map((value) =>
      named(`target ${value}`, {
        selectionTarget: value,
        ...(value === 'unsettled_and_unmeasured' || value === 'settling_look_ahead'
          ? { unmeasuredCredit: 0.1 }
          : {}),
        ...(value === 'settling_look_ahead' ? { settlingCredit: 0.2 } : {}),
      }),
    ),
    ...blueprintCoverage
      .unwrap()
      .options.map((value) => named(`slots ${value}`, { blueprintCoverage: value })),
    named('minimum gain', { minimumGain: 0.01 }),
    named('minimum decision gain', { minimumDecisionGain: 0.01 }),
  ];
}

/** A calibration with a block of each form. */
function calibrationsOfBlocks(): readonly Result<PreparedRecord, unknown>[] {
  const { kcs, ...rest } = calibrationParameters.parse(sampleParameters());
  const guids = kcs.map(({ guid }) => guid);
  const pair = guids.slice(0, 2);
  const support = { learners: 500, bicGain: 12.5 };
  const blocks: NonNullable<CalibrationParameters['blocks']> = [
    {
      form: 'hierarchy',
      kcs: guids,
      prerequisites: guids.map((_, n) => guids.slice(Math.max(0, n - 1), n)),
      support,
    },
    { form: 'strand', kcs: guids, correlation: 0.75 },
    { form: 'saturated', kcs: pair, slope: 0.5, weights: [0.5, 0.125, 0, 0.375], support },
    {
      form: 'table',
      kcs: pair,
      probabilities: [
        [0.75, 0.25, 0, 0],
        [0.25, 0.25, 0.25, 0.25],
        [0, 0, 0.5, 0.5],
      ],
    },
  ];
  return blocks.map((block) => {
    const isStated = (guid: string): boolean =>
      (block.form === 'saturated' || block.form === 'table') && block.kcs.includes(guid);
    const parameters = {
      ...rest,
      kcs: kcs.map(({ guid, uri, ...curve }) => ({ guid, uri, ...(isStated(guid) ? {} : curve) })),
      blocks: [block],
    };
    const pins = {
      modelFamily: 'ho-cdm-block',
      modelVersion: 'ho-cdm-block/1',
      runtimeVersion: 'ho-cdm-block-1',
    };
    return prepareCalibration(
      sampleCalibrationFile({ id: `calibration of blocks: ${block.form}`, ...pins }, { parameters }),
      checkModel,
    );
  });
}

/** A record of each kind, of the platform and of a tenant, with and without a deprecation; a document that is stored compressed. */
async function writeRecords({ records: table }: Stores): Promise<void> {
  const own = { tenantId: TENANT, deprecatedAt: deprecation.deprecatedAt };
  const triggers = covering(analysisTrigger, everyTrigger);
  const prepared: readonly Result<PreparedRecord, unknown>[] = [
    preparePolicy(samplePolicyFile()),
    ...policiesOfRules(),
    prepareCalibration(sampleCalibrationFile(), checkModel),
    ...calibrationsOfBlocks(),
    prepareCalibration(
      sampleCalibrationFile(
        { id: 'own calibration', visibility: 'tenant', limitations: ['Long. '.repeat(40_000)] },
        {
          ...own,
          parameters: { ...sampleParameters(), maximumReportableError: 80, reliabilityCeiling: 0.95 },
        },
      ),
      checkModel,
    ),
    prepareAnalysisPolicy(sampleAnalysisPolicyFile()),
    prepareAnalysisPolicy(
      sampleAnalysisPolicyFile({ id: 'own analysis policy', visibility: 'tenant', triggers }, own),
    ),
  ];
  for (const record of prepared) {
    const { key } = demand(await writeRecord(table, demand(record)));
    if (key.id === 'fractions-2026.1') demand(await deprecateRecord(table, key, deprecation));
  }
}

// --- Improvement runs -----------------------------------------------------------------------------------------------------------------

/** A run in every state; orders of every status in one that is analyzed, with their lineages. */
async function writeRuns(
  { improvement: store }: Stores,
  frozen: DecodedForms['improvement']['runs'],
): Promise<void> {
  const orders = Object.values(frozen).flatMap((run) => run.orders);
  const order = (id: string): OrderRecord => orders.find((each) => each.revisionOrderId === `order_${id}`)!;
  const create = (name: string): Promise<RunRecord> => {
    const created = { ...frozen[name]!.run! };
    for (const ended of ['completedAt', 'receipt']) Reflect.deleteProperty(created, ended);
    return store.createRun(created);
  };
  /** Moves a run to what it was in the end. */
  const end = (run: RunRecord, change: Partial<RunRecord> = {}) => {
    const ended = { ...frozen[run.improvementRunId]!.run!, ...change };
    // SAFETY: what a run has ended as is what it can be moved to.
    return store.moveRun(run, ended as Parameters<typeof store.moveRun>[1], ended.touchedAt);
  };

  const former = await create('run_failed');
  await store.moveRun(former, { state: 'analyzing' }, former.createdAt + 10);
  await store.openOrder(former, order('old'), former.createdAt + 11);
  await store.moveOrder(
    former,
    'order_old',
    { status: 'accepted', ack: order('old').ack! },
    former.createdAt + 12,
  );
  await end(former);

  const run = await create('run_analyzing');
  const at = run.createdAt;
  await store.moveRun(run, { state: 'analyzing' }, at + 10);
  await store.beginRun(run, 0, at + 11);
  await store.beginRun(run, 3, at + 12);
  await store.beginRun(run, 3, at + 13);
  for (const evidence of Object.values(frozen['run_analyzing']!.evidence))
    await store.putEvidence(run, evidence!);
  await store.openOrder(run, order('pending'), at + 20);
  for (const name of ['accepted', 'replayed', 'rejected', 'blocked']) {
    await store.openOrder(run, order(name), at + 20);
    if (name === 'accepted') await store.openOrder(run, order('beside'), at + 20);
    const { revisionOrderId, updatedAt, status, ack } = order(name);
    const to = ack === null ? { status } : { status, ack };
    await store.moveOrder(run, revisionOrderId, to as Parameters<typeof store.moveOrder>[2], updatedAt);
  }
  await store.openOrder(run, order('overtaken'), at + 20);
  await store.confirmOrder(run, order('pending'), at + 25);

  const parked = await create('run_parked');
  await store.openOrder(parked, order('overtaking'), order('overtaking').updatedAt);
  await store.moveRun(parked, { state: 'blocked_upstream' }, parked.createdAt + 31);
  await store.touchRun(parked, 'sweeper', parked.createdAt + 32);
  await store.touchRun(parked, 'worker', parked.createdAt + 33);

  const completed = await create('run_completed');
  await end(completed);
  // By a clock that is behind that of its creation.
  await end(await create('run_omitting'), { completedAt: completed.createdAt + 40 });
  await create('run_queued');
  const { run: queued } = frozen['run_queued']!;
  await store.createRun({ ...queued!, improvementRunId: 'run_pinned', pins: everyPin(queued!.pins) });
}

/** Pins with each value that one of them can have. */
function everyPin(pins: RunPins): RunPins {
  const { metric, status, reasonCode, judged } = runPins.shape.metrics.unwrap().element.shape;
  const reasons = [...reasonCode.unwrap().options, null];
  const nth = <T>(values: readonly T[], n: number): T => values[n % values.length]!;
  const metrics = Array.from({ length: 2 * reasons.length }, (_, n) => ({
    metric: nth(metric.options, n),
    status: nth(status.options, n),
    reasonCode: nth(reasons, n),
    artifact: n % 2 === 0 ? null : pins.sourceSet,
    judged: nth(judged.unwrap().options, n),
  }));
  const sources = [{ sourceKey: 'sat', crosswalk: pins.sourceSet, comparison: 'not_analyzed' as const }];
  return {
    ...pins,
    analysisPolicy: { ...pins.analysisPolicy, owner: 'system' },
    rules: '3',
    metrics,
    sources,
  };
}

// --- Objects and parameters -----------------------------------------------------------------------------------------------------------

/** Complete runs whose receipts have between them what a receipt can have. */
function improvedRuns(): readonly ImprovedRun[] {
  const triggers = [
    ...covering(analysisTrigger, everyTrigger),
    // Of policies that were released when there were other measures and units.
    ...[sampleTrigger, sampleCrosswalkTrigger].flatMap((of) => [
      of({ observed: { name: 'a former measure', unit: 'count' } }),
      of({ observed: { ...analysisTrigger.parse(of()).observed, unit: 'points' } }),
    ]),
  ];
  const policy = policyWith(triggers.map((trigger) => analysisTrigger.parse(trigger)));
  const crosswalk = {
    ...runArtifacts.crosswalk,
    requirements: [
      requirementOf('ambiguous', { mappings: [mappingOf('guid-1'), mappingOf('guid-2')] }),
      requirementOf('unknown', { mappings: [mappingOf('guid-3', { targetDok: null })] }),
    ],
  };
  const incomplete = artifactOf('item_discrimination', { analysisWindow: null });
  return [
    improveRun(),
    improveRun({ policy, crosswalk }),
    improveRun({ comparison: null, metricStatus: 'stale', orderStatuses: ['rejected'] }),
    improveRun({
      comparison: 'missing',
      metricStatus: 'a status of tomorrow',
      orderStatuses: ['superseded'],
    }),
    improveRun({ discrimination: incomplete, comparison: 'not_analyzed' }),
    improveRun({ rules: '2' }),
  ];
}

async function writeObjects(
  { s3 }: TestAws,
  { receipts, release }: Stores,
  manifest: string,
  frozen: DecodedForms['settings']['release'],
): Promise<FrozenForms['objects']> {
  const withdrawn = { manifest: '', flags: {}, appliedAt: WRITTEN_AT - 1 };
  await release.write(withdrawn, undefined);
  await release.write({ ...frozen, manifest }, withdrawn);

  const rehearsal = '{"rehearsal":true}';
  for (const { source, run } of improvedRuns()) {
    await receipts.put(TENANT, source);
    await receipts.put(TENANT, run);
  }
  await keepProof(s3, localBucketName, 'manifest', manifest);
  await keepProof(s3, localBucketName, 'rehearsal', rehearsal);
  const bucket = createObjectVersions(s3, localBucketName);
  const found: Record<string, { contentType: string; text: string }> = {};
  for await (const { key, versions: written } of bucket.objects()) {
    const { bytes, mediaType = '' } = await bucket.read(key, written[0]!);
    found[key] = { contentType: mediaType, text: Buffer.from(bytes).toString() };
  }
  return found;
}

const ownProfiles = {
  [TENANT]: {
    PLATFORM_TENANT: TENANT,
    PLATFORM_JWT: 'header.payload.signature',
    PLATFORM_URL: 'https://platform.example/base/',
    ANALYSIS_POLICY_ID: 'own analysis policy',
    RESULTS_KC_COMPONENTS: 'supported',
  },
  'tenant-b': {
    PLATFORM_TENANT: 'tenant-b',
    PLATFORM_JWT: 'token',
    PLATFORM_URL: 'https://platform.example',
  },
};

/** Stores the profiles, one with a credential that shows when it expires. @returns what KMS opens */
function writeProfiles({ storedProfiles }: Stores): Promise<FrozenForms['keys']['dataKeys']> {
  return Promise.all(
    Object.entries(ownProfiles).map(async ([tenantId, { PLATFORM_JWT, ...parameters }], index) => {
      const wrappedCredential = fixedBytes(`wrapped for ${tenantId}`, 32);
      await storedProfiles.write(tenantId, {
        parameters,
        wrappedCredential,
        ...(index === 0 ? { credentialExpiresAt: READ_AT + 60_000 } : {}),
        writtenAt: WRITTEN_AT,
        source: '1 2026-01-31T09:29:00.000Z',
      });
      return {
        context: { stage: STAGE, purpose: 'profile', tenantId },
        wrapped: Buffer.from(wrappedCredential).toString('base64'),
        key: Buffer.from(PLATFORM_JWT).toString('base64'),
      };
    }),
  );
}

async function writeParameters(
  { ssm }: TestAws,
  { profiles }: Stores,
  manifest: string,
  flags: GateFlags,
): Promise<FrozenForms['parameters']> {
  for (const [tenantId, profile] of Object.entries(ownProfiles)) await profiles.write(tenantId, profile);
  for (const [gate, flag] of Object.entries(flags))
    await writeGateParameter(ssm, `${gatesPath(STAGE)}/${gate}`, flag);
  const place = placeOfProof(localBucketName, 'manifest', manifest);
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
