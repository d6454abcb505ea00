import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { PutParameterCommand } from '@aws-sdk/client-ssm';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { openContinuation } from '#functions/mastery/continuation/continuation.ts';
import { deriveIdentity } from '#functions/mastery/run/identity.ts';
import { namesOf, type RunNames } from '#functions/mastery/run/names.ts';
import {
  outstandingOffer,
  resultsAcknowledged,
  statusOf,
} from '#functions/mastery/continuation/run-state.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { listCandidateReportsOperation } from '#functions/reports/endpoints/list-candidate-reports/operation.ts';
import { listRevisionOrdersOperation } from '#functions/reports/endpoints/list-revision-orders/operation.ts';
import * as reportNames from '#functions/reports/endpoints/materialize-attempt-report/names.ts';
import { openReceiptLink } from '#functions/reports/receipts/link.ts';
import { localBucketName, localTableName } from '#shared/stage/local-stage.ts';
import { readGateFlags, readGateParameter } from '#shared/stores/gate-parameters.ts';
import { formerOf, headOf } from '#shared/stores/improvement-items.ts';
import { readObject } from '#shared/stores/proof-objects.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import { createIdempotency } from '#shared/idempotency/idempotency.ts';
import { identifyRequest } from '#shared/idempotency/request-identity.ts';
import { parseRunMessage } from '#shared/improvement/run-message.ts';
import { hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { err, type Result } from '#shared/kernel/result.ts';
import { keyPurposes, type KeyPurpose, type KeyRing } from '#shared/keys/key-ring.ts';
import { createServiceProfiles, profileOf } from '#shared/platform/service-profiles.ts';
import { openCredential } from '#shared/stores/kms.ts';
import { createAnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import { parsePartitionKey, recordKinds, type RecordKey } from '#shared/records/record-key.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { gatesPath, manifestParameter, parseReference } from '#shared/release/applied-manifest.ts';
import { MAX_MANIFEST_BYTES, verifyManifest } from '#shared/release/manifest.ts';
import { flagsOf, releaseOf } from '#shared/release/release-state.ts';
import { watchRelease } from '#shared/release/watch-release.ts';
import type { TestAws } from '#test/support/aws.ts';
import { readProof } from '#ops/proof/receipt.ts';
import { checkReceipt } from '#ops/receipts/check-receipt.ts';
import { each, kmsOf, openRing, openStores, placeInList, READ_AT, STAGE, TENANT, thawItem } from './forms.ts';
import type { FrozenCursor, FrozenForms, Stores, TableName } from './forms.ts';

/** What a reader is given. */
interface Reading {
  readonly forms: FrozenForms;
  readonly aws: TestAws;
  readonly stores: Stores;
  readonly keys: KeyRing;
}

/** Puts frozen forms into an emulator without any data, byte for byte, and opens the stores over them. */
export async function openForms(
  aws: TestAws,
  forms: FrozenForms,
  observe: (stores: Stores) => Stores = (stores) => stores,
): Promise<Reading> {
  for (const [table, items] of Object.entries(forms.items))
    for (const item of items) {
      const TableName = localTableName(table as TableName);
      await aws.dynamo.send(new PutItemCommand({ TableName, Item: thawItem(item) }));
    }
  for (const [Key, { contentType, text }] of Object.entries(forms.objects)) {
    const object = { Bucket: localBucketName, Key, Body: text, ContentType: contentType, IfNoneMatch: '*' };
    await aws.s3.send(new PutObjectCommand(object));
  }
  for (const [Name, { type, value }] of Object.entries(forms.parameters))
    await aws.ssm.send(new PutParameterCommand({ Name, Value: value, Type: type }));
  const stores = observe(openStores(aws));
  return { forms, aws, stores, keys: openRing(stores.keys, forms.keys.dataKeys, () => READ_AT) };
}

type Reader = (reading: Reading) => unknown;

/** What is sealed under a key of each purpose, or derived with it and found again by what it gives. */
const sealed = {
  continuation: ({ forms, keys }) =>
    each(forms.tokens.continuations, async (token) => {
      const opened = await openContinuation(keys, token, TENANT, READ_AT);
      const { token: same, ...continuation } = sound(opened);
      return {
        ...continuation,
        isTheSameToken: same === token,
        status: statusOf(continuation.state),
        outstanding: outstandingOffer(continuation.state) ?? null,
        resultsAcknowledged: resultsAcknowledged(continuation.state),
        names: namesIn(continuation.state),
      };
    }),

  cursor: ({ forms, keys }) =>
    each(forms.tokens.cursors, async (cursor) => ({
      opened: (await placeInList(keys, cursor, READ_AT, cursor.token)).after,
      listed: await listAfter(keys, cursor),
    })),

  'receipt-link': ({ forms, keys }) =>
    each(forms.tokens.receiptLinks, (link) => {
      const { pathname, searchParams } = new URL(link);
      const parts = {
        sha256: pathname.split('/').at(-1) ?? '',
        expires: searchParams.get('expires') ?? '',
        signature: searchParams.get('signature') ?? '',
      };
      return openReceiptLink(keys, parts, READ_AT);
    }),

  idempotency: ({ forms, keys, stores }) =>
    each(forms.requests, async (request) => {
      const none = () => Promise.reject(new Error('nothing is run'));
      const idempotency = createIdempotency({
        table: stores.control,
        keys,
        now: () => READ_AT,
        sleep: none,
        random: () => new Uint8Array(),
      });
      const begun = async (changes: object) => {
        const keyed = await idempotency({ ...request, ...changes });
        return { begun: keyed.startedOperation ?? null, reusedBy: keyed.reusedBy ?? null };
      };
      return { same: await begun({}), other: await begun({ body: { another: 'request' } }) };
    }),

  pseudonym: async ({ keys }) => {
    const control = { operationId: 'op_1', createdAt: READ_AT };
    const of = (request: { readonly resultsStudentId?: string }, priorUse: 'allow' | 'avoid') =>
      deriveIdentity(
        keys,
        TENANT,
        control,
        { testBankId: 'bank-1', ...request },
        { eligibilityRules: { priorUse } },
      );
    const { candidateRef: learner } = await of({ resultsStudentId: 'student-ü' }, 'avoid');
    return { ...(await of({}, 'allow')), learner };
  },
} satisfies Record<KeyPurpose, Reader>;

/** What each table holds. */
const tables = {
  control: ({ forms, keys, stores }) =>
    each(forms.requests, async (request) =>
      stores.control.read((await identifyRequest(keys, request)).id, READ_AT),
    ),

  settings: async ({ stores, keys, forms, aws }) => {
    const release = await stores.release.read();
    if (release === undefined) throw new Error('no release');
    const trust = { key: forms.keys.releaseKey, stage: STAGE };
    const manifest = sound(await verifyManifest(release.manifest, { ...trust, now: READ_AT }));
    const watch = watchRelease({ ...trust, read: () => stores.release.read(), now: () => READ_AT });
    const flags = flagsOf(Object.fromEntries(await readGateFlags(aws.ssm, gatesPath(STAGE))));
    return {
      keys: await each(byName(keyPurposes), async (purpose) => ({
        records: (await stores.keys.list(purpose)).toSorted((a, b) => (a.kid < b.kid ? -1 : 1)),
        active: await keys.active(purpose),
        opened: await each(byName(['k1', 'k2', 'k3', 'k4']), (kid) => keys.open(purpose, kid)),
      })),
      release: { ...release, manifest },
      released: releaseOf(manifest, flags),
      watched: await watch(),
    };
  },

  records: async ({ stores, forms }) => {
    const options = { table: stores.records, mayReadSystem: () => true, now: Date.now };
    const records = createRecordStore(options);
    const policies = createAnalysisPolicyStore(options);
    const kinds = {
      policy: async (id) => sound(await records.policy(TENANT, id)),
      calibration: async (id) => {
        const found = sound(await records.calibration(TENANT, id));
        return { ...found, parameters: found && sound(await found.parameters()) };
      },
      'analysis-policy': async (id) => {
        const found = sound(await policies.read(TENANT, id));
        if (found === undefined) throw new Error(`no analysis policy ${id}`);
        const { owner, policy } = found;
        const pinned = await policies.readPinned(TENANT, { owner, id, checksum: policy.checksum });
        return {
          owner,
          policy,
          isPinned: pinned.ok && hashCanonical(pinned.value) === hashCanonical(policy),
        };
      },
    } satisfies Record<RecordKey['kind'], (id: string) => Promise<unknown>>;
    // Every record of the forms, so that the readers of a release are fed with what a later one adds.
    const keys = forms.items.records.flatMap(({ pk, sk }) =>
      textOf(sk) === 'document' ? (parsePartitionKey(textOf(pk)) ?? []) : [],
    );
    return each(byName(recordKinds), (kind) =>
      each(byName(keys.flatMap((key) => (key.kind === kind ? key.id : []))), (id): Promise<unknown> =>
        kinds[kind](id),
      ),
    );
  },

  improvement: async ({ stores: { improvement: store }, forms }) => {
    const runs = forms.items.improvement.filter(({ sk }) => textOf(sk) === '0-run');
    const open = await all(store.listOpen());
    const one = { tenantId: TENANT, administrationId: 'administration #1' };
    const openOfOne = await all(store.listOpen(one));
    const lineages = forms.items.improvement.filter(({ pk }) => textOf(pk).startsWith('lineage#'));
    return {
      runs: await each(
        byName(runs.map(({ improvementRunId }) => textOf(improvementRunId))),
        async (improvementRunId) => {
          const key = { tenantId: TENANT, improvementRunId };
          const progress = await store.readProgress(key);
          const apart = {
            run: await store.readRun(key),
            evidence: progress?.evidence,
            orders: await store.listOrders(key, { limit: 100 }),
          };
          return {
            run: apart.run,
            summary: await store.readSummary(key),
            evidence: await each(
              Object.fromEntries((progress?.evidence ?? []).map((evidence) => [evidence.key, evidence])),
              async ({ key: name }) => store.readEvidence(key, name),
            ),
            orders: apart.orders,
            isTheSameInProgress: hashCanonical(plain(progress)) === hashCanonical(plain(apart)),
          };
        },
      ),
      open,
      openOfOne,
      lineages: lineages.map((item) =>
        (textOf(item['sk']) === 'head' ? headOf : formerOf)(unmarshall(thawItem(item))),
      ),
    };
  },
} satisfies Record<TableName, Reader>;

/** Everything else. */
const others = {
  'receipt bundles': ({ stores, forms }) =>
    each(objectsIn(forms, 'tenant%20%C3%BC%2F%231%2Ea/'), async (_, key) => {
      const sha256 = key.split('/').at(-1) ?? '';
      const bytes = await stores.receipts.get(TENANT, sha256);
      const checked = checkReceipt({ name: `${sha256}.json`, bytes: bytes ?? new Uint8Array() });
      const { checks, receipt } = sound(checked);
      return { receipt, failures: checks.flatMap(({ failures }) => failures) };
    }),

  'objects of a release': ({ aws, forms }) =>
    each(objectsIn(forms, 'release.'), async (_, key) => {
      const bytes = await readObject(aws.s3, `s3://${localBucketName}/${key}`, MAX_MANIFEST_BYTES);
      const text = Buffer.from(bytes ?? []).toString();
      if (!key.startsWith('release.manifests/')) return text;
      return sound(await verifyManifest(text, { key: forms.keys.releaseKey, stage: STAGE, now: READ_AT }));
    }),

  'parameters of a release': async ({ aws }) => ({
    flags: Object.fromEntries(await readGateFlags(aws.ssm, gatesPath(STAGE))),
    reference: parseReference((await readGateParameter(aws.ssm, manifestParameter(STAGE))) ?? ''),
  }),

  'retired keys': ({ stores: { retired } }) =>
    each(byName(keyPurposes), async (purpose) => [...(await retired.retired(purpose)).keys()]),

  'leaked keys': ({ stores: { retired } }) =>
    each(byName(keyPurposes), async (purpose) =>
      [...(await retired.retired(purpose))].flatMap(([kid, isLeaked]) => (isLeaked ? [kid] : [])),
    ),

  'purposes with keys': async ({ stores: { retired } }) => [...(await retired.newest()).keys()].toSorted(),

  'service profiles': ({ stores: { profiles: reader } }) =>
    each(byName([TENANT, 'tenant-b']), async (tenantId) => {
      const rules = { approvedHosts: ['platform.example'], stage: STAGE };
      const profile = sound(profileOf((await reader.read(tenantId)).parameters, tenantId, rules));
      return { ...profile, credential: profile.credential.reveal() };
    }),

  'stored profiles': async ({ forms, stores: { storedProfiles: items } }) =>
    each(byName([...(await items.list())]), async (tenantId) => {
      const kms = kmsOf(forms.keys.dataKeys);
      const profiles = createServiceProfiles({
        reader: { read: items.read, open: (wrapped) => openCredential(kms, STAGE, wrapped, tenantId) },
        approvedHosts: ['platform.example'],
        stage: STAGE,
        now: () => READ_AT,
        random: (bytes) => new Uint8Array(bytes),
      });
      const { credential, ...profile } = sound(await profiles.resolve(tenantId));
      return { profile, credential: credential.reveal(), item: await items.read(tenantId) };
    }),

  'messages of the queue': ({ forms }) => forms.messages.map(parseRunMessage),

  'files of commands': ({ forms }) => each(forms.files, (text) => sound(readProof(Buffer.from(text)))),

  /** What owners and stores keep under names that are derived anew with every retry. */
  'derived names': () => ({
    ...({
      componentId: reportNames.componentId(TENANT, 'attempt-1', { qtiItemId: 'item', qtiOutcomeId: 'SCORE' }),
      componentsKey: reportNames.componentsKey(TENANT, 'attempt-1', 'hash'),
      gradeEventIri: reportNames.gradeEventIri(settled),
      scoreIri: reportNames.scoreIri(settled),
      entityIri: reportNames.entityIri(TENANT, 'attempt', 'attempt ü'),
    } satisfies Record<keyof typeof reportNames, string>),
    improvementRunId: `run_${deterministicUuid('improvement-run', TENANT, 'op_1')}`,
  }),
} satisfies Record<string, Reader>;

const everyReader = { ...sealed, ...tables, ...others };

/**
 * Everything that is stored or sealed, and how the product reads it. A key purpose or a table without a reader does not
 * compile.
 */
export const readers: Readonly<Record<string, Reader>> = everyReader;

/** What readers make of the forms of a version, before it is JSON. */
export type DecodedForms = {
  readonly [Name in keyof typeof everyReader]: Awaited<ReturnType<(typeof everyReader)[Name]>>;
};

/** What a reader makes of its forms, as JSON: sets as lists, bytes as base64, long texts by their digest. */
export async function readForm(name: string, reading: Reading): Promise<unknown> {
  const reader = readers[name];
  if (reader === undefined) throw new TypeError(`no reader of ${name}`);
  return plain(await reader(reading));
}

const settled = { tenantId: TENANT, attemptId: 'attempt-1', resultRecordId: 'record-1', version: '3' };

function namesIn(state: AdaptiveRunState): Record<keyof RunNames, string> {
  const names = namesOf(state);
  return { ...names, offerKey: names.offerKey(1), componentId: names.componentId('kc-a') };
}

/**
 * What a list answers to its cursor. The caller may see neither list, and nobody looks at that before the cursor: a cursor that is refused
 * gives 400, another answer says that it was taken.
 */
async function listAfter(
  keys: KeyRing,
  { list, path, query, principal, token }: FrozenCursor,
): Promise<string> {
  const request = (route: typeof listCandidateReports | typeof listRevisionOrders) => ({
    principal,
    path: route.request.path.parse(path),
    query: route.request.query.parse({ ...query, cursor: token }),
    receivedAt: READ_AT,
    deadline: READ_AT + 10_000,
    log: () => undefined,
  });
  const profiles = { resolve: () => Promise.resolve(err('missing')) };
  // SAFETY: neither operation gets further than to the caller's claims and the tenant's profile.
  const answer =
    list === 'listCandidateReports'
      ? await listCandidateReportsOperation({ keys, profiles } as never)(
          request(listCandidateReports) as never,
        )
      : await listRevisionOrdersOperation({ keys, profiles } as never)(request(listRevisionOrders) as never);
  if (answer.ok) return 'a page';
  if (answer.error.status === 400) throw new Error('the list refuses its cursor');
  return `${answer.error.status} ${answer.error.code}`;
}

/** A refusal is not frozen: every form opens. */
function sound<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(`a stored form is refused: ${JSON.stringify(result.error)}`);
  return result.value;
}

function objectsIn({ objects }: FrozenForms, folder: string): FrozenForms['objects'] {
  return Object.fromEntries(Object.entries(objects).filter(([key]) => key.startsWith(folder)));
}

function textOf(value: unknown): string {
  return (value as { readonly S?: string } | undefined)?.S ?? '';
}

async function all<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

/** Each name under itself. */
function byName<Name extends string>(names: readonly Name[]): Record<string, Name> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (_, member: unknown): unknown => {
      if (member instanceof Set) return [...(member as ReadonlySet<unknown>)];
      if (typeof member === 'string' && member.length > 10_000)
        return { characters: member.length, sha256: sha256Hex(member) };
      return member instanceof Uint8Array ? { base64: Buffer.from(member).toString('base64') } : member;
    }),
  );
}
