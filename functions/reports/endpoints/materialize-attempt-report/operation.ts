import { namesAdministration } from '#functions/reports/access/claims.ts';
import { checkReleased } from '#functions/reports/composition/header.ts';
import { composeAttemptReport, projectAttemptReport } from '#functions/reports/composition/attempt-report.ts';
import type { AttemptFacts, Released } from '#functions/reports/facts/facts.ts';
import { componentsOf, writeThrough } from './write-through.ts';
import { checkScored, requireCurrent } from '#functions/reports/facts/incomplete.ts';
import { readAdministration } from '#functions/reports/sources/administration.ts';
import { readAttempt } from '#functions/reports/sources/attempt.ts';
import { conflicting } from '#functions/reports/sources/problems.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import { readEvidence } from '#functions/reports/sources/settled-attempt.ts';
import { readReportCriteria } from '#functions/reports/sources/test-spec.ts';
import type { materializeAttemptReport as route } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { Operation, Principal } from '#shared/http/operation.ts';
import { invalid } from '#shared/http/syntax/issues.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledComponentsAck } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { answerReport, logUngovernedGaps, retryContradiction } from '../support/owners.ts';
import type { ReportDependencies } from '../support/owners.ts';

/**
 * Writes a scored attempt through to Results and Caliper, reads Results back and composes the report from that [RP-288]. It refuses an attempt that
 * the caller may not see, or that cannot be settled, before there is an idempotency record. A completed operation writes nothing again; its report is
 * composed from the present facts [RP-220].
 */
export function materializeAttemptReportOperation(dependencies: ReportDependencies): Operation<typeof route> {
  return (request) =>
    answerReport(dependencies, request, async ({ platform, reader, frameworks, moment }) => {
      const { principal, body, proved, problemsUrl } = request;
      const attempt = await readAdministeredAttempt(reader, principal, body);
      if (!attempt.ok) return attempt;
      const { evidence, administration } = attempt.value;
      const components = componentsOf(evidence);
      if (!components.ok) return components;
      const unreleased = await refuseUnreleased(reader, evidence, proved);
      if (unreleased !== undefined) return err(unreleased);
      return request.idempotent(async ({ operationId, completed }) => {
        const written = completed ? ok(undefined) : await writeThrough(platform, evidence, components.value);
        if (!written.ok) return written;
        const composed = await retryContradiction(async () => {
          const facts = await readAttempt(reader, frameworks, principal, body.attemptId);
          if (!facts.ok) return facts;
          const moved = checkReadBack(facts.value, body.administrationId, written.value);
          if (moved !== undefined) return err(moved);
          // The service consulted the administration too, so the report has its receipt [RP-006].
          const consulted = administration.map((receipt) => ({ receipt }));
          const enrichments = [...facts.value.enrichments, ...consulted];
          return composeAttemptReport({ ...facts.value, enrichments, proved });
        });
        if (!composed.ok) return composed;
        logUngovernedGaps(request.log, composed.value);
        const report = projectAttemptReport(composed.value, body.view, moment(), problemsUrl);
        return ok({ operationId, report });
      });
    });
}

/**
 * Looks an attempt up for a caller who wants to act on it, in an order that reveals nothing: its candidate must be within the claims, else 404; it
 * must belong to the administration, else 400; and that must be within the claims too, else the same 404. Only then does an attempt that is not
 * scored, or not current, return 503.
 * @returns `administration`: the receipt of the administration, if Administration had to be asked
 */
async function readAdministeredAttempt(
  reader: SourceReader,
  principal: Principal,
  { attemptId, administrationId }: { readonly attemptId: string; readonly administrationId: string },
): Promise<
  Result<{ readonly evidence: AttemptEvidence; readonly administration: readonly SourceRef[] }, Problem>
> {
  const evidence = await readEvidence(reader, principal, attemptId);
  if (!evidence.ok) return evidence;
  if (evidence.value.value.administrationId !== administrationId) return err(otherAdministration());
  const administration: SourceRef[] = [];
  if (!namesAdministration(principal, administrationId)) {
    const read = await readAdministration(reader, principal, administrationId);
    if (!read.ok) return read;
    administration.push(read.value.receipt);
  }
  const receipts = [evidence.value.receipt, ...administration];
  const unfit = requireCurrent(receipts) ?? checkScored({ evidence: evidence.value });
  return unfit === undefined ? ok({ evidence: evidence.value.value, administration }) : err(unfit);
}

/** Returns a problem that does not reveal whether either id exists. */
function otherAdministration(): Problem {
  const refused = invalid(
    'body',
    ['administrationId'],
    'not-allowed',
    'must be the administration of the attempt',
  );
  return problem('reports', 'validation', 400, { invalidParams: [refused] });
}

/** Refuses to write an attempt of a kind that may not be shown yet [RP-026]. Content, which names the kind, is asked only while one is unreleased. */
async function refuseUnreleased(
  reader: SourceReader,
  evidence: AttemptEvidence,
  proved: Released['proved'],
): Promise<Problem | undefined> {
  const unreleased = checkReleased(proved);
  if (unreleased === undefined) return undefined;
  const criteria = await readReportCriteria(reader, evidence, 'derived');
  if (!criteria.ok) return criteria.error;
  return criteria.value.value.testKind === 'adaptive_diagnostic' ? unreleased : undefined;
}

/**
 * Checks that the record read back is the acknowledged one, and belongs to the administration for which the caller was admitted. If an owner has
 * written meanwhile, the result is a 409: a repetition finds everything in its newer version.
 */
function checkReadBack(
  { evidence, record }: AttemptFacts,
  administrationId: string,
  acknowledged: SettledComponentsAck | undefined,
): Problem | undefined {
  if (evidence.value.administrationId !== administrationId) return conflicting('qti');
  // A record that states itself that it is not current is no contradiction; the composition refuses it.
  if (acknowledged === undefined || record.receipt.status !== 'current') return undefined;
  const { resultRecordId, version } = acknowledged;
  return record.value.resultRecordId === resultRecordId && record.value.version === version
    ? undefined
    : conflicting('results');
}
