import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportCriteria } from '#shared/platform/owners/content.ts';
import { attemptEvidence } from '#shared/platform/owners/qti.ts';
import { settledRecord } from '#shared/platform/owners/results.ts';
import { principalWith } from '#test/support/principal.ts';
import { anExampleOf, attemptFacts, readinessFacts, tenantId } from '#test/support/report-facts.ts';
import {
  dependenciesOver,
  requestOf,
  scriptedOwners,
  scriptOf,
  sentenceOf,
} from '#test/support/scripted-owners.ts';
import type { OperationName, Script, Scripted } from '#test/support/scripted-owners.ts';
import { readAttempt } from './attempt.ts';
import { createFrameworks } from './case-package.ts';
import { createSourceReader } from './reader.ts';
import { notFound } from './problems.ts';
import { readReadinessOperation } from '../endpoints/read-readiness/operation.ts';

// What a wrong fact or a fault of an owner makes of the routes: test/lemmas/contradictions, test/lemmas/faults-reports.

const facts = anExampleOf(attemptFacts(fc.constant('mastery_gate')));
facts.record.value.completionEventIri = 'urn:uuid:7a2c3f9e-0000-4000-8000-000000000001';
const [evidence, record, criteria] = [facts.evidence.value, facts.record.value, facts.criteria.value];
const { attemptId, candidateSourcedId } = evidence;
const crosswalks = {
  ...anExampleOf(readinessFacts).crosswalks.value,
  testSpecId: criteria.testSpecId,
  testSpecVersion: criteria.version,
};

/** Everything that the owners hold of one gate, with a crosswalk. Caliper is not there, which a report can do without. */
const script = {
  ...scriptOf(facts),
  readEvidenceAck: { kind: 'unavailable' },
  readReadinessCrosswalks: { value: crosswalks },
} satisfies Script;

const caller = principalWith({ studentIds: [candidateSourcedId] });
const frameworksOf = () => createFrameworks().of({ tenantId, baseUrl: 'https://platform.example' });

async function attempt(changes: Script = {}, principal = caller) {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader(owners, () => 1);
  const result = await readAttempt(reader, frameworksOf(), principal, attemptId);
  return { owners, result, said: sentenceOf(result) };
}

it('an attempt is read in three waves, the event of its completion for 1.5 s at most [RP-001, RP-069]', async () => {
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
  expect(await readAttempt(reader, frameworksOf(), caller, attemptId)).toMatchObject({ ok: true });
  expect(waves.map((names) => names.toSorted())).toEqual([
    ['readAttemptEvidence'],
    ['readReportCriteria', 'readSettledRecord', 'readUser'],
    ['readEvidenceAck', 'readPackage'],
  ]);
  const caliper = owners.asked.find(({ name }) => name === 'readEvidenceAck');
  expect(caliper?.call).toMatchObject({ query: { eventIri: record.completionEventIri }, timeLimit: 1_500 });
});

it('an attempt whose candidate the claims do not name is the very 404 of one that is not there, whatever else the lookup says, and nobody else is asked [RP-058, RP-316]', async () => {
  const { tenantId: of, attemptId: own, candidateSourcedId: candidate, ...rest } = evidence;
  const spoilt = fc
    .record({
      members: fc.subarray(Object.keys(rest)),
      value: fc.oneof(fc.constant(null), fc.constant(undefined), fc.string(), fc.integer()),
      answered: fc.constantFrom(own, 'another-attempt'),
    })
    .map(({ members, value, answered }) => ({
      ...rest,
      ...Object.fromEntries(members.map((member) => [member, value])),
      tenantId: of,
      attemptId: answered,
      candidateSourcedId: candidate,
    }));
  await fc.assert(
    fc.asyncProperty(spoilt, async (value) => {
      const principal = principalWith({ studentIds: [`${candidate}x`] });
      const { result, owners } = await attempt({ readAttemptEvidence: { value } }, principal);
      expect(result).toEqual({ ok: false, error: notFound() });
      expect(owners.names()).toEqual(['readAttemptEvidence']);
    }),
  );
});

it.each([
  ...Object.keys(attemptEvidence.shape).map((member) => ['readAttemptEvidence', member, 'qti'] as const),
  ...Object.keys(settledRecord.shape).map((member) => ['readSettledRecord', member, 'results'] as const),
  ...Object.keys(reportCriteria.shape).map((member) => ['readReportCriteria', member, 'content'] as const),
])(
  '%s without %s is not the join that gate C stands for: nothing is read in its place [RP-022, RP-027]',
  async (name, member, owner) => {
    const value = Object.fromEntries(Object.entries(script[name].value).filter(([own]) => own !== member));
    expect((await attempt({ [name]: { value } })).said).toBe(`503 dependency-unavailable ${owner}`);
  },
);

describe('versions that do not belong together', () => {
  const changed = {
    evidence: (changes: object): Scripted => ({ value: { ...evidence, ...changes } }),
    record: (changes: object): Scripted => ({ value: { ...record, ...changes } }),
    criteria: (changes: object): Scripted => ({ value: { ...criteria, ...changes } }),
  };
  const newerRecord = changed.record({ version: 'newer' });
  const newerSpec = changed.record({ contentTestSpecVersion: 'newer' });
  const decidedUnder = (required: number): Scripted =>
    changed.record({ gate: { ...record.gate, criteriaVersion: 'criteria-1', required } });
  const otherThreshold = changed.criteria({ criteria: { criteriaVersion: 'criteria-1', required: 0.75 } });

  it.each<[string, Script]>([
    [
      'Results has written since the lookup',
      {
        readSettledRecord: newerRecord,
        readAttemptEvidence: [changed.evidence({}), changed.evidence({ resultRecordVersion: 'newer' })],
      },
    ],
    [
      'the record was settled under a newer version of the test spec',
      {
        readSettledRecord: newerSpec,
        readAttemptEvidence: [changed.evidence({}), changed.evidence({ contentTestSpecVersion: 'newer' })],
        readReportCriteria: [changed.criteria({}), changed.criteria({ version: 'newer' })],
      },
    ],
    [
      'Content answers another version than it was asked for',
      { readReportCriteria: [changed.criteria({ version: 'other' }), changed.criteria({})] },
    ],
    [
      'Results decided under another threshold than Content holds',
      { readReportCriteria: otherThreshold, readSettledRecord: [decidedUnder(0.7), decidedUnder(0.75)] },
    ],
  ])('are read once more: %s [RP-028]', async (_, changes) => {
    const { said, owners } = await attempt(changes);
    expect(said).toBe('facts');
    const again = ['readAttemptEvidence', 'readReportCriteria', 'readSettledRecord'];
    const first = Object.keys(script).filter((name) => name !== 'readReadinessCrosswalks');
    expect(owners.names()).toEqual([...first, ...again].toSorted());
  });

  it('count for crosswalks too [RP-251, RP-333]', async () => {
    const other = { value: { ...crosswalks, testSpecVersion: 'other' } };
    const readiness = async (
      readReadinessCrosswalks: Scripted | readonly Scripted[],
      changes: Script = {},
    ) => {
      const owners = scriptedOwners({ ...script, readReadinessCrosswalks, ...changes });
      const ask = readReadinessOperation(dependenciesOver(() => owners));
      return sentenceOf(await ask(requestOf(1, { principal: caller, path: { attemptId } })));
    };
    expect(await readiness([other, script.readReadinessCrosswalks])).toBe('facts');
    expect(await readiness(other)).toBe('409 source-version-conflict blueprint');
    // A lookup that is not current names an older version than the settled record.
    const readAttemptEvidence = changed.evidence({ contentTestSpecVersion: 'older', freshness: 'stale' });
    expect(await readiness(script.readReadinessCrosswalks, { readAttemptEvidence })).toBe('facts');
    const readSettledRecord = changed.record({ freshness: 'stale' });
    expect(await readiness(other, { readSettledRecord })).toBe('facts');
  });

  const moved = (changes: object): Script => ({
    readSettledRecord: newerRecord,
    readAttemptEvidence: [
      changed.evidence({}),
      changed.evidence({ resultRecordVersion: 'newer', ...changes }),
    ],
  });

  it.each([
    { resultRecordId: 'another-record' },
    { resultRecordId: null, resultRecordVersion: null },
    { contentTestSpecId: 'another-spec' },
    { candidateSourcedId: 'another-student' },
  ])('are a conflict of QTI when the attempt lies elsewhere by then: %j [RP-333]', async (changes) => {
    // Both candidates are the caller's to see: what is refused is one candidate's attempt with the other's receipt.
    const principal = principalWith({ studentIds: [candidateSourcedId, 'another-student'] });
    expect((await attempt(moved(changes), principal)).said).toBe('409 source-version-conflict qti');
  });

  it('are none of a caller’s business who may not see the candidate any more [RP-316]', async () => {
    const { result } = await attempt(moved({ candidateSourcedId: 'another-student' }));
    expect(result).toEqual({ ok: false, error: notFound() });
  });

  it.each<[Script, string]>([
    [
      { readAttemptEvidence: [changed.evidence({}), { kind: 'unavailable' }] },
      '503 dependency-unavailable qti',
    ],
    [{ readAttemptEvidence: [changed.evidence({}), { kind: 'not-found' }] }, '404 not-found'],
    [
      { readReportCriteria: [changed.criteria({}), { kind: 'unavailable' }] },
      '503 dependency-unavailable content',
    ],
  ])('fail as any read when the second one fails: %j is %s', async (changes, expected) => {
    expect((await attempt({ readSettledRecord: newerRecord, ...changes })).said).toBe(expected);
  });
});
