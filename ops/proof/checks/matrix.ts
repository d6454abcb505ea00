import type * as z from 'zod';
import { attemptReport, requestableTestKind, view } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReport, View } from '#shared/contract/reports/attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes.ts';
import { outcomeOf } from '../check.ts';
import type { Check, Outcome } from '../check.ts';
import { bodyOf, successFindings } from '../replies.ts';
import { titleOf } from '../suite.ts';
import type { Suite } from '../suite.ts';
import type { Tenant } from '../tenant-file.ts';
import { foreignFindings } from './reads.ts';

type Kind = z.infer<typeof requestableTestKind>;

/** One runtime serves all three kinds of test, in every view, with what its kind can support and nothing else [RP-009, RP-024]. */
export function matrixChecks(suite: Suite): readonly Check[] {
  return requestableTestKind.options.flatMap((kind) =>
    view.options.flatMap((shown) =>
      [suite.a, suite.b].map((tenant): Check => ({
        group: 'matrix',
        subject: `${kind}.${shown}`,
        side: tenant.side,
        title: 'the tenant’s own attempt of this kind has its report in this view',
        asked: `${titleOf({ route: readAttemptReport })}?view=${shown} for ${tenant.side}’s own, beside its summary`,
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
    ...(report.data.attemptId === attemptId ? [] : ['the report is of another attempt']),
    ...(report.data.testKind === kind ? [] : [`the report is of the kind ${report.data.testKind}`]),
    ...viewFindings(report.data, shown),
    ...(factsOf(report.data) === factsOf(whole.data)
      ? []
      : ['score, gate, diagnostic or ids are others than in the summary']),
    ...foreignFindings(suite, tenant, reply),
  ]);
}

/** What a view shows and leaves out [RP-074, RP-095]. */
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
      : ['rows of mastery have evidence in the view that shows none, or lack it in the one that does']),
  ];
}

/** What no view changes [RP-075]. */
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
