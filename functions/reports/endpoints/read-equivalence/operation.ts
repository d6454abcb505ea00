import { composeEquivalence } from '#functions/reports/composition/equivalence.ts';
import type { EquivalenceFacts, Observed } from '#functions/reports/facts/facts.ts';
import { incomplete } from '#functions/reports/facts/incomplete.ts';
import { finalDisagreement, equivalenceDisagreement } from '#functions/reports/facts/versions.ts';
import { together, type IdOrigin } from '#functions/reports/sources/problems.ts';
import { readSource, type SourceReader } from '#functions/reports/sources/reader.ts';
import { readReportCriteria, type SpecVersion } from '#functions/reports/sources/test-spec.ts';
import type { readEquivalence } from '#shared/contract/reports/routes/read-equivalence.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Form } from '#shared/platform/owners/qti.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { answerReport, retryContradiction, type ReportDependencies } from '../support/owners.ts';

/** Returns whether a form measures like its parallel forms, as Analytics decided it. */
export function readEquivalenceOperation(
  dependencies: ReportDependencies,
): Operation<typeof readEquivalence> {
  return (request) =>
    answerReport(dependencies, request, ({ reader, moment }) =>
      retryContradiction(async () => {
        const facts = await readEquivalenceFacts(reader, request.path.qtiTestId);
        return facts.ok ? composeEquivalence(facts.value, moment()) : facts;
      }),
    );
}

/**
 * Reads the facts of an equivalence report, in two waves: the form; then the facts of Analytics, Content and the blueprint on it. The form and its
 * test spec must be visible to the caller's tenant, and Analytics must have analysed it: else 404. If owners name different versions or comparisons,
 * all are read once more, concurrently; what differs then is Analytics' gap, since its analysis refers to something else.
 */
async function readEquivalenceFacts(
  reader: SourceReader,
  qtiTestId: string,
): Promise<Result<EquivalenceFacts, Problem>> {
  const form = await readForm(reader, qtiTestId);
  if (!form.ok) return form;
  const first = await readBeside(reader, qtiTestId, form.value.value, 'caller');
  if (!first.ok) return first;
  const facts = { form: form.value, ...first.value };
  if (equivalenceDisagreement(facts) === undefined) return ok(facts);

  const second = await together({
    form: readForm(reader, qtiTestId),
    // The form is visible: a version that Content lacks is one that Analytics has named.
    beside: readBeside(reader, qtiTestId, newerSpec(facts), 'derived'),
  });
  if (!second.ok) return second;
  const again = { form: second.value.form, ...second.value.beside };
  const owner = finalDisagreement(equivalenceDisagreement(again), Object.values(again));
  return owner === undefined
    ? ok(again)
    : err(
        incomplete(owner, 'The owners do not name the same version of the form’s test spec and comparison.'),
      );
}

/** Returns the form's own test spec in the version that Analytics names: it was read after the form. */
function newerSpec({ form, equivalence }: EquivalenceFacts): SpecVersion {
  const { contentTestSpecId } = form.value;
  const { contentTestSpecVersion } =
    equivalence.value.contentTestSpecId === contentTestSpecId ? equivalence.value : form.value;
  return { contentTestSpecId, contentTestSpecVersion };
}

function readForm(reader: SourceReader, qtiTestId: string): Promise<Result<Observed<Form>, Problem>> {
  return readSource(reader, operations.readForm, 'caller', 'qtiTestId', { path: { qtiTestId } });
}

/** Reads the owners' facts on a form concurrently. */
function readBeside(
  reader: SourceReader,
  qtiTestId: string,
  spec: SpecVersion,
  specOrigin: IdOrigin,
): Promise<Result<Omit<EquivalenceFacts, 'form'>, Problem>> {
  const { contentTestSpecId: testSpecId, contentTestSpecVersion: version } = spec;
  return together({
    equivalence: readSource(reader, operations.readFormEquivalence, 'confirmed', 'equivalenceId', {
      path: { qtiTestId },
    }),
    criteria: readReportCriteria(reader, spec, specOrigin),
    formEvidence: readSource(reader, operations.readFormEvidence, 'derived', 'formEvidenceId', {
      path: { testSpecId, qtiTestId },
      query: { version },
    }),
  });
}
