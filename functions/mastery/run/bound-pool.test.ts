import { beforeAll, describe, expect, it } from 'vitest';
import type { ReadPool } from '#functions/mastery/pool/read-pool.ts';
import type { PoolMember, ReconciledPool } from '#functions/mastery/pool/reconcile.ts';
import { loadNamed, type PinnedRecords } from '#functions/mastery/records/load.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Blueprint } from '#shared/platform/owners/content.ts';
import { problem } from '#shared/problems/registry.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { exampleOutcome, exampleState } from '#test/support/example-run.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import { createMemoryRecordsTable, releaseInto } from '#test/support/memory-records.ts';
import {
  FRAMEWORK_1,
  KC_A,
  KC_B,
  STANDARD_1,
  sampleCalibrationFile,
  samplePolicyFile,
} from '#test/support/sample-files.ts';
import { readBasis, type RunBasis } from './basis.ts';
import { bindPool, type BoundPool } from './bound-pool.ts';
import { assess, excludesTooMuch } from './diagnosis.ts';
import type { NamedRuntime } from './outcomes.ts';

const test: Blueprint = {
  tenantId: 'tenant-1',
  itemId: 'spec-1',
  role: 'spec',
  version: '1',
  subject: 'Mathematics',
  gradeLevels: ['05'],
  caseFrameworkGuid: FRAMEWORK_1,
  slots: [],
};
const second = {
  artifactVersionId: 'av-2',
  qtiIdentifier: 'item-2',
  caseGuids: ['x'],
  kcGuids: [KC_A, KC_B],
};
const first = {
  artifactVersionId: 'av-1',
  qtiIdentifier: 'item-1',
  caseGuids: [STANDARD_1],
  kcGuids: [KC_A],
};

/** A pool, of which binding looks at the members and at their hash. */
function poolOf(resolvedPoolHash: string, members: readonly PoolMember[] = [second, first]): ReconciledPool {
  return { pins: { resolvedPoolHash } as ReconciledPool['pins'], members };
}

function bound(records: PinnedRecords, pool: ReconciledPool): BoundPool {
  const result = bindPool(records, test, pool);
  if (!result.ok) throw new Error(result.error.detail);
  return result.value;
}

/** Of these two items a run has at most one. */
const enemies = { enemySets: [['item-1', 'item-2']] };
const slots = { blueprintCoverage: 'slots' } as const;

const under = (records: PinnedRecords, policy: Partial<SelectionPolicy>): PinnedRecords => ({
  ...records,
  policy: { ...records.policy, ...policy },
});

describe('bindPool', () => {
  const pool = poolOf('1');
  let records: PinnedRecords;
  beforeAll(async () => {
    const table = createMemoryRecordsTable();
    const policy = await releaseInto(table, samplePolicyFile());
    const calibration = await releaseInto(table, sampleCalibrationFile());
    const ids = { selectionPolicyId: policy.key.id, scaleCalibrationId: calibration.key.id };
    const loaded = await loadNamed(
      createRecordStore({ table, mayReadSystem: () => true, now: Date.now }),
      'tenant-1',
      ids,
      Date.parse('2026-06-01T00:00:00Z'),
    );
    if (!loaded.ok) throw new Error(loaded.error.detail);
    records = loaded.value;
  });

  it('maps each member to its parameters, in the pool’s order, with its tags and accessibility', () => {
    const { items, scope, byArtifactVersion } = bound(records, pool);
    expect(items).toEqual([
      { ...second, item: 1, tags: [KC_A, KC_B, 'x'], accessibility: ['text-to-speech'] },
      { ...first, item: 0, tags: [KC_A, STANDARD_1], accessibility: [] },
    ]);
    const uriOf = (guid: string) => `https://case.example/ims/case/v1p1/CFItems/${guid}`;
    expect(scope).toEqual([KC_A, KC_B].map((guid, modelKc) => ({ guid, uri: uriOf(guid), modelKc })));
    expect([...byArtifactVersion]).toEqual(items.map((item) => [item.artifactVersionId, item]));
  });

  it('selects under every rule of the policy, floors and content minima being demands of one kind [MA-110, MA-113]', () => {
    const { scope, selection } = bound(records, pool);
    expect(scope.map(({ guid }) => guid)).toEqual([KC_A, KC_B]);
    expect(selection().constraints).toMatchObject({
      scope: scope.map(({ modelKc }) => modelKc),
      maxItems: 12,
      requiredAccessibility: ['text-to-speech'],
      enemySets: [['item-1', 'item-2']],
      excludedItems: ['item-3'],
      minima: [
        { guid: KC_A, items: 1 },
        { guid: KC_B, items: 0 },
        { guid: STANDARD_1, items: 1 },
      ],
      maxima: [{ guid: STANDARD_1, items: 4 }],
      priorUse: 'avoid',
      exposure: { method: 'randomesque', size: 3 },
    });
  });

  it('prepares the same content once, and anew for another pool, policy, calibration or test', () => {
    const before = bound(records, pool);
    const again = bound({ ...records, policy: structuredClone(records.policy) }, poolOf('1'));
    expect(again).toBe(before);
    expect(again.selection()).toBe(before.selection());
    const { calibration } = records;
    const document = { ...calibration.document, checksum: '1'.repeat(64) };
    for (const [others, otherPool] of [
      [records, poolOf('2')],
      [{ ...records, calibration: { ...calibration, parametersHash: '' } }, pool],
      [{ ...records, calibration: { ...calibration, document } }, pool],
      [under(records, { checksum: 'b'.repeat(64) }), pool],
    ] as const)
      expect(bound(others, otherPool)).not.toBe(before);
  });

  it('takes the components of an item in whatever order an older calibration has them', () => {
    const { calibration } = records;
    const items = calibration.parameters.items.map((item) => ({ ...item, kcs: item.kcs.toReversed() }));
    const older = {
      ...calibration,
      parametersHash: 'older',
      parameters: { ...calibration.parameters, items },
    };
    expect(bound({ ...records, calibration: older }, pool).items).toEqual(bound(records, pool).items);
  });

  it('takes the policy’s scope where it names one, sorted by GUID', () => {
    const scopeOf = (...kcScope: string[]) =>
      bound(under(records, { checksum: kcScope.join(), eligibilityRules: { kcScope } }), pool).scope.map(
        ({ guid }) => guid,
      );
    expect([scopeOf(KC_B), scopeOf(KC_B, KC_A)]).toEqual([[KC_B], [KC_A, KC_B]]);
  });

  const ABSENT = '00000000-0000-4000-8000-00000000abcd';
  const slotsFor = (...guids: string[]): Partial<Blueprint> => ({
    slots: guids.map((guid, at) => ({ slotId: `slot-${at}`, caseGuids: [guid] })),
  });

  it.each<[string, Partial<SelectionPolicy>, Partial<Blueprint>]>([
    ['a component in scope', { eligibilityRules: { kcScope: [ABSENT, KC_A] } }, {}],
    ['a standard in scope', { eligibilityRules: { kcScope: [STANDARD_1] } }, {}],
    ['a floor', { coverageFloors: [{ caseCompetencyGuid: ABSENT, minimumEvidenceItems: 0 }] }, {}],
    ['a minimum', { eligibilityRules: { contentConstraints: { [ABSENT]: { minItems: 1 } } } }, {}],
    ['a slot', { eligibilityRules: { blueprintCoverage: 'slots' } }, slotsFor(STANDARD_1, ABSENT)],
  ])('refuses a policy that counts on %s that the pool does not have', (what, policy, change) => {
    const counting = under(records, { checksum: what, coverageFloors: [], eligibilityRules: {}, ...policy });
    const result = bindPool(counting, { ...test, ...change }, pool);
    expect(result).toMatchObject({
      error: { status: 400, invalidParams: [{ name: '/body/selectionPolicyId', reason: 'mismatch' }] },
    });
    expect(JSON.stringify(result)).not.toContain(ABSENT);
  });

  it.each([
    ['slots', [{ guid: STANDARD_1, items: 2 }]],
    ['none', []],
    [undefined, []],
  ] as const)('makes minima of the blueprint’s slots only if the policy says so: %s', (coverage, minima) => {
    const eligibilityRules = coverage === undefined ? {} : { blueprintCoverage: coverage };
    const policy = under(records, { checksum: `${coverage}`, coverageFloors: [], eligibilityRules });
    const result = bindPool(policy, { ...test, ...slotsFor(STANDARD_1, STANDARD_1) }, pool);
    expect(result.ok && result.value.selection().constraints.minima).toEqual(minima);
  });

  it('takes a policy and an exposure table that name absent items, and counts each of these once [MA-088, MA-113]', () => {
    const eligibilityRules: SelectionPolicy['eligibilityRules'] = {
      ...{ excludedItems: ['absent 1', 'absent 4', 'item-1'], enemySets: [['absent 1', 'absent 2']] },
      contentConstraints: { [ABSENT]: { maxItems: 1 } },
      exposure: { method: 'sympson_hetter', tableSha256: '0'.repeat(64) },
    };
    const policy = under(records, { checksum: 'absent', eligibilityRules });
    const exposureTable = { 'item-1': 0.25, 'absent 1': 0.5, 'absent 3': 1 };
    const { absentItems, selection } = bound({ ...policy, exposureTable }, pool);
    expect(absentItems).toBe(4);
    const probabilities = new Map(Object.entries(exposureTable));
    expect(selection().constraints.exposure).toEqual({ method: 'sympson_hetter', probabilities });
  });

  const refused = { ok: false, error: { status: 422, code: 'calibration-invalid', retryable: false } };

  it.each<[string, Partial<Blueprint>]>([
    ['subject', { subject: 'Science' }],
    ['subject in another case', { subject: 'mathematics' }],
    ['grade', { gradeLevels: ['05', '12'] }],
    ['CASE framework', { caseFrameworkGuid: 'another' }],
  ])('refuses a test of another %s, however often it was bound before [MA-052, MA-195]', (_, change) => {
    bound(records, pool);
    expect(bindPool(records, { ...test, ...change }, pool)).toMatchObject(refused);
  });

  it.each<[string, Partial<PoolMember>]>([
    ['no parameters', { artifactVersionId: 'av-1b' }],
    ['another QTI identifier', { qtiIdentifier: 'item-9' }],
    ['a component more', { kcGuids: [KC_A, KC_B, STANDARD_1] }],
    ['another component', { kcGuids: [KC_A, STANDARD_1] }],
    ['a component fewer', { kcGuids: [KC_A] }],
  ])('refuses a member with %s [MA-195]', (_, change) => {
    const plain = under(records, { checksum: 'plain', eligibilityRules: {}, coverageFloors: [] });
    expect(bindPool(plain, test, poolOf('3', [{ ...second, ...change }, first]))).toMatchObject(refused);
  });

  describe('a start', () => {
    const session = (id: string, rootArtifactVersionId: string) => ({
      deliverySessionId: id,
      rootArtifactVersionId,
      createdAt: '2026-05-01T00:00:00Z',
      attempts: [],
    });
    const own = [session('own', second.artifactVersionId)];
    const met = [session('a', first.artifactVersionId), session('b', second.artifactVersionId)];

    it.each<[string, number, string, boolean, Partial<Record<'unnamed' | 'others', readonly unknown[]>>]>([
      ['excludes all items is refused', 1, 'exclude', true, { others: met }],
      ['excludes none is not', 1, 'exclude', false, {}],
      ['only avoids them is not', 1, 'avoid', false, { others: met }],
      [
        'has made its own offer is not, whatever other runs have met',
        2,
        'exclude',
        false,
        { unnamed: own, others: met },
      ],
      ['leaves fewer items than a floor needs is refused', 2, 'exclude', true, { others: met.slice(1) }],
      [
        'leaves a floor that the pool cannot meet anyway is not',
        3,
        'exclude',
        false,
        { others: met.slice(1) },
      ],
    ])('that %s [MA-112, MA-153]', (what, floor, priorUse, expected, runtime) => {
      const excluding = under(records, {
        checksum: what,
        coverageFloors: [{ caseCompetencyGuid: KC_A, minimumEvidenceItems: floor }],
        eligibilityRules: { priorUse: priorUse as 'avoid' | 'exclude' },
      });
      const basis = { ...excluding, bound: bound(excluding, pool) } as RunBasis;
      const none = { sessions: [], unnamed: [], others: [] };
      expect(excludesTooMuch(basis, { ...none, ...runtime } as NamedRuntime)).toBe(expected);
    });
  });

  describe('a Content that is not as pinned', () => {
    const failed = err(problem('mastery', 'stream-conflict', 409));
    const answered = { ...exampleOutcome, artifactVersionId: 'av-1' };

    it.each<[string, Partial<SelectionPolicy>, string, number?]>([
      ['binds an offer', {}, 'refused'],
      [
        'does not bind a stop by classifications',
        { confidenceThreshold: 0.5, eligibilityRules: { kcScope: [KC_A] } },
        'classifications_complete',
      ],
      ['does not bind a stop by precision', { precisionTarget: 10 }, 'precision_target_met'],
      ['does not bind a stop by the number of items', { maxItems: 1 }, 'max_items'],
      ['does not bind a stop by the time budget', { timeBudgetSeconds: 2 }, 'time_budget', 2_000],
      [
        'binds a stop that selection finds under slots',
        { eligibilityRules: { ...enemies, ...slots } },
        'refused',
      ],
      ['does not bind one otherwise', { eligibilityRules: enemies }, 'max_items'],
      [
        'does not decide by which rule a run ends: under slots, which an exhausted pool would need',
        { timeBudgetSeconds: 2, eligibilityRules: { ...enemies, ...slots } },
        'time_budget',
        2_000,
      ],
    ])('%s [MA-067, MA-137, MA-138, MA-198]', (what, policy, expected, elapsedMilliseconds = 0) => {
      const endless = { kcCutScore: 0.5, confidenceThreshold: 0.999999, precisionTarget: 1e-9 };
      const running = under(records, {
        checksum: what,
        ...endless,
        coverageFloors: [],
        eligibilityRules: {},
        ...policy,
      });
      const basis = { ...running, bound: bound(running, pool), isAnchored: true };
      const decide = (content: RunBasis['content']) => {
        const clock = { elapsedMilliseconds, met: new Set<string>() };
        const { next } = assess({ ...basis, content } as RunBasis, exampleState, [answered], clock);
        return next.kind === 'stop' ? next.reason : next.kind;
      };
      expect(decide(failed)).toBe(expected);
      expect(decide(ok(test))).toEqual(
        expected === 'refused' ? expect.stringMatching(/^(offer|max_items)$/) : expected,
      );
    });
  });

  it.each<[string, object, Readonly<Record<'start' | 'run' | 'simulation', string>>]>([
    ['is sound', {}, { start: 'anchored', run: 'anchored', simulation: 'anchored' }],
    ['is absent', { tableVersion: 'other' }, { start: '422', run: 'unanchored', simulation: '422' }],
    ['has another licence', { licenseScope: 'trial' }, { start: '422', run: '422', simulation: '422' }],
    ['is not verified', { sourceRef: null }, { start: 'unanchored', run: 'unanchored', simulation: '424' }],
  ])('an anchor that %s [MA-032, MA-080, MA-153, MA-194]', async (_, change, expected) => {
    const { anchor, caseFrameworkGuid } = records.calibration.document;
    const table = (odd: object) => ({
      value: {
        ...{ tenantId: 'tenant-1', tableVersion: anchor.version, ...odd },
        sourcePoints: [{ ...anchor, sourceRef: 'ref', ...odd }],
      },
    });
    const { pins } = pool;
    const itemOf = ({ guid, uri }: BoundPool['scope'][number]) => ({
      value: {
        ...{ identifier: guid, uri, fullStatement: 's', lastChangeDateTime: '2026-01-01T00:00:00Z' },
        CFDocumentURI: { title: 't', identifier: caseFrameworkGuid, uri: 'https://case.example/f' },
      },
    });
    const outcomeOf = async (purpose: 'start' | 'run' | 'simulation', ...answers: readonly object[]) => {
      const owners = scriptedOwners({
        readCfItem: bound(records, pool).scope.map(itemOf),
        verifyAnchor: answers.map(table),
      });
      const reading = Promise.resolve(ok({ pool, pins: pins as ReadPool['pins'], content: ok(test) }));
      const basis = await readBasis(owners, records, reading, purpose);
      if (!basis.ok) return String(basis.error.status);
      return basis.value.isAnchored ? 'anchored' : 'unanchored';
    };
    for (const purpose of ['start', 'run', 'simulation'] as const) {
      expect([purpose, await outcomeOf(purpose, change)]).toEqual([purpose, expected[purpose]]);
      // One odd answer is no refusal.
      if (expected[purpose] === '422') expect(await outcomeOf(purpose, change, {})).toBe('anchored');
    }
  });
});
