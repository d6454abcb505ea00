import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptFacts, ReadinessFacts } from '#functions/reports/facts/facts.ts';
import type { Result } from '#shared/kernel/result.ts';
import { reportCriteria } from '#shared/platform/owners/content.ts';
import { attemptEvidence } from '#shared/platform/owners/qti.ts';
import { settledRecord } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { principalWith } from '#test/support/principal.ts';
import { anExampleOf, attemptFacts, readinessFacts } from '#test/support/report-facts.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { OperationName, Script, Scripted, ScriptedOwners } from '#test/support/scripted-owners.ts';
import { readAttempt } from './attempt.ts';
import { createFrameworks } from './case-package.ts';
import { createSourceReader } from './reader.ts';
import { notFound } from './problems.ts';
import { readReadinessFacts } from '../endpoints/read-readiness/operation.ts';

// What a wrong fact or a fault of an owner makes of the routes: test/lemmas/contradictions, test/lemmas/faults-reports.

const profile = { tenantId: 'tenant-1', baseUrl: 'https://platform.example' };
const EVENT = 'urn:uuid:7a2c3f9e-0000-4000-8000-000000000001';

/** Everything that the owners hold of one gate, with a crosswalk. */
const sound = (() => {
  const facts = anExampleOf(attemptFacts(fc.constant('mastery_gate')));
  const evidence = facts.evidence.value;
  const record = { ...facts.record.value, completionEventIri: EVENT };
  const criteria = facts.criteria.value;
  const crosswalks = {
    ...anExampleOf(readinessFacts).crosswalks.value,
    testSpecId: criteria.testSpecId,
    testSpecVersion: criteria.version,
  };
  const candidateSourcedId = evidence.candidateSourcedId;
  return {
    evidence,
    record,
    criteria,
    crosswalks,
    user: { user: { sourcedId: candidateSourcedId, status: 'active' } },
    package: {
      CFDocument: {
        identifier: criteria.caseFrameworkGuid,
        lastChangeDateTime: facts.framework.value.changedAt,
      },
      CFItems: [...facts.framework.value.guids].map((identifier) => ({ identifier })),
      CFAssociations: [],
    },
    event: {
      tenantId: 'tenant-1',
      eventIri: EVENT,
      event: {
        '@context': 'http://purl.imsglobal.org/ctx/caliper/v1p2',
        id: EVENT,
        type: 'GradeEvent',
        actor: { id: 'urn:a', type: 'SoftwareApplication' },
        action: 'Graded',
        object: { id: 'urn:o', type: 'Attempt' },
        eventTime: '2026-01-01T00:00:00.000Z',
      },
    },
  };
})();

const caller = principalWith({ studentIds: [sound.evidence.candidateSourcedId] });

const script = {
  readAttemptEvidence: { value: sound.evidence },
  readSettledRecord: { value: sound.record },
  readReportCriteria: { value: sound.criteria },
  readUser: { value: sound.user },
  readPackage: { value: sound.package },
  readEvidenceAck: { value: sound.event },
  readReadinessCrosswalks: { value: sound.crosswalks },
} satisfies Script;

interface Read<Facts> {
  readonly owners: ScriptedOwners;
  readonly result: Result<Facts, Problem>;
}

async function attempt(
  changes: Script = {},
  { principal = caller, attemptId = sound.evidence.attemptId } = {},
): Promise<Read<AttemptFacts>> {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader(owners, () => 1);
  const frameworks = createFrameworks().of(profile);
  return { owners, result: await readAttempt(reader, frameworks, principal, attemptId) };
}

async function readiness(changes: Script = {}): Promise<Read<ReadinessFacts>> {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader(owners, () => 1);
  const frameworks = createFrameworks().of(profile);
  const { attemptId } = sound.evidence;
  return { owners, result: await readReadinessFacts({ reader, frameworks }, caller, attemptId) };
}

/** A result in one line. */
function said({ result }: Read<unknown>): string {
  if (result.ok) return 'facts';
  const { status, code, dependency } = result.error;
  return [status, code, ...(dependency === undefined ? [] : [dependency])].join(' ');
}

describe('an attempt on which everybody agrees', () => {
  it('is read in three waves by the ids and versions that the lookup names, each source once, with a receipt for each [RP-001, RP-005, RP-069]', async () => {
    const waves: OperationName[][] = [];
    let open: OperationName[] | undefined;
    // Whatever is asked before the first answer of a wave arrives belongs to that wave.
    const owners = scriptedOwners(script, async (answer, name) => {
      if (open === undefined) waves.push((open = []));
      open.push(name);
      await new Promise((resolve) => setImmediate(resolve));
      open = undefined;
      return answer;
    });
    const reader = createSourceReader(owners, () => 1);
    const facts = await readAttempt(reader, createFrameworks().of(profile), caller, sound.evidence.attemptId);
    expect(waves.map((names) => names.toSorted())).toEqual([
      ['readAttemptEvidence'],
      ['readReportCriteria', 'readSettledRecord', 'readUser'],
      ['readEvidenceAck', 'readPackage'],
    ]);
    if (!facts.ok) throw new Error(facts.error.code);
    const { evidence, record, criteria, candidate, framework, enrichments } = facts.value;
    expect(
      [evidence.receipt, record.receipt, criteria.receipt, candidate, framework.receipt].map(
        ({ service, resourceId, version, status }) => [service, resourceId, version, status],
      ),
    ).toEqual([
      ['qti', sound.evidence.attemptId, sound.evidence.version, 'current'],
      ['results', sound.record.resultRecordId, sound.record.version, 'current'],
      ['content', sound.criteria.testSpecId, sound.criteria.version, 'current'],
      ['oneroster', sound.evidence.candidateSourcedId, null, 'current'],
      ['case', sound.criteria.caseFrameworkGuid, null, 'current'],
    ]);
    expect(enrichments).toMatchObject([{ receipt: { service: 'caliper', resourceId: EVENT } }]);
    expect(Object.fromEntries(owners.asked.map(({ name, call }) => [name, call]))).toMatchObject({
      readAttemptEvidence: { path: { attemptId: sound.evidence.attemptId } },
      readSettledRecord: { path: { resultRecordId: sound.evidence.resultRecordId } },
      readReportCriteria: {
        path: { testSpecId: sound.evidence.contentTestSpecId },
        query: { version: sound.evidence.contentTestSpecVersion },
      },
      readUser: { path: { sourcedId: sound.evidence.candidateSourcedId } },
      readPackage: { path: { sourcedId: sound.criteria.caseFrameworkGuid } },
      // A report waits 1.5 s for it at most.
      readEvidenceAck: { query: { eventIri: EVENT }, timeLimit: 1_500 },
    });
  });
});

describe('an attempt whose candidate the claims do not name', () => {
  it('is the very 404 of one that is not there, whatever else the lookup says, and nobody else is asked [RP-058, RP-316]', async () => {
    const { tenantId, attemptId, candidateSourcedId, ...rest } = sound.evidence;
    const spoilt = fc
      .record({
        members: fc.subarray(Object.keys(rest)),
        value: fc.oneof(fc.constant(null), fc.constant(undefined), fc.string(), fc.integer()),
        attemptId: fc.constantFrom(attemptId, 'another-attempt'),
      })
      .map(({ members, value, attemptId: answered }) => ({
        ...rest,
        ...Object.fromEntries(members.map((member) => [member, value])),
        tenantId,
        attemptId: answered,
        candidateSourcedId,
      }));
    await fc.assert(
      fc.asyncProperty(spoilt, async (value) => {
        const principal = principalWith({ studentIds: [`${candidateSourcedId}x`] });
        const { result, owners } = await attempt({ readAttemptEvidence: { value } }, { principal });
        expect(result).toEqual({ ok: false, error: notFound() });
        expect(owners.names()).toEqual(['readAttemptEvidence']);
      }),
    );
  });
});

describe('the join that gate C stands for', () => {
  it.each([
    ...Object.keys(attemptEvidence.shape).map((member) => ['readAttemptEvidence', member, 'qti'] as const),
    ...Object.keys(settledRecord.shape).map((member) => ['readSettledRecord', member, 'results'] as const),
    ...Object.keys(reportCriteria.shape).map((member) => ['readReportCriteria', member, 'content'] as const),
  ])('%s without %s is none: nothing is read in its place [RP-022, RP-027]', async (name, member, owner) => {
    const value = Object.fromEntries(Object.entries(script[name].value).filter(([own]) => own !== member));
    expect(said(await attempt({ [name]: { value } }))).toBe(`503 dependency-unavailable ${owner}`);
  });

  it('the lookup of another attempt than the one of the path is none [RP-055]', async () => {
    const value = { ...sound.evidence, attemptId: `${sound.evidence.attemptId}x` };
    expect(said(await attempt({ readAttemptEvidence: { value } }))).toBe('503 dependency-unavailable qti');
  });
});

describe('versions that do not belong together', () => {
  const evidence = (changes: object): Scripted => ({ value: { ...sound.evidence, ...changes } });
  const record = (changes: object): Scripted => ({ value: { ...sound.record, ...changes } });
  const criteria = (changes: object): Scripted => ({ value: { ...sound.criteria, ...changes } });
  const crosswalks = (changes: object): Scripted => ({ value: { ...sound.crosswalks, ...changes } });
  const otherThreshold = { criteria: { criteriaVersion: 'criteria-1', required: 0.75 } };
  const gate = { ...sound.record.gate, criteriaVersion: 'criteria-1', required: 0.7 };

  /** What differs at first, and how the owners settle on it. */
  const cases: readonly {
    readonly what: string;
    readonly first: Script;
    readonly then: Script;
  }[] = [
    {
      what: 'Results has written since the lookup',
      first: { readSettledRecord: record({ version: 'newer' }) },
      then: {
        readSettledRecord: record({ version: 'newer' }),
        readAttemptEvidence: evidence({ resultRecordVersion: 'newer' }),
      },
    },
    {
      what: 'the record was settled under a newer version of the test spec',
      first: { readSettledRecord: record({ contentTestSpecVersion: 'newer' }) },
      then: {
        readSettledRecord: record({ contentTestSpecVersion: 'newer' }),
        readAttemptEvidence: evidence({ contentTestSpecVersion: 'newer' }),
        readReportCriteria: criteria({ version: 'newer' }),
      },
    },
    {
      what: 'Content answers another version than it was asked for',
      first: { readReportCriteria: criteria({ version: 'other' }) },
      then: { readReportCriteria: criteria({}) },
    },
    {
      what: 'Results decided under another threshold than Content holds',
      first: { readSettledRecord: record({ gate }), readReportCriteria: criteria(otherThreshold) },
      then: {
        readSettledRecord: record({ gate: { ...gate, required: 0.75 } }),
        readReportCriteria: criteria(otherThreshold),
      },
    },
  ];
  const inTurn = (first: Script, then: Script): Script => {
    const names = [...new Set([...Object.keys(first), ...Object.keys(then)])] as OperationName[];
    return Object.fromEntries(
      names.map((name) => [name, [first[name] ?? script[name as keyof typeof script], then[name]].flat()]),
    );
  };

  it.each(cases)('are read once more: $what [RP-028]', async ({ first, then }) => {
    const read = await attempt(inTurn(first, then));
    expect(said(read)).toBe('facts');
    const again = ['readAttemptEvidence', 'readReportCriteria', 'readSettledRecord'];
    expect(read.owners.names()).toEqual(
      [...Object.keys(script), ...again].filter((name) => name !== 'readReadinessCrosswalks').toSorted(),
    );
  });

  it('count for crosswalks too [RP-251, RP-333]', async () => {
    const other = crosswalks({ testSpecVersion: 'other' });
    expect(said(await readiness({ readReadinessCrosswalks: [other, crosswalks({})] }))).toBe('facts');
    const read = await readiness({ readReadinessCrosswalks: other });
    expect(said(read)).toBe('409 source-version-conflict blueprint');
    expect(read.owners.asked).toHaveLength(9);
  });

  const drifting = { readSettledRecord: record({ version: 'newer' }) };

  it.each([
    [{ resultRecordId: 'another-record', resultRecordVersion: 'newer' }],
    [{ contentTestSpecId: 'another-spec', resultRecordVersion: 'newer' }],
    [{ candidateSourcedId: 'another-student', resultRecordVersion: 'newer' }],
  ])('are a conflict of QTI when the attempt lies elsewhere by then: %j [RP-333]', async (moved) => {
    // Both candidates are the caller's to see: what is refused is one candidate's attempt with the other's receipt.
    const principal = principalWith({ studentIds: [sound.evidence.candidateSourcedId, 'another-student'] });
    const read = await attempt(
      { ...drifting, readAttemptEvidence: [evidence({}), evidence(moved)] },
      { principal },
    );
    expect(said(read)).toBe('409 source-version-conflict qti');
  });

  it('are none of a caller’s business who may not see the candidate any more [RP-316]', async () => {
    const handedOver = evidence({ candidateSourcedId: 'another-student', resultRecordVersion: 'newer' });
    const read = await attempt({ ...drifting, readAttemptEvidence: [evidence({}), handedOver] });
    expect(read.result).toEqual({ ok: false, error: notFound() });
  });

  it.each([
    [{ readAttemptEvidence: [evidence({}), { kind: 'unavailable' }] }, '503 dependency-unavailable qti'],
    [{ readAttemptEvidence: [evidence({}), { kind: 'not-found' }] }, '404 not-found'],
    [{ readReportCriteria: [criteria({}), { kind: 'unavailable' }] }, '503 dependency-unavailable content'],
    [
      { readAttemptEvidence: [evidence({}), evidence({ resultRecordId: null, resultRecordVersion: null })] },
      '409 source-version-conflict qti',
    ],
  ] as const)('fail as any read when the second one fails: %j is %s', async (changes, expected) => {
    expect(said(await attempt({ ...drifting, ...changes }))).toBe(expected);
  });
});
