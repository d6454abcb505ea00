import { describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import type { HeldAttempt } from '#local/platform/tenant-state.ts';
import { view as viewNames, type AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { SettledRecord } from '#shared/platform/owners/results.ts';
import { openReportsCaller, reportsAnswerOf } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// The receipts of every report of the fixtures in every view over whole functions. Its members: attempt-report.property.test.ts, and test/fuzz.

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

describe.each(localTenantIds)('%s', (tenantId) => {
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
