import * as z from 'zod';
import { sha256 } from '#shared/contract/mastery/primitives.ts';
import {
  coverageFloor,
  eligibilityRules,
  MAX_RUN_ITEMS,
  selectionPolicy,
} from '#shared/contract/mastery/selection-policy.ts';
import { distinctDefects, member, pointer, schemaDefects } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { documentChecksum } from './checksum.ts';
import {
  checksumDefects,
  idDefects,
  lifecycleDefects,
  ownerDefects,
  repetitionDefects,
} from './file-members.ts';
import { policyGuidDefects } from './record-guids.ts';
import { policyRecord } from './records.ts';
import type { PolicyRecord } from './records.ts';

/** A policy file: the record, in which the checksum may be left for the release to compute. */
const policyFile = policyRecord.extend({
  document: selectionPolicy.extend({ checksum: sha256.optional() }),
});

const fields = selectionPolicy.shape;

/**
 * Checks a policy before it becomes immutable and fills in its checksum [MA-112, MA-113, MA-115].
 * Answers every defect at once, each with a JSON Pointer into the file, which must be I-JSON (`parseStrictJson`).
 */
export function checkPolicy(file: unknown): Result<PolicyRecord, readonly Defect[]> {
  const parsed = policyFile.safeParse(file);
  const tenantId = member(file, ['tenantId'], z.string().min(1));
  const maxItems = member(file, ['document', 'maxItems'], fields.maxItems);
  const floors = member(file, ['document', 'coverageFloors'], z.array(coverageFloor)) ?? [];
  const rules = member(file, ['document', 'eligibilityRules'], eligibilityRules) ?? {};
  const defects = distinctDefects([
    ...(parsed.success ? [] : schemaDefects(parsed.error)),
    ...ownerDefects(member(file, ['document', 'visibility'], fields.visibility), file),
    ...idDefects('policy', member(file, ['document', 'id'], fields.id), tenantId),
    ...confidenceDefects(member(file, ['document', 'confidenceThreshold'], fields.confidenceThreshold)),
    ...(maxItems !== undefined && maxItems > MAX_RUN_ITEMS
      ? [{ pointer: '/document/maxItems', message: `must be at most ${MAX_RUN_ITEMS}` }]
      : []),
    ...policyGuidDefects({ coverageFloors: floors, eligibilityRules: rules }),
    ...floorDefects(floors, maxItems),
    ...ruleDefects(rules, floors, maxItems),
    ...(parsed.success ? [...lifecycleDefects(parsed.data), ...checksumDefects(parsed.data.document)] : []),
  ]);
  if (!parsed.success || defects.length > 0) return err(defects);
  const { document } = parsed.data;
  return ok({ ...parsed.data, document: { ...document, checksum: documentChecksum(document) } });
}

/** At 0.5 or below, a component could be both mastered and a gap by the same posterior. */
function confidenceDefects(threshold: number | undefined): readonly Defect[] {
  return threshold !== undefined && threshold <= 0.5
    ? [{ pointer: '/document/confidenceThreshold', message: 'must be above 0.5' }]
    : [];
}

type Floors = readonly z.output<typeof coverageFloor>[];
type Rules = z.output<typeof eligibilityRules>;

function floorDefects(floors: Floors, maxItems: number | undefined): readonly Defect[] {
  return floors.flatMap((floor, index) =>
    maxItems !== undefined && floor.minimumEvidenceItems > maxItems
      ? [
          {
            pointer: pointer('document', 'coverageFloors', index, 'minimumEvidenceItems'),
            message: `cannot be reached with maxItems ${maxItems}`,
          },
        ]
      : [],
  );
}

function ruleDefects(rules: Rules, floors: Floors, maxItems: number | undefined): readonly Defect[] {
  const path = ['document', 'eligibilityRules'];
  return [
    ...repetitionDefects(rules.requiredAccessibility ?? [], [...path, 'requiredAccessibility']),
    ...repetitionDefects(rules.excludedItems ?? [], [...path, 'excludedItems']),
    ...(rules.enemySets ?? []).flatMap((set, index) => repetitionDefects(set, [...path, 'enemySets', index])),
    ...repetitionDefects(
      (rules.enemySets ?? []).map((set) => JSON.stringify([...set].sort())),
      [...path, 'enemySets'],
    ),
    ...Object.entries(rules.contentConstraints ?? {}).flatMap(([guid, range]) =>
      constraintDefects([...path, 'contentConstraints', guid], guid, range, floors, maxItems),
    ),
    ...(rules.kcScope ?? []).flatMap((guid) =>
      rules.contentConstraints?.[guid]?.maxItems === 0
        ? [
            {
              pointer: pointer(...path, 'contentConstraints', guid, 'maxItems'),
              message: 'bars every item of a component of kcScope, which then can never be classified',
            },
          ]
        : [],
    ),
  ];
}

function constraintDefects(
  path: readonly string[],
  guid: string,
  range: { readonly minItems?: number | undefined; readonly maxItems?: number | undefined },
  floors: Floors,
  maxItems: number | undefined,
): readonly Defect[] {
  const defects: Defect[] = [];
  const { minItems, maxItems: most } = range;
  if (minItems === undefined && most === undefined) {
    defects.push({
      pointer: pointer(...path),
      message: 'constrains nothing: state minItems, maxItems or both',
    });
  }
  if (minItems !== undefined && most !== undefined && minItems > most) {
    defects.push({
      pointer: pointer(...path, 'minItems'),
      message: 'is greater than maxItems of the same GUID',
    });
  }
  if (minItems !== undefined && maxItems !== undefined && minItems > maxItems) {
    defects.push({
      pointer: pointer(...path, 'minItems'),
      message: `cannot be reached with the policy's maxItems ${maxItems}`,
    });
  }
  const floor = floors.find((candidate) => candidate.caseCompetencyGuid === guid);
  if (floor !== undefined && most !== undefined && floor.minimumEvidenceItems > most) {
    defects.push({
      pointer: pointer(...path, 'maxItems'),
      message: 'is lower than the coverage floor of the same GUID',
    });
  }
  return defects;
}
