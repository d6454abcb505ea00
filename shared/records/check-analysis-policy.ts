import * as z from 'zod';
import {
  actions,
  analysisPolicy,
  analysisTrigger,
  canLackGuids,
  isBreached,
  metrics,
  reasons,
} from '#shared/contract/reports/analysis-policy.ts';
import { sha256 } from '#shared/contract/reports/primitives.ts';
import { member, pointer } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import type { Result } from '#shared/kernel/result.ts';
import { aliasDefects, checkRecordFile, repetitionDefects } from './file-members.ts';
import { recordMembers } from './records.ts';

/** A released analysis policy. It stands here and not among the records that functions read, whose bundles would carry it. */
const analysisPolicyRecord = z.strictObject({ ...recordMembers, document: analysisPolicy });
export type AnalysisPolicyRecord = z.infer<typeof analysisPolicyRecord>;

/** An analysis policy's file: the record, in which the checksum may be left for the release to compute. */
const analysisPolicyFile = analysisPolicyRecord.extend({
  document: analysisPolicy.extend({ checksum: sha256.optional() }),
});

const members = analysisPolicy.shape;

/**
 * Checks an analysis policy before it becomes immutable and fills in its checksum (`checkRecordFile`). A trigger that could never make a valid
 * order is a defect [RP-193, RP-195].
 */
export function checkAnalysisPolicy(file: unknown): Result<AnalysisPolicyRecord, readonly Defect[]> {
  const triggers = partsOfTriggers(file);
  const form = { kind: 'analysis-policy', schema: analysisPolicyFile, members } as const;
  return checkRecordFile(file, form, () => [
    ...aliasDefects(member(file, ['document', 'version'], members.version), 'document', 'version'),
    ...triggers.flatMap((trigger) => [
      ...observationDefects(trigger),
      ...actionDefects(trigger),
      ...reasonDefects(trigger),
      ...subjectDefects(trigger),
    ]),
    ...duplicateDefects(triggers),
  ]);
}

/** The parts of one trigger that have the right form; the others are the schema's to report. */
type TriggerParts = ReturnType<typeof partsOfTriggers>[number];

function partsOfTriggers(file: unknown) {
  const { shape } = analysisTrigger;
  const triggers = member(file, ['document', 'triggers'], z.array(z.unknown())) ?? [];
  return triggers.map((trigger, index) => ({
    at: ['document', 'triggers', index],
    metric: member(trigger, ['metric'], shape.metric),
    observed: member(trigger, ['observed', 'name'], shape.observed.shape.name),
    unit: member(trigger, ['observed', 'unit'], shape.observed.shape.unit),
    threshold: member(trigger, ['threshold'], shape.threshold),
    targetModule: member(trigger, ['targetModule'], shape.targetModule),
    requestedAction: member(trigger, ['requestedAction'], shape.requestedAction),
    reasonCodes: entries(trigger, 'reasonCodes', shape.reasonCodes.element),
    requiredSubjects: entries(trigger, 'requiredSubjects', shape.requiredSubjects.element),
  }));
}

/** The entries of a trigger's list, undefined where the form is wrong; undefined when there is no list. */
function entries<S extends z.ZodType>(
  trigger: unknown,
  name: string,
  schema: S,
): readonly (z.output<S> | undefined)[] | undefined {
  return member(trigger, [name], z.array(z.unknown()))?.map((entry) => schema.safeParse(entry).data);
}

function defect(path: readonly (string | number)[], message: string): Defect {
  return { pointer: pointer(...path), message };
}

function measureOf({ metric, observed }: TriggerParts) {
  return metric && metrics[metric].measures.find(({ name }) => name === observed);
}

/** What is observed must be one of the metric's measures, in its unit, and able to reach the threshold. */
function observationDefects(trigger: TriggerParts): readonly Defect[] {
  const { at, metric, observed, unit, threshold } = trigger;
  const defects: Defect[] = [];
  if (threshold?.operator === 'outside' && threshold.value <= 0)
    defects.push(
      defect([...at, 'threshold', 'value'], 'must be above 0: outside is a tolerance on both sides of 0'),
    );
  if (metric === undefined) return defects;
  const { measures } = metrics[metric];
  const measure = measureOf(trigger);
  if (observed !== undefined && measure === undefined) {
    const names = measures.map(({ name }) => name).join(', ');
    defects.push(defect([...at, 'observed', 'name'], `is nothing that ${metric} measures: ${names}`));
  }
  const units = new Set((measure === undefined ? measures : [measure]).map((known) => known.unit));
  if (unit !== undefined && !units.has(unit))
    defects.push(
      defect(
        [...at, 'observed', 'unit'],
        `is no unit of ${measure?.name ?? metric}: ${[...units].join(', ')}`,
      ),
    );
  // Whatever the operator, some value trips the threshold exactly when the least or the greatest does.
  if (
    measure !== undefined &&
    threshold !== undefined &&
    ![measure.least, measure.greatest].some((value) => isBreached(threshold, value))
  ) {
    const { operator, value } = threshold;
    const message = `cannot be reached: ${measure.name} is never ${operator} ${value}`;
    defects.push(defect([...at, 'threshold', 'value'], message));
  }
  return defects;
}

function actionDefects({ at, targetModule, requestedAction }: TriggerParts): readonly Defect[] {
  if (requestedAction === undefined || targetModule === undefined) return [];
  const taker = actions[requestedAction].targetModule;
  if (taker === targetModule) return [];
  return [defect([...at, 'requestedAction'], `is an action of ${taker}, not of ${targetModule}`)];
}

/** Every reason must be one that the metric can show and the action answers [RP-197]. */
function reasonDefects({ at, metric, requestedAction, reasonCodes = [] }: TriggerParts): readonly Defect[] {
  const path = [...at, 'reasonCodes'];
  const defects = [...repetitionDefects(reasonCodes, path)];
  for (const [index, code] of reasonCodes.entries()) {
    if (code === undefined) continue;
    const fits = reasons[code];
    if (requestedAction !== undefined && !fits.actions.includes(requestedAction)) {
      const message = `is no reason for ${requestedAction}; it is one for ${fits.actions.join(', ')}`;
      defects.push(defect([...path, index], message));
    }
    if (metric !== undefined && !fits.metrics.includes(metric))
      defects.push(
        defect([...path, index], `cannot be seen in ${metric}; it can in ${fits.metrics.join(', ')}`),
      );
  }
  return defects;
}

/** An action's own subjects must be required, and nothing that the metric's evidence never names or can lack [RP-194, RP-195]. */
function subjectDefects(trigger: TriggerParts): readonly Defect[] {
  const { at, metric, threshold, requestedAction, requiredSubjects } = trigger;
  if (requiredSubjects === undefined) return [];
  const path = [...at, 'requiredSubjects'];
  const defects: Defect[] = [];
  for (const subject of requestedAction === undefined ? [] : actions[requestedAction].subjects)
    if (!requiredSubjects.includes(subject))
      defects.push(defect(path, `lacks ${subject}, which ${requestedAction ?? ''} needs`));
  defects.push(...repetitionDefects(requiredSubjects, path));
  if (metric === undefined) return defects;
  const measure = measureOf(trigger);
  for (const [index, subject] of requiredSubjects.entries()) {
    if (subject === undefined) continue;
    if (!metrics[metric].subjects.includes(subject))
      defects.push(defect([...path, index], `is never named by ${metric}`));
    else if (subject === 'caseGuids' && measure && threshold && canLackGuids(measure, threshold)) {
      const message = `can be lacking where ${measure.name} trips: a requirement without a mapping has no CASE GUID`;
      defects.push(defect([...path, index], message));
    }
  }
  return defects;
}

/** Two triggers that differ in nothing but the threshold's value would ask twice for the same: one always trips with the other. */
function duplicateDefects(triggers: readonly TriggerParts[]): readonly Defect[] {
  const first = new Map<string, number>();
  return triggers.flatMap(({ at, metric, observed, threshold, requestedAction }, index) => {
    const parts = [metric, observed, threshold?.operator, requestedAction];
    if (parts.includes(undefined)) return [];
    const key = JSON.stringify(parts);
    const earlier = first.get(key);
    if (earlier !== undefined)
      return [defect(at, `repeats trigger ${earlier}: the same measure, operator and action`)];
    first.set(key, index);
    return [];
  });
}
