import type * as z from 'zod';
import { attemptReport, requestableTestKind, view } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReport, View } from '#shared/contract/reports/attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { outcomeOf, type Check, type Outcome } from '../check.ts';
import { bodyOf, successFindings } from '../replies.ts';
import { titleOf, type Suite } from '../suite.ts';
import type { Tenant } from '../tenant-file.ts';
import { foreignFindings } from './reads.ts';

type Kind = z.infer<typeof requestableTestKind>;

/** All three test kinds have a report in every view, with exactly the facts that the kind supports [RP-009, RP-024]. */
export function matrixChecks(suite: Suite): readonly Check[] {
  return requestableTestKind.options.flatMap((kind) =>
    view.options.flatMap((shown) =>
      [suite.a, suite.b].map((tenant): Check => ({
        group: 'matrix',
        subject: `${kind}.${shown}`,
        side: tenant.side,
        title: 'an attempt of this test kind has its report in this view',
        asked: `${titleOf({ route: readAttemptReport })}?view=${shown} for an attempt of ${tenant.side}, and its summary`,
        run: () => cell(suite, tenant, kind, shown),
      })),
    ),
  );
}

async function cell(suite: Suite, tenant: Tenant, kind: Kind, shown: View): Promise<Outcome> {
  const attemptId = tenant.reports?.attempts[kind];
  if (attemptId === undefined)
    return outcomeOf([`the file of tenant ${tenant.side} has no /reports/attempts/${kind}`]);
  const ask = { route: readAttemptReport, path: { attemptId }, query: { view: shown } };
  const reply = await suite.target.send(ask, { token: tenant.full });
  const summary = await suite.target.send({ ...ask, query: { view: 'summary' } }, { token: tenant.full });
  const findings = [...successFindings(ask, reply), ...successFindings(ask, summary)];
  const report = attemptReport.safeParse(bodyOf(reply));
  const whole = attemptReport.safeParse(bodyOf(summary));
  if (findings.length > 0 || !report.success || !whole.success) return outcomeOf(findings);
  return outcomeOf([
    ...(report.data.attemptId === attemptId ? [] : ['the report is about a different attempt']),
    ...(report.data.testKind === kind ? [] : [`the report has the test kind ${report.data.testKind}`]),
    ...viewFindings(report.data, shown),
    ...(factsOf(report.data) === factsOf(whole.data)
      ? []
      : ['score, gate, diagnostic or ids differ from the summary']),
    ...foreignFindings(suite, tenant, reply),
  ]);
}

/** Returns what a view contains and omits [RP-074, RP-095]. */
function viewFindings({ mastery, omitted }: AttemptReport, shown: View): readonly string[] {
  const omits = { mastery: shown === 'summary', itemEvidence: shown !== 'evidence' };
  const withEvidence = mastery.filter(({ evidence }) => evidence !== undefined).length;
  return [
    ...(omitted.includes('mastery') === omits.mastery ? [] : ['/omitted is wrong about mastery']),
    ...(omitted.includes('itemEvidence') === omits.itemEvidence
      ? []
      : ['/omitted is wrong about itemEvidence']),
    ...(withEvidence === (omits.itemEvidence ? 0 : mastery.length)
      ? []
      : ['mastery rows have evidence outside the evidence view, or lack it in that view']),
  ];
}

/** Returns what is the same in every view [RP-075]. */
function factsOf({ score, gate, diagnostic, testKind, status, ...ids }: AttemptReport): string {
  const { qtiSessionId, qtiTestId, resultRecordId, candidateSourcedId, administrationId, contentTestSpecId } =
    ids;
  const named = [
    qtiSessionId,
    qtiTestId,
    resultRecordId,
    candidateSourcedId,
    administrationId,
    contentTestSpecId,
  ];
  return JSON.stringify([score, gate, diagnostic, testKind, status, named]);
}
