import type { AdaptiveRun, AttemptReport, MasteryRow } from '#client/index.ts';

/** The engine's last answer about a completed run, and whose run it was. */
export interface EngineResult {
  readonly run: Pick<
    AdaptiveRun,
    | 'kcClassifications'
    | 'scale'
    | 'stopReason'
    | 'resultRecordRef'
    | 'selectionPolicyId'
    | 'scaleCalibrationId'
  >;
  readonly studentId: string;
  /** How many items the learner has answered. */
  readonly answered: number;
}

/** A fact on which the report and the engine's answer disagree; undefined: that side does not have it. */
export interface Difference {
  readonly fact: string;
  readonly engine: Fact;
  readonly report: Fact;
}
type Fact = string | number | undefined;

export interface Comparison {
  readonly facts: number;
  readonly differences: readonly Difference[];
  /** How many components have evidence, and how many have none and so no row. */
  readonly measured: number;
  readonly unmeasured: number;
}

/**
 * Holds a report in the view `evidence` against the engine's answer, number for number: both went through JSON, which keeps every digit.
 * A component without evidence has no row, and a row without such a component is a difference.
 */
export function compareReport({ run, studentId, answered }: EngineResult, report: AttemptReport): Comparison {
  const { score, diagnostic } = report;
  const measured = run.kcClassifications.filter(({ evidenceItemRefs }) => evidenceItemRefs.length > 0);
  const rows = new Map(report.mastery.map((row) => [rowName(row), row]));
  const expected = new Set(measured.map(componentName));
  const compared: readonly Difference[] = [
    { fact: 'test kind', engine: 'adaptive_diagnostic', report: report.testKind },
    { fact: 'status', engine: 'scored', report: report.status },
    { fact: 'candidate', engine: studentId, report: report.candidateSourcedId },
    { fact: 'results record', engine: run.resultRecordRef, report: report.resultRecordId },
    { fact: 'score', engine: run.scale?.scaleScore, report: score.value },
    { fact: 'unit of the score', engine: 'mastery_scale', report: score.unit },
    { fact: 'scale of the score', engine: run.scale?.scaleId, report: score.scaleVersion ?? undefined },
    { fact: 'scale score', engine: run.scale?.scaleScore, report: diagnostic?.scaleScore },
    { fact: 'standard error', engine: run.scale?.standardError, report: diagnostic?.standardError },
    { fact: 'scale', engine: run.scale?.scaleId, report: diagnostic?.scaleVersion },
    { fact: 'calibration', engine: run.scaleCalibrationId, report: diagnostic?.calibrationVersion },
    { fact: 'stopping reason', engine: run.stopReason ?? undefined, report: diagnostic?.stoppingReason },
    { fact: 'administered items', engine: answered, report: diagnostic?.administeredItemCount },
    ...measured.flatMap((component) => {
      const name = componentName(component);
      const row = rows.get(name);
      return [
        { fact: `${name}: state`, engine: component.classification, report: row?.state },
        { fact: `${name}: posterior`, engine: component.posteriorProbability, report: row?.estimate },
        // Results may leave it to the policy.
        {
          fact: `${name}: required confidence`,
          engine: component.confidenceThreshold,
          report: row?.confidence === null ? component.confidenceThreshold : row?.confidence,
        },
        { fact: `${name}: policy`, engine: run.selectionPolicyId, report: row?.policyId },
        {
          fact: `${name}: items`,
          engine: listed(component.evidenceItemRefs),
          report: row?.evidence && listed(row.evidence.map(({ qtiItemId }) => qtiItemId)),
        },
      ];
    }),
    ...report.mastery
      .filter((row) => !expected.has(rowName(row)))
      .map((row) => ({ fact: `${rowName(row)}: state`, engine: undefined, report: row.state })),
  ];
  return {
    facts: compared.length,
    differences: compared.filter(({ engine, report: reported }) => engine !== reported),
    measured: measured.length,
    unmeasured: run.kcClassifications.length - measured.length,
  };
}

function componentName({ caseCompetencyGuid }: AdaptiveRun['kcClassifications'][number]): string {
  return `knowledge_component ${caseCompetencyGuid}`;
}

function rowName({ kind, caseGuid }: MasteryRow): string {
  return `${kind} ${caseGuid}`;
}

/** In one order for both: the contract promises none. */
function listed(ids: readonly string[]): string {
  return ids.toSorted().join(' ');
}

/** Returns one line when both agree, else a line for every difference. */
export function describeComparison(comparison: Comparison): readonly string[] {
  const { facts, differences, measured, unmeasured } = comparison;
  if (differences.length === 0) {
    const without = unmeasured === 0 ? '' : `; ${unmeasured} without evidence are not in the report`;
    return [`the report agrees with the engine: ${facts} facts, ${measured} knowledge components${without}`];
  }
  return [
    `${differences.length} of ${facts} facts differ between the engine and the report:`,
    ...differences.map(
      ({ fact, engine, report }) => `  ${fact}: engine ${shown(engine)}, report ${shown(report)}`,
    ),
  ];
}

function shown(fact: Fact): string {
  return fact === undefined ? 'nothing' : JSON.stringify(fact);
}
