/** Facts of owners that belong together, as compositions of reports take them: any ids and numbers that the owners' contracts allow. */
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type {
  AttemptFacts,
  IndexRow,
  Moment,
  ReadinessFacts,
  Released,
  ReportFacts,
} from '#functions/reports/facts/facts.ts';
import type { PageContext } from '#functions/reports/composition/page.ts';
import { stopReason } from '#shared/contract/stop-reason.ts';
import { reference as referenceSchema } from '#shared/contract/reports/primitives.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type {
  CandidateAttempts,
  RecordHeader,
  SettledGate,
  SettledRecord,
  SettledMastery,
} from '#shared/platform/owners/results.ts';
import { problem } from '#shared/problems/registry.ts';
import { wholeRelease } from './release.ts';

export const tenantId = 'tenant-1';

export const moment: Moment = {
  observedAt: '2026-03-02T10:15:30.412Z',
  requestId: '0f8e6d1c-6f0b-4a57-9d3e-2b7f4c1a9e55',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
};

export const problemsUrl = 'https://problems.example';

/** Ids that a careless object or an eager cleaner would spoil, and the longest ones. */
const hostileIds = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '0',
  'Å',
  'A\u030a',
  'ｶﾞ',
  '%2F..%00',
  '🦉'.repeat(63) + 'abc',
  'é'.repeat(127) + 'z',
  'a'.repeat(255),
];

/** Any platform reference [RP-049, RP-050]. */
export const reference: Arbitrary<string> = fc
  .oneof(
    { weight: 1, arbitrary: fc.constantFrom(...hostileIds) },
    { weight: 3, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 24 }) },
    { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: 12 }) },
  )
  .filter((text) => referenceSchema.safeParse(text).success);

function references(minLength: number, maxLength: number): Arbitrary<string[]> {
  return fc.uniqueArray(reference, { minLength, maxLength });
}

/** A name or version as its owner gives it. */
export const text: Arbitrary<string> = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });

const finite: Arbitrary<number> = fc.double({ noNaN: true, noDefaultInfinity: true });
const magnitude: Arbitrary<number> = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });

/** Two instants of one second that no number of milliseconds tells apart, among others. */
export const instant: Arbitrary<string> = fc.oneof(
  fc
    .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.constantFrom('2026-03-02T10:15:30.123456789Z', '2026-03-02T10:15:30.123456788Z', '2026-03-02T10:15:30Z'),
);

export function receipt(service: SourceService, resourceId: string, version: string | null): SourceRef {
  return { service, resourceId, observedAt: '2026-03-02T10:15:30.352Z', version, status: 'current' };
}

/** The receipt of an owner of this service's contract, which carries its own version. */
export function observed<T extends { version: string }>(
  service: SourceService,
  resourceId: string,
  value: T,
): { value: T; receipt: SourceRef } {
  return { value, receipt: receipt(service, resourceId, value.version) };
}

export type Kind = 'mastery_gate' | 'adaptive_diagnostic' | 'formative' | 'a_kind_of_tomorrow';
const kinds: readonly Kind[] = ['mastery_gate', 'adaptive_diagnostic', 'formative', 'a_kind_of_tomorrow'];

const score: Arbitrary<NonNullable<RecordHeader['score']>> = fc
  .tuple(
    fc.tuple(finite, finite, finite).map((values) => values.toSorted((a, b) => a - b)),
    fc.boolean(),
    fc.boolean(),
    fc.constantFrom('points', 'percent', 'mastery_scale', 'stanine'),
    fc.option(text),
    text,
  )
  .map(([[minimum = 0, value = 0, maximum = 0], below, above, unit, scaleVersion, masteryVersion]) => ({
    value,
    minimum: below ? minimum : null,
    maximum: above ? maximum : null,
    unit,
    scaleVersion: unit === 'mastery_scale' ? masteryVersion : scaleVersion,
  }));

/** Decision and criteria that fit each other, with what is missing at one of the two owners. */
interface GatePart {
  readonly gate: SettledGate | null;
  readonly criteria: ReportCriteria['criteria'];
}

function gatePart(
  guids: readonly string[],
  mastery: readonly Pick<SettledMastery, 'caseGuid' | 'state'>[],
): Arbitrary<GatePart> {
  const inState = (state: string) => mastery.filter((row) => row.state === state).map((row) => row.caseGuid);
  const rowGaps = [...new Set(inState('gap'))];
  const mastered = inState('mastered');
  // Of two rows with one GUID only one is mastered: no gate can list it.
  const isListable = rowGaps.every((guid) => !mastered.includes(guid));
  return fc
    .record({
      status: isListable
        ? fc.constantFrom('pass', 'fail', 'indeterminate', 'appealed')
        : fc.constantFrom('pass', 'indeterminate', 'appealed'),
      criteriaVersion: text,
      achieved: finite,
      measured: fc.boolean(),
      required: finite,
      gaps: fc.subarray(guids.filter((guid) => !mastered.includes(guid))),
      coverageEvidenceId: fc.option(reference),
      missing: fc.constantFrom(
        'nothing',
        'nothing',
        'nothing',
        'decision',
        'content',
        'threshold',
        'version',
      ),
    })
    .map(
      ({
        status: drawn,
        criteriaVersion,
        achieved,
        measured,
        required,
        gaps,
        coverageEvidenceId,
        missing,
      }) => {
        const listed = [...new Set([...gaps, ...rowGaps])];
        const status = drawn === 'fail' && listed.length === 0 ? 'indeterminate' : drawn;
        // A pass beside gaps speaks of everything else.
        const governed =
          status === 'pass' && rowGaps.length > 0
            ? { governedCaseGuids: guids.filter((guid) => !rowGaps.includes(guid)) }
            : {};
        return {
          gate:
            missing === 'decision'
              ? null
              : {
                  status,
                  criteriaVersion: missing === 'version' ? null : criteriaVersion,
                  achieved:
                    status === 'indeterminate' && !measured
                      ? null
                      : status === 'pass'
                        ? Math.max(achieved, required)
                        : achieved,
                  required: missing === 'threshold' ? null : required,
                  gapCaseGuids: status === 'pass' ? [] : status === 'fail' ? listed : gaps,
                  coverageEvidenceId,
                },
          criteria: missing === 'content' ? null : { criteriaVersion, required, ...governed },
        };
      },
    );
}

const diagnostic: Arbitrary<NonNullable<RecordHeader['diagnostic']>> = fc.record({
  scaleScore: finite,
  scaleVersion: text,
  calibrationVersion: text,
  standardError: magnitude,
  stoppingReason: fc.constantFrom(...stopReason.options, 'fire_alarm'),
});

/** What was measured, on the scale of a score on a mastery scale. */
function onScaleOf(
  { unit, value, scaleVersion }: NonNullable<RecordHeader['score']>,
  measured: NonNullable<RecordHeader['diagnostic']>,
): NonNullable<RecordHeader['diagnostic']> {
  return unit === 'mastery_scale' && scaleVersion !== null
    ? { ...measured, scaleScore: value, scaleVersion }
    : measured;
}

/** The row with its estimate on the side of the threshold that its state says. */
function onItsSide<Row extends { state: string; estimate: number; threshold: number }>(row: Row): Row {
  const { state, estimate, threshold } = row;
  const isSwapped = state === 'mastered' ? estimate < threshold : state === 'gap' && estimate > threshold;
  return isSwapped ? { ...row, estimate: threshold, threshold: estimate } : row;
}

/** A framework whose items hang on items before them, and mastery rows on some of them with outcomes as their evidence. */
const masteryPart = references(1, 6)
  .chain((guids) =>
    fc.record({
      guids: fc.constant(guids),
      above: fc.tuple(...guids.map((_, at) => fc.subarray(guids.slice(0, at)))),
      outcomes: fc.uniqueArray(
        fc.record({ qtiItemId: reference, qtiOutcomeId: reference, scoredAt: instant }),
        {
          minLength: 1,
          maxLength: 6,
          selector: ({ qtiItemId, qtiOutcomeId }) => JSON.stringify([qtiItemId, qtiOutcomeId]),
        },
      ),
      places: fc.subarray(
        guids.flatMap((guid, at) => [
          { kind: 'standard' as const, guid, at },
          { kind: 'knowledge_component' as const, guid, at },
        ]),
        { minLength: 1 },
      ),
    }),
  )
  .chain(({ guids, above, outcomes, places }) =>
    fc.record({
      framework: fc.constant({
        guids: new Set(guids),
        // CASE holds the roots without an entry.
        parents: new Map(guids.flatMap((guid, at) => (above[at]!.length === 0 ? [] : [[guid, above[at]!]]))),
      }),
      outcomes: fc.constant(outcomes),
      mastery: fc.tuple(
        ...places.map(({ kind, guid, at }) =>
          fc
            .record({
              kind: fc.constant(kind),
              caseGuid: fc.constant(guid),
              parentCaseGuid: fc.constant(above[at]!.at(-1) ?? null),
              state: fc.constantFrom('mastered', 'not_yet', 'gap', 'insufficient_evidence', 'on_fire'),
              estimate: finite,
              threshold: finite,
              uncertainty: magnitude,
              uncertaintyKind: fc.constantFrom(
                'standard_error',
                'interval_half_width',
                'policy_margin',
                'gut_feeling',
              ),
              confidence: fc.constantFrom(undefined, null, 0.8),
              policyId: text,
              policyVersion: text,
              evidence: fc.subarray(outcomes, { minLength: 1 }).chain((contributing) =>
                fc.tuple(
                  ...contributing.map(({ qtiItemId, qtiOutcomeId }) =>
                    fc.record({
                      qtiItemId: fc.constant(qtiItemId),
                      qtiOutcomeId: fc.constant(qtiOutcomeId),
                      resultComponentId: fc.option(reference),
                      contribution: finite,
                    }),
                  ),
                ),
              ),
            })
            .map(onItsSide),
        ),
      ),
    }),
  );

/** The facts on one settled attempt, on which all owners agree, of a kind or of any. */
export function attemptFacts(kind: Arbitrary<Kind> = fc.constantFrom(...kinds)): Arbitrary<ReportFacts> {
  return masteryPart.chain(({ framework, outcomes, mastery }) => {
    return fc
      .record({
        testKind: kind,
        ids: fc.record({
          attemptId: reference,
          qtiSessionId: fc.option(reference),
          qtiTestId: reference,
          candidateSourcedId: reference,
          administrationId: reference,
          contentTestSpecId: reference,
          resultRecordId: reference,
        }),
        caseFrameworkGuid: reference.filter((guid) => !framework.guids.has(guid)),
        versions: fc.record({ qti: text, record: text, content: text }),
        score,
        gate: gatePart([...framework.guids], mastery),
        diagnostic,
        modifiedAt: instant,
        changedAt: fc
          .tuple(fc.nat(86_400_000), fc.nat(86_400_000))
          .map(([built, since]) => [built, built + since].map((at) => new Date(at).toISOString())),
        qualifyingCoverage: fc.boolean(),
        normsSet: fc.option(text),
        isEnriched: fc.constantFrom('not' as const, 'read' as const, 'failed' as const),
        hasOtherSections: fc.boolean(),
      })
      .map((part) => {
        const { testKind, ids, versions } = part;
        const isGate = testKind === 'mastery_gate' || part.hasOtherSections;
        const isDiagnostic = testKind === 'adaptive_diagnostic' || part.hasOtherSections;
        const { attemptId, candidateSourcedId, contentTestSpecId, resultRecordId } = ids;
        const shared = { attemptId, candidateSourcedId, contentTestSpecId };
        const [builtAt = '', changedAt = ''] = part.changedAt;
        return {
          evidence: observed('qti', attemptId, {
            tenantId,
            ...shared,
            qtiSessionId: ids.qtiSessionId,
            qtiTestId: ids.qtiTestId,
            administrationId: ids.administrationId,
            version: versions.qti,
            freshness: 'current',
            status: 'scored',
            contentTestSpecVersion: versions.content,
            resultRecordId,
            resultRecordVersion: versions.record,
            administeredItemCount: outcomes.length,
            outcomes,
          }),
          record: observed('results', resultRecordId, {
            tenantId,
            resultRecordId,
            ...shared,
            version: versions.record,
            freshness: 'current',
            settled: true,
            contentTestSpecVersion: versions.content,
            testKind,
            modifiedAt: part.modifiedAt,
            score: part.score,
            gate: isGate ? part.gate.gate : null,
            diagnostic: isDiagnostic ? onScaleOf(part.score, part.diagnostic) : null,
            completionEventIri: null,
            mastery,
          }),
          criteria: observed('content', contentTestSpecId, {
            tenantId,
            testSpecId: contentTestSpecId,
            version: versions.content,
            freshness: 'current',
            testKind,
            caseFrameworkGuid: part.caseFrameworkGuid,
            caseFrameworkChangedAt: builtAt,
            criteria: isGate ? part.gate.criteria : null,
            qualifyingCoverage: part.qualifyingCoverage,
            externalScale: part.normsSet === null ? null : { normsSet: part.normsSet },
          }),
          candidate: receipt('oneroster', candidateSourcedId, null),
          framework: {
            value: { changedAt, ...framework },
            receipt: receipt('case', part.caseFrameworkGuid, '"package"'),
          },
          enrichments: enrichmentsOf[part.isEnriched],
          proved: wholeRelease.proved,
        } satisfies ReportFacts;
      });
  });
}

/** The facts with as many mastery rows as there are numbers, each with so much evidence. */
export function withRows(facts: ReportFacts, evidence: readonly number[]): ReportFacts {
  const { record, framework } = facts;
  const [row] = record.value.mastery;
  const [piece] = row!.evidence;
  const mastery = evidence.map((count, at) => ({
    ...row!,
    caseGuid: `component-${at}`,
    parentCaseGuid: null,
    evidence: Array.from({ length: count }, (_, component) => ({
      ...piece!,
      resultComponentId: `${component}`,
    })),
  }));
  const guids = new Set(mastery.map(({ caseGuid }) => caseGuid));
  return {
    ...facts,
    record: { ...record, value: { ...record.value, mastery } },
    framework: { ...framework, value: { ...framework.value, guids, parents: new Map() } },
  };
}

const caliper = receipt('caliper', 'urn:uuid:7a2c', null);
/** Caliper not consulted, consulted, or consulted in vain. */
const enrichmentsOf = {
  not: [],
  read: [{ receipt: caliper }],
  failed: [
    {
      receipt: { ...caliper, status: 'unavailable' },
      problem: problem('reports', 'dependency-unavailable', 503, { dependency: 'caliper' }),
    },
  ],
} satisfies Readonly<Record<string, AttemptFacts['enrichments']>>;

/** A crosswalk that rules nothing out, for every condition of the rule one time in two. */
const crosswalk = fc.record({
  crosswalkVersion: text,
  coverageFraction: fc.oneof(
    fc.constant(1),
    fc.nat(1_000_000).map((millionths) => millionths / 1_000_000),
  ),
  dokDominance: fc.oneof(
    fc.constant('satisfied'),
    fc.constantFrom('not_satisfied', 'indeterminate', 'bloom_taxed'),
  ),
  qualifyingBlueprintSlotIds: references(0, 3),
  freshness: fc.constantFrom('current', 'current', 'current', 'stale', 'unknown'),
  limitations: fc.array(text, { maxLength: 3 }),
});

/** The facts on the readiness of an attempt of any kind. */
export const readinessFacts: Arbitrary<ReadinessFacts & Released> = fc
  .record({
    attempt: attemptFacts(fc.constantFrom('mastery_gate', 'mastery_gate', ...kinds)),
    crosswalkSetId: reference,
    version: text,
    entries: fc.uniqueArray(fc.tuple(text, text, crosswalk), {
      minLength: 1,
      maxLength: 5,
      selector: ([sourceTest, sourceVersion]) => JSON.stringify([sourceTest, sourceVersion]),
    }),
    stale: fc.constantFrom(
      ...(['none', 'none', 'none', 'qti', 'results', 'content', 'oneroster', 'case', 'blueprint'] as const),
    ),
  })
  .map(({ attempt, crosswalkSetId, version, entries, stale }) => {
    const { evidence, record, criteria, candidate, framework } = attempt;
    const facts: ReadinessFacts & Released = {
      ...attempt,
      crosswalks: observed('blueprint', crosswalkSetId, {
        tenantId,
        testSpecId: criteria.value.testSpecId,
        testSpecVersion: criteria.value.version,
        crosswalkSetId,
        version,
        freshness: 'current',
        entries: entries.map(([sourceTest, sourceVersion, entry]) => ({
          sourceTest,
          sourceVersion,
          ...entry,
        })),
      }),
    };
    const receipts = [evidence, record, criteria, framework, facts.crosswalks].map((fact) => fact.receipt);
    for (const source of [candidate, ...receipts]) if (source.service === stale) source.status = 'stale';
    return facts;
  });

/** An attempt as a row of the index of its candidate's attempts, with what its summary is composed with. */
export function rowOf({ evidence, record, criteria, candidate, proved }: ReportFacts): {
  row: IndexRow & { record: NonNullable<IndexRow['record']> };
  context: PageContext;
} {
  const { value: attempt } = evidence;
  const header: RecordHeader & Partial<SettledRecord> = { ...record.value };
  delete header.tenantId;
  delete header.mastery;
  return {
    row: {
      attemptId: attempt.attemptId,
      attemptStatus: attempt.status,
      qtiSessionId: attempt.qtiSessionId,
      qtiTestId: attempt.qtiTestId,
      administrationId: attempt.administrationId,
      contentTestSpecId: attempt.contentTestSpecId,
      contentTestSpecVersion: attempt.contentTestSpecVersion,
      administeredItemCount: attempt.administeredItemCount,
      modifiedAt: record.value.modifiedAt,
      record: {
        ...header,
        gapRowCaseGuids: record.value.mastery
          .filter(({ state }) => state === 'gap')
          .map(({ caseGuid }) => caseGuid),
      },
    },
    context: {
      candidateSourcedId: attempt.candidateSourcedId,
      filters: {},
      index: receipt('results', attempt.candidateSourcedId, '418'),
      candidate,
      criteria,
      proved,
    },
  };
}

/** A passed gate under the criteria of both owners, with its coverage evidence. */
export function passedGate(): ReportFacts {
  const facts = anExampleOf(attemptFacts(fc.constant('mastery_gate')));
  facts.criteria.value.criteria = { criteriaVersion: 'criteria-4', required: 0.8 };
  facts.record.value.gate = {
    status: 'pass',
    criteriaVersion: 'criteria-4',
    achieved: 0.9,
    required: 0.8,
    gapCaseGuids: [],
    coverageEvidenceId: 'coverage-771',
  };
  for (const row of facts.record.value.mastery) {
    row.state = 'mastered';
    row.estimate = row.threshold;
  }
  return facts;
}

/** What a test says of a row of an index. */
export interface RowSays {
  readonly status?: string;
  readonly spec?: string;
  readonly version?: string;
  /** The version that the record names. */
  readonly settledUnder?: string;
  readonly record?: Partial<IndexRow['record']> | null;
}

/** The index of a candidate with any number of attempts like one. */
interface LikeIndex {
  readonly candidateSourcedId: string;
  /** The n-th row: a minute older than the one before. */
  readonly row: (n: number, says?: RowSays) => IndexRow;
  readonly page: (rows: readonly IndexRow[], hasMore?: boolean) => CandidateAttempts;
  readonly criteria: (testSpecId: string, version: string) => ReportCriteria;
}

/** Opens an index whose attempts are like one. */
export function indexLike(facts: ReportFacts): LikeIndex {
  const { row: example, context } = rowOf(facts);
  const { candidateSourcedId } = context;
  return {
    candidateSourcedId,
    row: (n, { status = 'scored', spec = 'spec-1', version = '1', settledUnder = version, record } = {}) => {
      const modifiedAt = new Date(Date.UTC(2026, 0, 1) - n * 60_000).toISOString();
      const place = { attemptId: `attempt-${n}`, contentTestSpecId: spec, modifiedAt };
      return {
        ...example,
        ...place,
        attemptStatus: status,
        contentTestSpecVersion: version,
        record:
          record === null
            ? null
            : { ...example.record, ...place, contentTestSpecVersion: settledUnder, ...record },
      };
    },
    page: (rows, hasMore = false) => ({
      tenantId,
      candidateSourcedId,
      version: 'index-1',
      freshness: 'current',
      rows: [...rows],
      hasMore,
    }),
    criteria: (testSpecId, version) => ({
      ...context.criteria.value,
      testSpecId,
      version,
    }),
  };
}

/** One arbitrary value, always the same: the ground for an example that sets itself what it is about. */
export function anExampleOf<T>(arbitrary: Arbitrary<T>): T {
  const [example] = fc.sample(arbitrary, { numRuns: 1, seed: 20_260_302 });
  if (example === undefined) throw new Error('the arbitrary has no value');
  return structuredClone(example);
}

/** The value, frozen at every depth: whoever writes to it throws. Sets and maps are left as they are. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}
