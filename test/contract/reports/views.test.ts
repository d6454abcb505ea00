import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import type { HeldAttempt } from '#local/platform/tenant-state.ts';
import { view as viewNames } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { readClassCohort } from '#shared/contract/reports/routes/read-class-cohort.ts';
import { readEquivalence } from '#shared/contract/reports/routes/read-equivalence.ts';
import { readReadiness } from '#shared/contract/reports/routes/read-readiness.ts';
import { readSchoolGradeCohort } from '#shared/contract/reports/routes/read-school-grade-cohort.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { SettledRecord } from '#shared/platform/owners/results.ts';
import { expectedReport } from '#test/support/expected-report.ts';
import type { ReportedFacts } from '#test/support/expected-report.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { openReportsCaller, reportsAnswerOf } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// Every report of the fixtures in every view over whole functions, held member by member against what its owners hold.

const stack = useTestStack();
const caller = lazily(() => openReportsCaller(stack));

const views = viewNames.options;

/** The attempts of the fixtures that have a report, each with what is special about it. */
const roles = [
  'gatePass',
  'gateFail',
  'gateIndeterminate',
  'diagnostic',
  'formative',
  'large',
  'gate-by-a-draft',
  'diagnosed-with-norms',
  'formative-unit',
  'with-awkward-ids',
] as const;
type Role = (typeof roles)[number];

interface Owned {
  readonly attempt: HeldAttempt;
  readonly record: SettledRecord;
  readonly criteria: ReportCriteria;
}

/** What the owners hold of an attempt. */
function ownedBy(tenantId: string, role: Role): Owned {
  const { attempts, special } = caller.fixtures(tenantId);
  const ids: Readonly<Record<string, string>> = { ...special.attempts, ...attempts };
  const attemptId = ids[role]!;
  const { reports } = stack.seededTenants.get(tenantId)!.platform;
  const attempt =
    reports.attempts.find((held) => held.attemptId === attemptId) ??
    reports.generated.attempts.get(attemptId)!();
  const record =
    reports.records.find((held) => held.attemptId === attemptId) ??
    reports.generated.records.get(attempt.resultRecordId!)!();
  const criteria = reports.criteria.find(({ testSpecId }) => testSpecId === attempt.contentTestSpecId)!;
  return { attempt, record, criteria };
}

async function read(tenantId: string, attemptId: string, query: string): Promise<AttemptReport> {
  const reply = await caller.call(readAttemptReport, { tenantId, path: { attemptId }, query });
  expect(reportsAnswerOf(reply)).toBe('200');
  return readAttemptReport.success.schema.parse(JSON.parse(reply.text));
}

/** A report as its owners are to answer for it, beside its stamps, receipts and omissions. */
function saidBy(report: AttemptReport): ReportedFacts {
  const { sources, observedAt, requestId, traceId, omitted, incompleteSections, ...facts } = report;
  expect(incompleteSections).toEqual([]);
  expect([sources.length, omitted.length, observedAt, requestId, traceId]).not.toContain(undefined);
  return facts;
}

describe.each(localTenantIds)('%s', (tenantId) => {
  it.each(roles)(
    '%s: three views of the same facts, which are the owners’ own, and each says what it leaves out [RP-001, RP-003, RP-005, RP-009, RP-010, RP-011, RP-012, RP-013, RP-055, RP-059, RP-065, RP-070, RP-074, RP-075, RP-076, RP-077, RP-080, RP-098, RP-099]',
    async (role) => {
      const { attempt, record, criteria } = ownedBy(tenantId, role);
      const { attemptId } = attempt;
      const whole = expectedReport(attempt, record, criteria);
      const evidence = await read(tenantId, attemptId, '?view=evidence');
      expect(saidBy(evidence)).toEqual(whole);
      expect(evidence.omitted).toEqual(['readiness']);

      const standards = await read(tenantId, attemptId, '?view=standards');
      const rows = whole.mastery.map((row) =>
        Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'evidence')),
      );
      expect(saidBy(standards)).toEqual({ ...whole, mastery: rows });
      expect(standards.mastery.filter((row) => 'evidence' in row)).toEqual([]);
      expect(standards.omitted).toEqual(['itemEvidence', 'readiness']);

      for (const query of ['?view=summary', '']) {
        const summary = await read(tenantId, attemptId, query);
        expect(saidBy(summary)).toEqual({ ...whole, mastery: [] });
        expect(summary.omitted).toEqual(['mastery', 'itemEvidence', 'readiness']);
      }
    },
  );

  it.each(roles)(
    '%s: a current receipt of every owner and of no other, in every view [RP-006, RP-069, RP-085, RP-086, RP-087]',
    async (role) => {
      const { attempt, record, criteria } = ownedBy(tenantId, role);
      const iri = record.completionEventIri;
      const versions: Readonly<Record<string, string>> = {
        [`qti ${attempt.attemptId}`]: attempt.version,
        [`results ${record.resultRecordId}`]: record.version,
        [`content ${criteria.testSpecId}`]: criteria.version,
      };
      const consulted = [
        ...Object.keys(versions),
        `oneroster ${attempt.candidateSourcedId}`,
        `case ${criteria.caseFrameworkGuid}`,
        ...(iri === null ? [] : [`caliper ${iri}`]),
      ];
      for (const view of views) {
        const { sources, observedAt } = await read(tenantId, attempt.attemptId, `?view=${view}`);
        const receipts = new Map(sources.map((source) => [`${source.service} ${source.resourceId}`, source]));
        expect([...receipts.keys()].sort()).toEqual(consulted.sort());
        expect(sources).toHaveLength(consulted.length);
        for (const [name, receipt] of receipts) {
          expect([name, receipt.status]).toEqual([name, 'current']);
          expect(receipt.version).toEqual(versions[name] ?? expect.stringMatching(/./));
          expect(Date.parse(receipt.observedAt)).toBeLessThanOrEqual(Date.parse(observedAt));
        }
      }
    },
  );

  it('a formative report has its standards with their evidence, and neither gate, scale nor readiness [RP-014, RP-015, RP-066, RP-068]', async () => {
    const { attempt } = ownedBy(tenantId, 'formative');
    const report = await read(tenantId, attempt.attemptId, '?view=evidence');
    expect([report.testKind, report.gate, report.diagnostic]).toEqual(['formative', null, null]);
    expect(report.mastery.map(({ evidence = [] }) => evidence.length > 0)).toEqual([true, true, true]);
    const path = { attemptId: attempt.attemptId };
    expect(reportsAnswerOf(await caller.call(readReadiness, { tenantId, path }))).toBe('404 not-found');
  });

  it('a cohort report is the snapshot of Analytics, passed on [RP-004, RP-005, RP-053, RP-129, RP-130]', async () => {
    const { classes, schools } = caller.fixtures(tenantId);
    const { rollups } = stack.seededTenants.get(tenantId)!.platform.reports;
    for (const [route, path] of [
      ...classes.map((classSourcedId) => [readClassCohort, { classSourcedId }] as const),
      ...schools.map((school) => [readSchoolGradeCohort, school] as const),
    ]) {
      const reply = await caller.call(route, { tenantId, path });
      const report = route.success.schema.parse(JSON.parse(reply.text));
      expect(report.scope).toMatchObject(path);
      const { scope, rollupId, formulaVersion, asOf, populationCount, suppression, measures, version } =
        rollups.find((rollup) => isDeepStrictEqual(rollup.scope, report.scope))!;
      expect(report).toMatchObject({ scope, rollupId, formulaVersion, asOf, populationCount, suppression });
      expect(report.measures).toEqual(suppression.status === 'not_suppressed' ? measures : undefined);
      expect(report.source).toMatchObject({ service: 'analytics', resourceId: rollupId, version });
    }
  });

  it('an equivalence report is the analysis of Analytics beside the evidence of the blueprint, passed on [RP-004, RP-005, RP-121, RP-122, RP-123, RP-124, RP-127]', async () => {
    const { formEquivalences, formEvidence } = stack.seededTenants.get(tenantId)!.platform.reports;
    for (const qtiTestId of Object.values(caller.fixtures(tenantId).forms)) {
      const reply = await caller.call(readEquivalence, { tenantId, path: { qtiTestId } });
      const report = readEquivalence.success.schema.parse(JSON.parse(reply.text));
      const ofForm = (held: { readonly qtiTestId: string }): boolean => held.qtiTestId === qtiTestId;
      const { coverageMatch, dokMatch } = formEvidence.find(ofForm)!;
      // What the owners say changes nothing of the report.
      expect({ ...report, ...formEquivalences.find(ofForm), coverageMatch, dokMatch }).toMatchObject(report);
    }
  });

  it('a view changes nothing that is asked of the owners [RP-075]', async () => {
    const { attempt } = ownedBy(tenantId, 'gateFail');
    const asked: string[][] = [];
    for (const view of views) {
      // A container that knows nothing yet.
      await stack.killWorkers(readAttemptReport.operationId);
      const { calls } = await callsDuring(stack, () => read(tenantId, attempt.attemptId, `?view=${view}`));
      expect(calls.length).toBeGreaterThan(4);
      asked.push(calls.map(({ method, path }) => `${method} ${path}`).sort());
    }
    expect(asked).toEqual(views.map(() => asked[0]));
  });
});

it('logs that a report shows gaps of which the criteria do not speak, and no other report', async () => {
  const tenantId = localTenantIds[0];
  const { attempt, record, criteria } = ownedBy(tenantId, 'gateFail');
  const linesOf = async (): Promise<readonly unknown[]> => {
    const before = stack.logs().length;
    const { attemptId } = attempt;
    expect((await caller.call(readAttemptReport, { tenantId, path: { attemptId } })).status).toBe(200);
    return stack
      .logs()
      .slice(before)
      .map(({ line }) => line)
      .filter((line) => JSON.stringify(line).includes('"GAP_NOT_GOVERNED"'));
  };
  expect(await linesOf()).toEqual([]);
  await stack.control('PATCH', 'entities', {
    tenantId,
    entity: 'content.report_criteria',
    id: criteria.testSpecId,
    changes: [{ pointer: '/criteria/governedCaseGuids', value: [] }],
  });
  expect(record.mastery.some(({ state }) => state === 'gap')).toBe(true);
  expect(await linesOf()).toMatchObject([{ level: 'INFO' }]);
  await stack.control('POST', 'reset');
});
