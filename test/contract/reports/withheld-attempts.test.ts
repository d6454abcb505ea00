import { expect, it } from 'vitest';
import { provable } from '#shared/contract/gates.ts';
import type { AttemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import { candidatePages, openReportsCaller } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';

// What a long list does with attempts that are not released. What else is withheld: page.test.ts and read-facts.test.ts of the reports service.

const tenantId = 'tenant-aurora';

/** What pages say that they have passed over, summed up. */
function withheldOf(pages: readonly AttemptReportPage[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { reason, count } of pages.flatMap(({ withheld = [] }) => withheld))
    sums[reason] = (sums[reason] ?? 0) + count;
  return sums;
}

const idsOf = (pages: readonly AttemptReportPage[]): readonly string[] =>
  pages.flatMap(({ data }) => data.map(({ attemptId }) => attemptId));

it('without the mastery engine’s proof with production learners adaptive diagnostics are passed over and counted, whatever is asked for, and every other attempt is there [RP-026]', async () => {
  await using stack = await startTestStack({
    proved: provable.filter((name) => name !== 'mastery_engine_production_learner'),
  });
  const caller = openReportsCaller(stack);
  const { withHistory } = caller.fixtures(tenantId).candidates;
  const { generated } = stack.seededTenants.get(tenantId)!.platform.reports;
  const diagnostics = [...generated.records.values()]
    .map((make) => make())
    .filter((record) => record.candidateSourcedId === withHistory && record.diagnostic !== null);
  expect(diagnostics.length).toBeGreaterThan(20);
  for (const query of [
    { limit: '25', testKind: 'mastery_gate' },
    { limit: '10', testKind: 'adaptive_diagnostic' },
  ]) {
    const pages = await candidatePages(
      caller,
      { tenantId, path: { candidateSourcedId: withHistory } },
      query,
    );
    expect(withheldOf(pages)).toEqual({ unreleased: diagnostics.length });
    expect(pages.flatMap(({ data }) => data).filter(({ diagnostic }) => diagnostic !== null)).toEqual([]);
    expect(idsOf(pages).length > 0).toBe(query.testKind !== 'adaptive_diagnostic');
  }
}, 60_000);
