import fc from 'fast-check';
import { expect, it } from 'vitest';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import { err } from '#shared/kernel/result.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import { reportCriteria } from '#shared/platform/owners/content.ts';
import { attemptEvidence } from '#shared/platform/owners/qti.ts';
import { settledRecord } from '#shared/platform/owners/results.ts';
import { reportsDocument } from '#shared/problems/document.ts';
import { principalWith } from '#test/support/principal.ts';
import { anExampleOf, attemptFacts, readinessFacts, tenantId } from '#test/support/report-facts.ts';
import {
  dependenciesOver,
  requestOf,
  scriptedOwners,
  scriptOf,
  sentenceOf,
} from '#test/support/scripted-owners.ts';
import type { Script, Scripted } from '#test/support/scripted-owners.ts';
import { readAttempt } from './attempt.ts';
import { createFrameworks } from './case-package.ts';
import { createSourceReader } from './reader.ts';
import { notFound } from './problems.ts';
import { readReadinessOperation } from '../endpoints/read-readiness/operation.ts';

// What an owner says otherwise the second time. What a wrong fact or a fault of an owner makes of the routes: test/lemmas/contradictions,
// test/lemmas/faults-reports; in how many waves they read: test/contract/reports/budget.

const facts = anExampleOf(attemptFacts(fc.constant('mastery_gate')));
facts.record.value.completionEventIri = 'urn:uuid:7a2c3f9e-0000-4000-8000-000000000001';
const [evidence, record, criteria] = [facts.evidence.value, facts.record.value, facts.criteria.value];
const { attemptId, candidateSourcedId } = evidence;
/** Everything that the owners hold of one gate. Caliper is not there, which a report can do without. */
const held = scriptOf(facts);
const script: Script = { ...held, readEvidenceAck: { kind: 'unavailable' } };
const caller = principalWith({ studentIds: [candidateSourcedId] });

const otherEvent = {
  '@context': CALIPER_CONTEXT,
  id: 'urn:uuid:7a2c3f9e-0000-4000-8000-000000000002',
  type: 'GradeEvent',
  actor: { id: 'urn:a', type: 'SoftwareApplication' },
  action: 'Graded',
  object: { id: 'urn:o', type: 'Attempt' },
  eventTime: '2026-01-31T09:30:00.000Z',
};

async function attempt(changes: Script = {}, principal = caller) {
  const owners = scriptedOwners({ ...script, ...changes });
  const frameworks = createFrameworks().of({ tenantId, baseUrl: 'https://platform.example' });
  const result = await readAttempt(
    createSourceReader(owners, () => 1),
    frameworks,
    principal,
    attemptId,
  );
  return { owners, result };
}

it('an attempt waits for the event of its completion for 1.5 s at most [RP-069]', async () => {
  const { owners } = await attempt();
  const caliper = owners.asked.find(({ name }) => name === 'readEvidenceAck');
  expect(caliper?.call).toMatchObject({ query: { eventIri: record.completionEventIri }, timeLimit: 1_500 });
});

it.each<Scripted>([
  ...(['unavailable', 'not-found', 'malformed', 'rejected'] as const).map((kind) => ({ kind })),
  { value: { tenantId, eventIri: otherEvent.id, event: otherEvent } },
])('a report without the receipt of Caliper does not call it required: %j [RP-071]', async (answer) => {
  const { result } = await attempt({ readEvidenceAck: answer });
  const [enrichment] = result.ok ? result.value.enrichments : [];
  const { title, detail, dependency } = reportsProblem.parse(
    reportsDocument(enrichment!.problem!, {
      problemsUrl: 'https://problems.example',
      requestId: 'r',
      traceId: 't',
    }),
  );
  expect([dependency, `${title}. ${detail}`]).toEqual([
    'caliper',
    expect.not.stringMatching(/required|needs/),
  ]);
  expect(detail).toMatch(/^Caliper .* event .*The report is complete without it\.$/);
});

it('an attempt that the lookup does not show is looked for nowhere else [RP-030]', async () => {
  const { result, owners } = await attempt({ readAttemptEvidence: { kind: 'not-found' } });
  expect([sentenceOf(result), owners.names()]).toEqual(['404 not-found', ['readAttemptEvidence']]);
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
      expect(result).toEqual(err(notFound()));
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
    const value = Object.fromEntries(Object.entries(held[name].value).filter(([own]) => own !== member));
    const { result } = await attempt({ [name]: { value } });
    expect(sentenceOf(result)).toBe(`503 dependency-unavailable ${owner}`);
  },
);

it('crosswalks of another version of the test spec are read once more, unless the record is not current [RP-251, RP-333]', async () => {
  const value = {
    ...anExampleOf(readinessFacts).crosswalks.value,
    testSpecId: criteria.testSpecId,
    testSpecVersion: criteria.version,
  };
  const other: Scripted = { value: { ...value, testSpecVersion: 'other' } };
  const readiness = async (readReadinessCrosswalks: Scripted | readonly Scripted[], changes: Script = {}) => {
    const owners = scriptedOwners({ ...script, readReadinessCrosswalks, ...changes });
    const ask = readReadinessOperation(dependenciesOver(() => owners));
    return sentenceOf(await ask(requestOf(1, { principal: caller, path: { attemptId } })));
  };
  expect(await readiness([other, { value }])).toBe('facts');
  expect(await readiness(other)).toBe('409 source-version-conflict blueprint');
  // A lookup that is not current names an older version than the settled record.
  const readAttemptEvidence = {
    value: { ...evidence, contentTestSpecVersion: 'older', freshness: 'stale' },
  };
  expect(await readiness({ value }, { readAttemptEvidence })).toBe('facts');
  const readSettledRecord = { value: { ...record, freshness: 'stale' } };
  expect(await readiness(other, { readSettledRecord })).toBe('facts');
});

it.each([
  [{ resultRecordId: 'another-record' }, '409 source-version-conflict qti'],
  [{ resultRecordId: null, resultRecordVersion: null }, '409 source-version-conflict qti'],
  [{ contentTestSpecId: 'another-spec' }, '409 source-version-conflict qti'],
  // Both candidates are the caller's to see: what is refused is one candidate's attempt with the other's receipt.
  [{ candidateSourcedId: 'another-student' }, '409 source-version-conflict qti'],
  [{ candidateSourcedId: 'student-of-others' }, '404 not-found'],
  [{}, 'facts'],
])(
  'an attempt that is read once more and is %j by then is %s [RP-028, RP-316, RP-333]',
  async (changes, expected) => {
    const principal = principalWith({ studentIds: [candidateSourcedId, 'another-student'] });
    const newer = { value: { ...evidence, resultRecordVersion: 'newer', ...changes } };
    const { result } = await attempt(
      {
        readSettledRecord: { value: { ...record, version: 'newer' } },
        readAttemptEvidence: [{ value: evidence }, newer],
      },
      principal,
    );
    expect(sentenceOf(result)).toBe(expected);
  },
);
