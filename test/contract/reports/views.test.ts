import { describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import type { HeldAttempt } from '#local/platform/tenant-state.ts';
import { view as viewNames } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReport, GateDecision } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports, readAttemptReport, readReadiness } from '#shared/contract/reports/routes.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { SettledGate, SettledRecord } from '#shared/platform/owners/results.ts';
import { indistinguishable } from '#test/support/gateway-call.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
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

type Facts = Omit<AttemptReport, 'sources' | 'observedAt' | 'requestId' | 'traceId' | 'omitted'>;

/** The whole report, as the owners' own facts make it. */
function factsOf({ attempt, record, criteria }: Owned): object {
  const times = new Map(attempt.outcomes.map(({ qtiOutcomeId, scoredAt }) => [qtiOutcomeId, scoredAt]));
  const { gate, status } = decided(criteria, record.gate);
  return {
    object: 'attempt_report',
    attemptId: attempt.attemptId,
    qtiSessionId: attempt.qtiSessionId,
    qtiTestId: attempt.qtiTestId,
    resultRecordId: record.resultRecordId,
    candidateSourcedId: attempt.candidateSourcedId,
    administrationId: attempt.administrationId,
    contentTestSpecId: criteria.testSpecId,
    testKind: criteria.testKind,
    status,
    score: record.score,
    mastery: record.mastery.map(({ evidence, ...row }) => ({
      ...row,
      evidence: evidence.map((item) => ({ ...item, observedAt: times.get(item.qtiOutcomeId) })),
    })),
    gate,
    diagnostic:
      record.diagnostic === null
        ? null
        : {
            ...record.diagnostic,
            administeredItemCount: attempt.administeredItemCount,
            extNormsSet: criteria.externalScale?.normsSet ?? null,
          },
    incompleteSections: [],
  };
}

/** Results’ decision, which nothing can be without coverage evidence and criteria. */
function decided(
  { testKind, criteria }: ReportCriteria,
  settled: SettledGate | null,
): { readonly gate: object | null; readonly status: string } {
  if (testKind !== 'mastery_gate') return { gate: null, status: 'scored' };
  const isDecided = settled !== null && settled.coverageEvidenceId !== null && criteria !== null;
  const status = isDecided ? settled.status : 'indeterminate';
  return { gate: { ...settled, status }, status: status === 'indeterminate' ? status : 'scored' };
}

async function read(tenantId: string, attemptId: string, query: string): Promise<AttemptReport> {
  const reply = await caller.call(readAttemptReport, { tenantId, path: { attemptId }, query });
  expect(reportsAnswerOf(reply)).toBe('200');
  return readAttemptReport.success.schema.parse(JSON.parse(reply.text));
}

/** A report as its owners are to answer for it, beside its stamps, receipts and omissions. */
function saidBy(report: AttemptReport): Facts {
  const { sources, observedAt, requestId, traceId, omitted, ...facts } = report;
  expect([sources.length, omitted.length, observedAt, requestId, traceId]).not.toContain(undefined);
  return facts;
}

const gateOf = async (tenantId: string, role: Role): Promise<GateDecision> => {
  const { attempt } = ownedBy(tenantId, role);
  const { gate } = await read(tenantId, attempt.attemptId, '?view=evidence');
  return gate!;
};

describe.each(localTenantIds)('%s', (tenantId) => {
  it.each(roles)(
    '%s: three views of the same facts, which are the owners’ own, and each says what it leaves out [RP-001, RP-003, RP-005, RP-009, RP-055, RP-059, RP-065, RP-070, RP-074, RP-075, RP-076, RP-077, RP-080, RP-098, RP-099]',
    async (role) => {
      const owned = ownedBy(tenantId, role);
      const { attemptId } = owned.attempt;
      const whole = factsOf(owned) as Facts;
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

  it('a gate is Results’ own, a failed one with every gap, and no pass without coverage evidence and criteria [RP-010, RP-011, RP-066, RP-067, RP-100, RP-105]', async () => {
    const { record: passed } = ownedBy(tenantId, 'gatePass');
    expect(await gateOf(tenantId, 'gatePass')).toEqual({ ...passed.gate, status: 'pass', gapCaseGuids: [] });
    const { record: failed } = ownedBy(tenantId, 'gateFail');
    const gaps = failed.mastery.filter(({ state }) => state === 'gap').map(({ caseGuid }) => caseGuid);
    expect(gaps.length).toBeGreaterThan(1);
    const fail = await gateOf(tenantId, 'gateFail');
    expect(fail.status).toBe('fail');
    expect(fail.gapCaseGuids.toSorted()).toEqual(gaps.sort());

    const { record: uncovered } = ownedBy(tenantId, 'gateIndeterminate');
    expect(uncovered.gate).toMatchObject({ coverageEvidenceId: null });
    expect((await gateOf(tenantId, 'gateIndeterminate')).status).toBe('indeterminate');
    // Results says pass, under criteria that Content does not hold.
    const { record: drafted, criteria } = ownedBy(tenantId, 'gate-by-a-draft');
    expect([drafted.gate?.status, criteria.criteria]).toEqual(['pass', null]);
    expect((await gateOf(tenantId, 'gate-by-a-draft')).status).toBe('indeterminate');
  });

  it('a diagnostic has a scale score with its uncertainty and no gate, and names an external scale only where there is a crosswalk to it [RP-012, RP-013, RP-066, RP-068, RP-106, RP-107, RP-108]', async () => {
    const { attempt } = ownedBy(tenantId, 'diagnostic');
    const plain = await read(tenantId, attempt.attemptId, '?view=standards');
    expect([plain.gate, plain.diagnostic?.extNormsSet]).toEqual([null, null]);
    expect(plain.diagnostic).toMatchObject({ standardError: 21.75, stoppingReason: 'precision_target_met' });
    expect(plain.diagnostic?.calibrationVersion).toMatch(/./);
    expect(new Set(plain.mastery.map(({ state }) => state))).toEqual(new Set(['mastered', 'not_yet', 'gap']));
    expect(new Set(plain.mastery.map(({ kind }) => kind))).toEqual(
      new Set(['standard', 'knowledge_component']),
    );
    const normed = ownedBy(tenantId, 'diagnosed-with-norms').attempt.attemptId;
    const { diagnostic } = await read(tenantId, normed, '');
    expect(diagnostic?.extNormsSet).toBe('external-norms-2025');
  });

  it('a formative report has its standards with their evidence, and neither gate, scale nor readiness [RP-014, RP-015, RP-066, RP-068]', async () => {
    const { attempt } = ownedBy(tenantId, 'formative');
    const report = await read(tenantId, attempt.attemptId, '?view=evidence');
    expect([report.testKind, report.gate, report.diagnostic]).toEqual(['formative', null, null]);
    expect(report.mastery.map(({ evidence = [] }) => evidence.length > 0)).toEqual([true, true, true]);
    const path = { attemptId: attempt.attemptId };
    expect(reportsAnswerOf(await caller.call(readReadiness, { tenantId, path }))).toBe('404 not-found');
  });

  it('a score is the settled one to the last digit, whatever items and rows would add up to, in every view and in the list [RP-003, RP-080]', async () => {
    for (const role of ['gatePass', 'formative', 'diagnostic'] as const) {
      const { attempt, record } = ownedBy(tenantId, role);
      const parts = record.mastery.flatMap(({ evidence }) => evidence.map((item) => item.contribution));
      const settle = (value: number): Promise<unknown> =>
        stack.control('PATCH', 'entities', {
          tenantId,
          entity: 'results.settled_record',
          id: record.resultRecordId,
          changes: [
            { pointer: '/score/value', value },
            // The other place in which Results gives the score of a diagnostic.
            ...(record.diagnostic === null ? [] : [{ pointer: '/diagnostic/scaleScore', value }]),
          ],
        });
      const sum = parts.reduce((total, part) => total + part, 0);
      for (const value of [0.1 + 0.2, 3.141592653589793, 9.999999999999998, 1e-7]) {
        expect(sum).not.toBe(value);
        await settle(value);
        const shown: unknown[] = [];
        for (const view of views)
          shown.push((await read(tenantId, attempt.attemptId, `?view=${view}`)).score.value);
        const list = await caller.call(listCandidateReports, {
          tenantId,
          path: { candidateSourcedId: attempt.candidateSourcedId },
        });
        const { data } = JSON.parse(list.text) as { readonly data: readonly AttemptReport[] };
        shown.push(data.find(({ attemptId }) => attemptId === attempt.attemptId)?.score.value);
        expect([role, ...shown]).toEqual([role, value, value, value, value]);
      }
      await settle(record.score!.value);
    }
  });

  it('what has no report has none in any view, in the same words [RP-062, RP-063, RP-075]', async () => {
    const { unscored, unsettled, stale } = caller.fixtures(tenantId).attempts;
    const refusals = [
      [unscored, '503 dependency-incomplete results'],
      [unsettled, '503 dependency-incomplete results'],
      [stale, '503 dependency-incomplete results'],
      [`${unscored}-of-nobody`, '404 not-found'],
    ] as const;
    for (const [attemptId, refusal] of refusals) {
      const replies: GatewayReply[] = [];
      for (const view of views)
        replies.push(
          await caller.call(readAttemptReport, { tenantId, path: { attemptId }, query: `?view=${view}` }),
        );
      expect(replies.map(reportsAnswerOf)).toEqual(views.map(() => refusal));
      expect(new Set(replies.map((reply) => JSON.stringify(indistinguishable(reply)))).size).toBe(1);
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
