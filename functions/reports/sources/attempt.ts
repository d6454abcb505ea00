import type { AttemptFacts, Enrichment } from '#functions/reports/facts/facts.ts';
import type { Principal } from '#shared/http/operation.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { readFramework, type TenantFrameworks } from './case-package.ts';
import { sourceProblem, unusable } from './problems.ts';
import type { SourceReader } from './reader.ts';
import { readSettledAttempt } from './settled-attempt.ts';

/** How long a report waits for a source that it does not require, in milliseconds. */
const ENRICHMENT_MS = 1_500;

/** The texts of the problem’s own row are about a required source. */
const WITHOUT_EVENT =
  'Caliper did not return the event that published the result. The report is complete without it.';

/**
 * Reads the facts of an attempt's report, in three waves: the lookup by its id; record, criteria and candidate; the CASE framework together with the event
 * that published the result, which is an enrichment.
 */
export async function readAttempt(
  reader: SourceReader,
  frameworks: TenantFrameworks,
  principal: Principal,
  attemptId: string,
): Promise<Result<AttemptFacts, Problem>> {
  const settled = await readSettledAttempt(reader, principal, attemptId);
  if (!settled.ok) return settled;
  const { record, criteria } = settled.value;
  const { completionEventIri } = record.value;
  const [framework, enrichments] = await Promise.all([
    readFramework(reader, frameworks, criteria.value.caseFrameworkGuid),
    completionEventIri === null
      ? []
      : readCompletionEvent(reader, completionEventIri).then((event) => [event]),
  ]);
  if (!framework.ok) return framework;
  return ok({ ...settled.value, framework: framework.value, enrichments });
}

/** Reads Caliper's receipt of the event that published the result; without it, the enrichment has a problem instead [RP-071]. */
async function readCompletionEvent(reader: SourceReader, eventIri: string): Promise<Enrichment> {
  const operation = operations.readEvidenceAck;
  const answer = await reader.read(operation, { query: { eventIri }, timeLimit: ENRICHMENT_MS }, () => ({
    resourceId: eventIri,
  }));
  if (answer.ok && answer.value.value.event.id === eventIri) return { receipt: answer.value.receipt };
  const problem = answer.ok ? unusable(operation) : sourceProblem(answer.error, 'derived');
  return {
    receipt: reader.unavailable(operation, eventIri),
    problem: { ...problem, detail: WITHOUT_EVENT },
  };
}
