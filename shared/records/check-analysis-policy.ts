import * as z from 'zod';
import * as policy from '#shared/contract/reports/analysis-policy.ts';
import { sha256 } from '#shared/contract/reports/primitives.ts';
import { defectIf, type Defect } from '#shared/kernel/defect.ts';
import type { Result } from '#shared/kernel/result.ts';
import { aliasDefects, checkRecordFile, repetitionDefects } from './file-members.ts';
import { recordMembers } from './records.ts';

/** A released analysis policy. It is defined here and not among the records that functions read, whose bundles would contain it. */
const analysisPolicyRecord = z.strictObject({ ...recordMembers, document: policy.analysisPolicy });
export type AnalysisPolicyRecord = z.infer<typeof analysisPolicyRecord>;

/** An analysis policy's file: the record, in which the release may compute the checksum. */
const analysisPolicyFile = analysisPolicyRecord.extend({
  document: policy.analysisPolicy.extend({ checksum: sha256.optional() }),
});

/**
 * Checks an analysis policy before it becomes immutable and fills in its checksum (`checkRecordFile`). A trigger that could never yield a valid order
 * is a defect [RP-193, RP-195].
 */
export function checkAnalysisPolicy(file: unknown): Result<AnalysisPolicyRecord, readonly Defect[]> {
  return checkRecordFile(file, 'analysis-policy', analysisPolicyFile, ({ document }) => [
    ...aliasDefects(document.version, 'document', 'version'),
    ...document.triggers.flatMap((trigger, index) => {
      const at = ['document', 'triggers', index];
      return [
        ...observationDefects(trigger, at),
        ...actionDefects(trigger, at),
        ...reasonDefects(trigger, [...at, 'reasonCodes']),
        ...subjectDefects(trigger, [...at, 'requiredSubjects']),
      ];
    }),
    ...duplicateDefects(document.triggers),
  ]);
}

type Path = readonly PropertyKey[];

/** Checks that the observed measure is one of the metric's, in its unit, and able to reach the threshold. */
function observationDefects(trigger: policy.AnalysisTrigger, at: Path): readonly Defect[] {
  const { metric, observed, threshold } = trigger;
  const { operator, value } = threshold;
  const { measures } = policy.metrics[metric];
  const measure = policy.measureOf(trigger);
  const names = measures.map(({ name }) => name).join(', ');
  const units = new Set((measure === undefined ? measures : [measure]).map(({ unit }) => unit));
  const limit = [...at, 'threshold', 'value'];
  return [
    ...defectIf(
      operator === 'outside' && value <= 0,
      limit,
      'must be above 0: outside is a tolerance on both sides of 0',
    ),
    ...defectIf(
      measure === undefined,
      [...at, 'observed', 'name'],
      `is nothing that ${metric} measures: ${names}`,
    ),
    ...defectIf(
      !units.has(observed.unit),
      [...at, 'observed', 'unit'],
      `is no unit of ${measure?.name ?? metric}: ${[...units].join(', ')}`,
    ),
    // With any operator, some value breaches the threshold exactly if the least or the greatest does.
    ...defectIf(
      measure !== undefined &&
        ![measure.least, measure.greatest].some((extreme) => policy.isBreached(threshold, extreme)),
      limit,
      `cannot be reached: ${observed.name} is never ${operator} ${value}`,
    ),
  ];
}

function actionDefects(
  { targetModule, requestedAction }: policy.AnalysisTrigger,
  at: Path,
): readonly Defect[] {
  const taker = policy.actions[requestedAction].targetModule;
  const message = `is an action of ${taker}, not of ${targetModule}`;
  return defectIf(taker !== targetModule, [...at, 'requestedAction'], message);
}

/** Checks that the metric can show every reason and the action answers it [RP-197]. */
function reasonDefects(
  { metric, requestedAction, reasonCodes }: policy.AnalysisTrigger,
  path: Path,
): readonly Defect[] {
  return [
    ...repetitionDefects(reasonCodes, path),
    ...reasonCodes.flatMap((code, index) => {
      const fits = policy.reasons[code];
      return [
        ...defectIf(
          !fits.actions.includes(requestedAction),
          [...path, index],
          `is no reason for ${requestedAction}; it is one for ${fits.actions.join(', ')}`,
        ),
        ...defectIf(
          !fits.metrics.includes(metric),
          [...path, index],
          `cannot be seen in ${metric}; it can in ${fits.metrics.join(', ')}`,
        ),
      ];
    }),
  ];
}

/** Checks that an action's own subjects are required, and no subject that the metric's evidence never names or can lack [RP-194, RP-195]. */
function subjectDefects(trigger: policy.AnalysisTrigger, path: Path): readonly Defect[] {
  const { metric, threshold, requestedAction, requiredSubjects } = trigger;
  const measure = policy.measureOf(trigger);
  return [
    ...policy.actions[requestedAction].subjects.flatMap((subject) =>
      defectIf(!requiredSubjects.includes(subject), path, `lacks ${subject}, which ${requestedAction} needs`),
    ),
    ...repetitionDefects(requiredSubjects, path),
    ...requiredSubjects.flatMap((subject, index) => {
      if (!policy.metrics[metric].subjects.includes(subject))
        return defectIf(true, [...path, index], `is never named by ${metric}`);
      return defectIf(
        subject === 'caseGuids' && measure !== undefined && policy.canLackGuids(measure, threshold),
        [...path, index],
        `can be lacking where ${trigger.observed.name} trips: a requirement without a mapping has no CASE GUID`,
      );
    }),
  ];
}

/** Finds triggers that differ only in the threshold's value: they would ask twice for the same, since one always trips with the other. */
function duplicateDefects(triggers: readonly policy.AnalysisTrigger[]): readonly Defect[] {
  const asked = triggers.map(({ metric, observed, threshold, requestedAction }) =>
    JSON.stringify([metric, observed.name, threshold.operator, requestedAction]),
  );
  return asked.flatMap((key, index) => {
    const earlier = asked.indexOf(key);
    const message = `repeats trigger ${earlier}: the same measure, operator and action`;
    return defectIf(earlier < index, ['document', 'triggers', index], message);
  });
}
