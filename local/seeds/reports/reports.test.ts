import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { schemaDefects } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import * as operations from '#shared/platform/operations.ts';
import { attemptEvidence } from '#shared/platform/owners/qti.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledRecord } from '#shared/platform/owners/results.ts';
import { stackDescription } from '#shared/stage/description.ts';
import { instantiateSeed } from '../instantiate.ts';
import type { SeededTenant } from '../instantiate.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '../load.ts';
import { renderDefects } from '../seed.ts';
import { localTenantIds } from '../tenants.ts';
import { checkReports } from './check.ts';
import { reportsFile } from './file.ts';

let aurora: SeededTenant;
beforeAll(async () => {
  const loaded = await loadSeed(DEFAULT_SEED_DIRECTORY);
  if (!loaded.ok) throw new Error(renderDefects(loaded.error));
  aurora = instantiateSeed(loaded.value, localTenantIds[0]);
});

/** Every attempt and record, also those that are made on demand. */
function attemptsOf({ platform: { reports } }: SeededTenant): readonly AttemptEvidence[] {
  return [...reports.attempts, ...[...reports.generated.attempts.values()].map((make) => make())];
}
function recordsOf({ platform: { reports } }: SeededTenant): readonly SettledRecord[] {
  return [...reports.records, ...[...reports.generated.records.values()].map((make) => make())];
}

/** The role's attempt and its record. */
function role(name: keyof SeededTenant['fixtures']['reports']['attempts']) {
  const attempt = attemptsOf(aurora).find(
    ({ attemptId }) => attemptId === aurora.fixtures.reports.attempts[name],
  )!;
  const record = recordsOf(aurora).find(({ resultRecordId }) => resultRecordId === attempt.resultRecordId);
  const crosswalks = aurora.platform.reports.crosswalks.find(
    ({ testSpecId }) => testSpecId === attempt.contentTestSpecId,
  )!;
  return { attempt, record, crosswalks };
}

describe('the reports of the default seed', () => {
  it('are entities that the owners’ schemas take', () => {
    const { reports } = aurora.platform;
    for (const entity of attemptsOf(aurora)) attemptEvidence.parse(entity);
    for (const entity of recordsOf(aurora)) operations.readSettledRecord.answer.parse(entity);
    for (const entity of reports.forms) operations.readForm.answer.parse(entity);
    for (const entity of reports.criteria) operations.readReportCriteria.answer.parse(entity);
    for (const entity of reports.crosswalks) operations.readReadinessCrosswalks.answer.parse(entity);
    for (const entity of reports.formEvidence) operations.readFormEvidence.answer.parse(entity);
    for (const entity of reports.packages) operations.readPackage.answer.parse(entity);
    for (const make of reports.generated.packages.values()) operations.readPackage.answer.parse(make());
    for (const entity of reports.users) operations.readUser.answer.parse(entity);
    for (const entity of reports.classes) operations.readClass.answer.parse(entity);
    for (const entity of reports.schools) operations.readSchool.answer.parse(entity);
    for (const entity of reports.rollups) operations.readClassRollup.answer.parse(entity);
    for (const entity of reports.formEquivalences) operations.readFormEquivalence.answer.parse(entity);
    for (const entity of reports.administrations) operations.readAdministration.answer.parse(entity);
  });

  it('agree: versions are those that are pinned, and every id leads to its entity', () => {
    const { reports } = aurora.platform;
    const specs = new Map(reports.criteria.map((entity) => [entity.testSpecId, entity]));
    const forms = new Map(reports.forms.map((entity) => [entity.qtiTestId, entity]));
    const administrations = new Map(
      reports.administrations.map((entity) => [entity.administrationId, entity]),
    );
    const users = new Set(reports.users.map(({ user }) => user.sourcedId));
    const records = new Map(recordsOf(aurora).map((record) => [record.resultRecordId, record]));
    const packages = new Set([
      ...reports.packages.map(({ CFDocument }) => CFDocument.identifier),
      ...reports.generated.packages.keys(),
    ]);
    for (const attempt of attemptsOf(aurora)) {
      const { contentTestSpecId, contentTestSpecVersion, resultRecordId } = attempt;
      expect(specs.get(contentTestSpecId)!.version).toBe(contentTestSpecVersion);
      expect(packages).toContain(specs.get(contentTestSpecId)!.caseFrameworkGuid);
      expect(forms.get(attempt.qtiTestId)).toMatchObject({ contentTestSpecId, contentTestSpecVersion });
      expect(administrations.get(attempt.administrationId)).toMatchObject({ contentTestSpecId });
      expect(users).toContain(attempt.candidateSourcedId);
      expect(attempt.outcomes).toHaveLength(attempt.status === 'scored' ? attempt.administeredItemCount : 0);
      expect((resultRecordId === null) === (attempt.resultRecordVersion === null)).toBe(true);
      if (resultRecordId === null) continue;
      const { attemptId, candidateSourcedId } = attempt;
      const pinned = { attemptId, candidateSourcedId, contentTestSpecId, contentTestSpecVersion };
      expect(records.get(resultRecordId)).toMatchObject(pinned);
      expect(records.get(resultRecordId)!.version).toBe(attempt.resultRecordVersion);
      records.delete(resultRecordId);
    }
    expect([...records]).toEqual([]);
    for (const crosswalks of reports.crosswalks)
      expect(specs.get(crosswalks.testSpecId)!.version).toBe(crosswalks.testSpecVersion);
    for (const evidence of reports.formEvidence) {
      expect(forms.get(evidence.qtiTestId)).toMatchObject({
        contentTestSpecId: evidence.testSpecId,
        contentTestSpecVersion: evidence.testSpecVersion,
      });
    }
  });

  it('rest on outcomes that QTI has, on competencies of the framework, and on its parents', () => {
    const { reports } = aurora.platform;
    const attempts = new Map(attemptsOf(aurora).map((attempt) => [attempt.attemptId, attempt]));
    const frameworks = new Map(
      [...reports.packages, ...[...reports.generated.packages.values()].map((make) => make())].map(
        (entity) => [
          entity.CFDocument.identifier,
          {
            guids: new Set(entity.CFItems.map(({ identifier }) => identifier)),
            parents: new Map(
              entity.CFAssociations.map((link) => [
                link.originNodeURI.identifier,
                link.destinationNodeURI.identifier,
              ]),
            ),
          },
        ],
      ),
    );
    const specs = new Map(reports.criteria.map((entity) => [entity.testSpecId, entity]));
    for (const record of recordsOf(aurora)) {
      const attempt = attempts.get(record.attemptId)!;
      const outcomes = new Set(
        attempt.outcomes.map((outcome) => `${outcome.qtiItemId} ${outcome.qtiOutcomeId}`),
      );
      const { caseFrameworkGuid } = specs.get(record.contentTestSpecId)!;
      const { guids, parents } = frameworks.get(caseFrameworkGuid)!;
      expect(record.mastery.length).toBeGreaterThan(0);
      for (const row of record.mastery) {
        expect(guids.has(row.caseGuid)).toBe(true);
        expect(row.parentCaseGuid ?? caseFrameworkGuid).toBe(parents.get(row.caseGuid));
        expect(row.parentCaseGuid === null).toBe(row.kind === 'standard');
        expect(row.evidence.length).toBeGreaterThan(0);
        for (const { qtiItemId, qtiOutcomeId } of row.evidence)
          expect(outcomes.has(`${qtiItemId} ${qtiOutcomeId}`)).toBe(true);
      }
      for (const guid of record.gate?.gapCaseGuids ?? []) expect(guids.has(guid)).toBe(true);
    }
  });

  it('have an attempt for every role', () => {
    expect(role('gatePass').record).toMatchObject({ testKind: 'mastery_gate', gate: { status: 'pass' } });
    expect(role('gateFail').record!.gate!.gapCaseGuids.length).toBeGreaterThan(1);
    expect(role('gateFail').record!.gate!.status).toBe('fail');
    expect(role('gateIndeterminate').record!.gate!.coverageEvidenceId).toBeNull();
    expect(role('diagnostic').record).toMatchObject({ testKind: 'adaptive_diagnostic', gate: null });
    const rows = role('diagnostic').record!.mastery;
    expect(new Set(rows.map(({ kind }) => kind)).size).toBe(2);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['mastered', 'not_yet', 'gap']));
    expect(role('formative').record).toMatchObject({ testKind: 'formative', gate: null, diagnostic: null });
    expect(role('unscored')).toMatchObject({
      attempt: { status: 'submitted', outcomes: [] },
      record: undefined,
    });
    expect(role('unsettled')).toMatchObject({ attempt: { status: 'scored' }, record: undefined });
    expect(role('stale').record!.freshness).toBe('stale');
    const large = role('large').record!.mastery;
    expect(large).toHaveLength(5000);
    expect(large.reduce((sum, { evidence }) => sum + evidence.length, 0)).toBe(25_000);
    const units = recordsOf(aurora).map(({ score }) => score!);
    expect(new Set(units.map(({ unit }) => unit))).toEqual(new Set(['percent', 'points', 'mastery_scale']));
    expect(units.some(({ minimum, maximum }) => minimum === null && maximum === null)).toBe(true);
    const iri = role('gatePass').record!.completionEventIri!;
    expect(aurora.platform.reports.generated.events.get(iri)!()).toMatchObject({
      id: iri,
      type: 'GradeEvent',
    });
  });

  it('have specs of every kind, with what each may have and without', () => {
    const { criteria } = aurora.platform.reports;
    const kinds = (some: typeof criteria): string[] =>
      [...new Set(some.map(({ testKind }) => testKind))].sort();
    expect(kinds(criteria)).toEqual(['adaptive_diagnostic', 'formative', 'mastery_gate']);
    const gates = criteria.filter(({ testKind }) => testKind === 'mastery_gate');
    expect(new Set(gates.map((spec) => spec.criteria === null)).size).toBe(2);
    const diagnostics = criteria.filter(({ testKind }) => testKind === 'adaptive_diagnostic');
    expect(new Set(diagnostics.map((spec) => spec.externalScale === null)).size).toBe(2);
    const formatives = criteria.filter(({ testKind }) => testKind === 'formative');
    expect(new Set(formatives.map((spec) => spec.qualifyingCoverage)).size).toBe(2);
  });

  it('have crosswalks that project a pass, and one for each reason why not', () => {
    for (const name of ['gatePass', 'gateFail'] as const) {
      const { entries } = role(name).crosswalks;
      const full = { coverageFraction: 1, dokDominance: 'satisfied', freshness: 'current' };
      expect(entries).toContainEqual(expect.objectContaining(full));
      expect(entries.some(({ coverageFraction }) => (coverageFraction ?? 1) < 1)).toBe(true);
      expect(entries.some(({ freshness }) => freshness === 'stale')).toBe(true);
      expect(entries.some(({ dokDominance }) => dokDominance === 'not_satisfied')).toBe(true);
      expect(entries.every((entry) => entry.qualifyingBlueprintSlotIds.length > 0)).toBe(true);
    }
    expect(role('diagnostic').crosswalks.entries).not.toEqual([]);
    expect(role('formative').crosswalks.entries).toEqual([]);
  });

  it('have a history of more pages than one, with ties and instants that milliseconds cannot tell apart', () => {
    const { withHistory, empty } = aurora.fixtures.reports.candidates;
    const history = attemptsOf(aurora).filter((attempt) => attempt.candidateSourcedId === withHistory);
    const records = recordsOf(aurora).filter((record) => record.candidateSourcedId === withHistory);
    expect(records.length).toBeGreaterThan(250);
    expect(history.filter(({ status }) => status === 'scored')).toHaveLength(records.length);
    expect(history.length).toBeGreaterThan(records.length);
    expect(new Set(records.map(({ testKind }) => testKind)).size).toBe(3);
    expect(new Set(records.map(({ gate }) => gate?.status)).size).toBe(4);
    expect(new Set(history.map(({ qtiTestId }) => qtiTestId)).size).toBeGreaterThan(5);
    expect(records.every(({ freshness }) => freshness === 'current')).toBe(true);
    const times = records.map(({ modifiedAt }) => modifiedAt);
    const pairs = times.slice(1).map((time, at) => [times[at]!, time] as const);
    expect(pairs.some(([a, b]) => compareInstants(a, b) === 0 && a !== b)).toBe(true);
    expect(pairs.some(([a, b]) => compareInstants(a, b) !== 0 && Date.parse(a) === Date.parse(b))).toBe(true);
    expect(attemptsOf(aurora).filter((attempt) => attempt.candidateSourcedId === empty)).toEqual([]);
  });

  it('have analyses of forms for every decision', () => {
    const { forms } = aurora.fixtures.reports;
    const { reports } = aurora.platform;
    const analysis = (form: string) => reports.formEquivalences.find(({ qtiTestId }) => qtiTestId === form)!;
    expect(analysis(forms.equivalent).decision).toBe('equivalent');
    expect(analysis(forms.notEquivalent).decision).toBe('not_equivalent');
    expect(analysis(forms.insufficient)).toMatchObject({
      decision: 'insufficient_evidence',
      evidenceArtifactUrl: null,
    });
    for (const form of Object.values(forms)) {
      const { comparisonQtiTestIds, sampleSizes } = analysis(form);
      expect(Object.keys(sampleSizes).sort()).toEqual([form, ...comparisonQtiTestIds].sort());
      expect(reports.formEvidence.find(({ qtiTestId }) => qtiTestId === form)).toMatchObject({
        comparisonQtiTestIds,
      });
    }
  });

  it('have cohorts of every kind, those that can be shown first', () => {
    const { classes, schools, special } = aurora.fixtures.reports;
    const { reports } = aurora.platform;
    const classRollup = (id: string) =>
      reports.rollups.find(({ scope }) => scope.type === 'class' && scope.classSourcedId === id);
    const statuses = classes.map((id) => classRollup(id)!.suppression.status);
    expect(statuses).toEqual(statuses.toSorted());
    expect(new Set(statuses)).toEqual(new Set(['not_suppressed', 'suppressed']));
    for (const id of classes) expect(classRollup(id)!.populationCount).not.toBeNull();
    for (const id of special.classesWithheld)
      expect(classRollup(id)).toMatchObject({ populationCount: null });
    for (const id of special.classesWithoutRollup) expect(classRollup(id)).toBeUndefined();
    const gradeRollup = (cohort: (typeof schools)[number]) =>
      reports.rollups.find(
        ({ scope }) =>
          scope.type === 'school_grade' &&
          scope.schoolSourcedId === cohort.schoolSourcedId &&
          scope.grade === cohort.grade,
      );
    expect(gradeRollup(schools[0]!)!.suppression.status).toBe('not_suppressed');
    expect(gradeRollup(schools.at(-1)!)!.suppression.status).toBe('suppressed');
    expect(gradeRollup(special.schoolsWithheld[0]!)!.populationCount).toBeNull();
    expect(gradeRollup(special.schoolsWithoutRollup[0]!)).toBeUndefined();
    const status = (id: string) => reports.users.find(({ user }) => user.sourcedId === id)!.user.status;
    expect(special.studentsDeleted.map(status)).toEqual(['tobedeleted']);
    expect(special.classesDeleted).toHaveLength(1);
  });

  it('name every id in stack.json, with the candidate of every attempt', () => {
    const { reports } = aurora.fixtures;
    const sandbox = { masteryGateAttempt: 'a', adaptiveDiagnosticAttempt: 'b', candidate: 'c', form: 'd' };
    const described = stackDescription.shape.fixtures.parse({ t: aurora.fixtures, sandbox });
    expect(described['t']!.reports).toEqual(reports);
    const ids = new Set(attemptsOf(aurora).map(({ attemptId }) => attemptId));
    for (const id of [...Object.values(reports.attempts), ...Object.values(reports.special.attempts)])
      expect(ids).toContain(id);
    const candidates = attemptsOf(aurora).map(({ candidateSourcedId }) => candidateSourcedId);
    expect(reports.students.concat(reports.special.studentsDeleted)).toEqual(
      expect.arrayContaining(candidates),
    );
    expect(reports.students).toContain(aurora.fixtures.mastery.resultsStudentId);
    expect(reports.students).toContain(reports.candidates.empty);
    const administrations = aurora.platform.reports.administrations;
    expect([...reports.administrations, ...Object.values(reports.special.administrations)].sort()).toEqual(
      administrations.map(({ administrationId }) => administrationId).sort(),
    );
    for (const { classSourcedId, schoolSourcedId } of administrations)
      expect((classSourcedId === null) === (schoolSourcedId === null)).toBe(false);
  });
});

describe('a reports.json with a defect', () => {
  let file: string;
  beforeAll(async () => {
    file = await readFile(join(DEFAULT_SEED_DIRECTORY, 'reports.json'), 'utf8');
  });

  /** What is found in the default file with one member replaced. */
  function defectsWith(pointer: string, value: unknown): readonly Defect[] {
    const changed = JSON.parse(file) as unknown;
    const steps = pointer.slice(1).split('/');
    const last = steps.pop()!;
    const parent = steps.reduce((at, step) => (at as Record<string, unknown>)[step], changed);
    (parent as Record<string, unknown>)[last] = value;
    const parsed = reportsFile.safeParse(changed);
    return parsed.success ? checkReports(parsed.data) : schemaDefects(parsed.error);
  }

  it('is not the default one', () => {
    expect(defectsWith('/schools/0/status', 'active')).toEqual([]);
  });

  it.each<[string, string, unknown, string?]>([
    ['an unknown grade', '/schools/0/grades/0/grade', '5'],
    ['a grade twice', '/schools/0/grades/1/grade', '05'],
    ['a class twice', '/classes/1/name', 'class-5a'],
    ['a class for runs that is none', '/runClass', 'nowhere'],
    ['an id with a blank', '/students/0/idSuffix', ' x'],
    ['an id that a list of ids would split', '/students/0/idSuffix', ',x'],
    [
      'a framework of both forms',
      '/frameworks/0/generated',
      { standards: 1, kcsPerStandard: 1 },
      '/frameworks/0',
    ],
    ['a code twice', '/frameworks/0/standards/1/code', '5.NF.A.1', '/frameworks/0/standards'],
    ['a spec of an unknown framework', '/testSpecs/0/framework', 'nothing'],
    ['a form of two specs', '/testSpecs/1/forms/0', 'gate-a', '/testSpecs'],
    ['criteria of a formative spec', '/testSpecs/4/criteria', { version: '1', required: 1 }],
    [
      'a publication twice',
      '/testSpecs/0/crosswalks/1',
      {
        sourceTest: 'State Mathematics 5',
        sourceVersion: '2026',
        crosswalkVersion: '4',
        coverageFraction: 1,
        dokDominance: 'satisfied',
      },
    ],
    ['a coverage above 1', '/testSpecs/0/crosswalks/0/coverageFraction', 1.5],
    ['a comparison of two specs', '/equivalences/1/comparedWith/0', 'formative-unit-a'],
    ['a comparison of an unknown form', '/equivalences/1/form', 'gate-z'],
    ['a form without its size', '/equivalences/1/sampleSizes', { 'gate-b': 1 }],
    ['an administration of nobody', '/administrations/0/class', undefined, '/administrations/0'],
    ['an administration of an unknown spec', '/administrations/0/testSpec', 'nothing'],
    ['an unknown candidate', '/attempts/0/student', 'nobody'],
    ['another spec’s administration', '/attempts/0/administration', 'week-12'],
    ['a record of what is not scored', '/attempts/0/status', 'submitted', '/attempts/0/record'],
    ['a gate without its decision', '/attempts/0/record/gate', null],
    ['a diagnostic of a gate', '/attempts/4/record/diagnostic', null],
    ['an unknown gap', '/attempts/1/record/gate/gaps/0', '9.X'],
    [
      'a row about nothing',
      '/attempts/0/record/mastery/0/standard',
      undefined,
      '/attempts/0/record/mastery/0',
    ],
    ['a row of another kind', '/attempts/0/record/mastery/1/kc', '5.NF.B.6', '/attempts/0/record/mastery/1'],
    ['a row twice', '/attempts/0/record/mastery/2/standard', '5.NF.A.1', '/attempts/0/record/mastery/2'],
    ['evidence of no item', '/attempts/0/record/mastery/0/evidence/0/item', 11],
    ['no rows at all', '/attempts/0/record/mastery', undefined, '/attempts/0/record'],
    ['a time with an offset', '/attempts/0/record/modifiedAt', '2026-05-12T09:00:00+02:00'],
    ['an unknown template', '/histories/0/templates/0', 'nothing'],
    ['a template of thousands of rows', '/histories/0/templates/0', 'with-five-thousand-rows'],
    ['a role of nobody', '/fixtures/candidates/empty', 'nobody'],
    ['a role of a form without analysis', '/fixtures/forms/equivalent', 'gate-c'],
    ['a role that is missing', '/fixtures/attempts/stale', undefined],
    ['a role that does not exist', '/fixtures/attempts/other', 'gate-passed'],
  ])('is refused where it stands: %s', (_, pointer, value, found = pointer) => {
    const pointers = defectsWith(pointer, value).map((defect) => defect.pointer);
    expect(pointers).toContain(found);
  });
});
