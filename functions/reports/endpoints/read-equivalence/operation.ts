import { composeEquivalence } from '#functions/reports/composition/equivalence.ts';
import { readEquivalenceFacts } from './read-facts.ts';
import type { readEquivalence } from '#shared/contract/reports/routes.ts';
import type { Operation } from '#shared/http/operation.ts';
import { answerReport } from '../answer-report.ts';
import type { ReportDependencies } from '../answer-report.ts';

/** Whether a form measures like the forms beside it, as Analytics decided it. */
export function readEquivalenceOperation(
  dependencies: ReportDependencies,
): Operation<typeof readEquivalence> {
  return (request) =>
    answerReport(dependencies, request, async ({ reader, moment }) => {
      const facts = await readEquivalenceFacts(reader, request.path.qtiTestId);
      return facts.ok ? composeEquivalence(facts.value, moment()) : facts;
    });
}
