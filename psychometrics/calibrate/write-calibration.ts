import * as z from 'zod';
import { checkModel } from '#functions/mastery/records/check-model.ts';
import { identifier } from '#shared/contract/mastery/primitives.ts';
import { anchor, scaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { distinctDefects, pointer, schemaDefects, type Defect } from '#shared/kernel/defect.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { CANONICAL_GUID } from '#shared/kernel/guid.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { checkCalibration } from '#shared/records/check-calibration.ts';
import { modelOf } from '#shared/records/models.ts';
import { claimsRank } from '#shared/records/rank-claims.ts';
import { inGuidOrder } from '#shared/records/record-guids.ts';
import { INSISTED, type CalibrationParameters, type CalibrationRecord } from '#shared/records/records.ts';
import type { Calibration } from './calibrate.ts';
import { verdictOf, type Condition } from './conditions.ts';
import { theta } from './model.ts';
import { recordedPrior, type CarriedBlock } from './structure/carried.ts';

const document = scaleCalibration.shape;
const name = z.string().min(1);

/** Metadata of a calibration: all optional, keyed by the names of the two tables. */
const metaFile = z.strictObject({
  tenantId: name.optional(),
  document: z
    .strictObject({
      id: document.id,
      scaleId: document.scaleId,
      visibility: document.visibility,
      numericPrecision: document.numericPrecision,
      caseFrameworkGuid: document.caseFrameworkGuid,
      caseMappingVersion: document.caseMappingVersion,
      subject: document.subject,
      gradeCoverage: document.gradeCoverage,
      validFrom: document.validFrom,
      validUntil: document.validUntil,
      anchor,
      recoveryTolerance: document.recoveryTolerance,
      limitations: document.limitations,
    })
    .partial()
    .optional(),
  scale: z.strictObject({ base: z.number(), perTheta: z.number().positive() }).optional(),
  kcs: z
    .record(
      name,
      z.strictObject({ guid: identifier.optional(), uri: z.url().optional(), label: name.optional() }),
    )
    .optional(),
  items: z
    .record(
      name,
      z.strictObject({
        artifactVersionId: name.optional(),
        qtiIdentifier: name.optional(),
        accessibility: z.array(name).optional(),
        stem: name.optional(),
      }),
    )
    .optional(),
});
export type Meta = z.output<typeof metaFile>;

/** Checks a metadata file against the study: returns each defect with a JSON Pointer into the file. */
export function readMeta(
  value: unknown,
  study: { readonly items: readonly string[]; readonly kcs: readonly string[] },
): Result<Meta, readonly Defect[]> {
  const parsed = metaFile.safeParse(value);
  if (!parsed.success) return err(schemaDefects(parsed.error, value));
  const unknown = (['kcs', 'items'] as const).flatMap((member) =>
    Object.keys(parsed.data[member] ?? {})
      .filter((key) => !study[member].includes(key))
      .map((key) => ({
        pointer: pointer(member, key),
        message:
          member === 'kcs'
            ? 'is not a knowledge component of the Q-matrix'
            : 'is not an item of the Q-matrix',
      })),
  );
  const defects = [...unknown, ...guidsOf(parsed.data).flatMap(guidDefect)];
  return defects.length > 0 ? err(defects) : ok(parsed.data);
}

interface GivenGuid {
  readonly path: readonly string[];
  readonly guid: string;
}

/** Lists the GUIDs of a metadata file with their paths in it. */
function guidsOf({ document: described, kcs = {} }: Meta): readonly GivenGuid[] {
  const framework = described?.caseFrameworkGuid;
  return [
    ...(framework === undefined ? [] : [{ path: ['document', 'caseFrameworkGuid'], guid: framework }]),
    ...Object.entries(kcs).flatMap(([kc, { guid }]) =>
      guid === undefined ? [] : [{ path: ['kcs', kc, 'guid'], guid }],
    ),
  ];
}

/** Returns what is wrong with the form of a GUID, and its right form if only that differs. */
function guidDefect({ path, guid }: GivenGuid): readonly Defect[] {
  if (CANONICAL_GUID.test(guid)) return [];
  const form = guid.replaceAll(/^\s*(?:urn:uuid:|\{)?|\}?\s*$/gi, '').toLowerCase();
  const message = CANONICAL_GUID.test(form)
    ? `"${guid}" must be written as "${form}"`
    : `"${guid}" is no UUID in lower case, as in "d23f0824-128b-4f33-8c5c-7fd0a6a3a450"`;
  return [{ pointer: pointer(...path), message }];
}

export interface CalibrationFile {
  readonly record: CalibrationRecord;
  /** JSON Pointers of the members that the metadata did not supply: placeholders, for local use only. */
  readonly placeholders: readonly string[];
}

/** One scale point a hundredth of a standard deviation of theta, as in seeds. */
const DEFAULT_SCALE = { base: 500, perTheta: 100 };

/**
 * Returns the calibration in the form that `npm run release -- calibration` takes, checked by the same code. Members that the metadata do not supply
 * get a placeholder derived from `name`, so that the same input gives the same bytes. Defects are those that metadata can cause; their pointers are into
 * the metadata file.
 */
export function calibrationFile(
  calibration: Calibration,
  { name: studyName, meta }: { readonly name: string; readonly meta: Meta },
): Result<CalibrationFile, readonly Defect[]> {
  const { study, design } = calibration;
  const placeholders: string[] = [];
  const given = <T>(value: T | undefined, place: readonly PropertyKey[], otherwise: T): T => {
    if (value !== undefined) return value;
    placeholders.push(pointer(...place));
    return otherwise;
  };
  const known = meta.document ?? {};
  const scale = meta.scale ?? DEFAULT_SCALE;
  const guids = study.kcs.map(
    (kc) => meta.kcs?.[kc]?.guid ?? deterministicUuid('calibrate-kc', studyName, kc),
  );
  // Pointers of placeholders are into the file, where components are sorted by GUID.
  const { learners } = study.responses;
  const prior = recordedPrior(design, calibration.parameters, guids, carriedBy(calibration), learners);
  const curveOf = (k: number): { readonly slope?: number; readonly location?: number } => {
    const { slope, location } = prior.kcs[k] ?? {};
    return slope === undefined || location === undefined ? {} : { slope, location };
  };
  const kcs = study.kcs
    .map((kc, k) => ({ own: meta.kcs?.[kc], guid: guids[k] ?? '', k }))
    .sort((a, b) => (a.guid < b.guid ? -1 : 1));
  const parameters = inGuidOrder({
    theta: { ...theta },
    kcs: kcs.map(({ own, guid, k }, place) => ({
      guid: given(own?.guid, ['parameters', 'kcs', place, 'guid'], guid),
      uri: given(
        own?.uri,
        ['parameters', 'kcs', place, 'uri'],
        `https://case.example/ims/case/v1p1/CFItems/${encodeURIComponent(guid)}`,
      ),
      ...curveOf(k),
    })),
    ...(prior.blocks === undefined
      ? {}
      : // Every carried block has its support, which records require.
        { blocks: structuredClone(prior.blocks) as CalibrationParameters['blocks'] & object }),
    items: study.items.map((item, j) => {
      const own = meta.items?.[item];
      return {
        artifactVersionId: given(
          own?.artifactVersionId,
          ['parameters', 'items', j, 'artifactVersionId'],
          `${item}@1`,
        ),
        qtiIdentifier: given(own?.qtiIdentifier, ['parameters', 'items', j, 'qtiIdentifier'], item),
        kcs: (study.kcsOf[j] ?? []).map((k) => guids[k] ?? ''),
        probabilities: [...(calibration.parameters.tables[j] ?? [])],
        ...(own?.accessibility === undefined ? {} : { accessibility: own.accessibility }),
      };
    }),
    scale: Array.from(design.points, (point) => Number((scale.base + scale.perTheta * point).toFixed(6))),
    reliabilityCeiling: Number((calibration.reliabilityCeiling ?? 0).toFixed(6)),
  });
  const doc = (member: string): readonly string[] => ['document', member];
  const limitations = [
    ...given(known.limitations, doc('limitations'), [
      `Fitted to ${study.responses.learners} learners; the scale is not linked to any other.`,
    ]),
    ...limitationsOf(calibration.conditions),
  ];
  const pins = modelOf(prior);
  const described = {
    scaleId: given(known.scaleId, doc('scaleId'), `${studyName}-scale`),
    visibility: known.visibility ?? (meta.tenantId === undefined ? 'system' : 'tenant'),
    modelFamily: pins.modelFamily,
    modelVersion: pins.modelVersion,
    numericPrecision: known.numericPrecision ?? 12,
    runtimeVersion: pins.runtimeVersion,
    caseFrameworkGuid: given(
      known.caseFrameworkGuid,
      doc('caseFrameworkGuid'),
      deterministicUuid('calibrate-framework', studyName),
    ),
    caseMappingVersion: given(known.caseMappingVersion, doc('caseMappingVersion'), 'mapping-1'),
    subject: given(known.subject, doc('subject'), 'general'),
    gradeCoverage: given(known.gradeCoverage, doc('gradeCoverage'), ['Other']),
    validFrom: given(known.validFrom, doc('validFrom'), '2026-01-01T00:00:00.000Z'),
    validUntil: given(known.validUntil, doc('validUntil'), '2036-01-01T00:00:00.000Z'),
    anchor: given(known.anchor, doc('anchor'), {
      source: 'unanchored',
      version: '0',
      checksum: hashCanonical(null),
      licenseScope: 'local development only',
    }),
    recoveryTolerance: given(known.recoveryTolerance, doc('recoveryTolerance'), 100),
    limitations:
      placeholders.length === 0
        ? limitations
        : [...limitations, 'Contains placeholders of the calibrate command: not for use with learners.'],
  };
  // The id derives from the content: another fit is another version.
  const id =
    known.id ??
    `${studyName}-${calibration.options.model}-${hashCanonical({ described, parameters }).slice(0, 12)}`;
  const checked = checkCalibration(
    {
      ...(meta.tenantId === undefined ? {} : { tenantId: meta.tenantId }),
      document: { id, ...described },
      parameters: withSupport(parameters),
    },
    checkModel,
  );
  if (checked.ok) {
    const { blocks } = parameters;
    const own = { ...checked.value.parameters, ...(blocks === undefined ? {} : { blocks }) };
    const record = { ...checked.value, parameters: own, parametersHash: hashCanonical(own) };
    return ok({ record, placeholders });
  }
  const kcNames = kcs.map(({ k }) => study.kcs[k] ?? '');
  const byGuid = new Map(kcs.map(({ guid }, place) => [guid, kcNames[place] ?? '']));
  const kcsOf = parameters.items.map((item) => item.kcs.map((guid) => byGuid.get(guid) ?? ''));
  return err(
    distinctDefects(
      checked.error.map((defect) => ({
        ...defect,
        pointer: metaPointer(defect.pointer, { kcs: kcNames, items: study.items, kcsOf }),
      })),
    ),
  );
}

/**
 * Returns the parameters with a support that the release accepts: a calibration with prerequisites that the answers do not show is written if the caller
 * insists, and the release refuses it for no other reason.
 */
function withSupport(parameters: CalibrationParameters): CalibrationParameters {
  if (parameters.blocks === undefined) return parameters;
  const blocks = parameters.blocks.map((block) =>
    'support' in block ? { ...block, support: { ...block.support, bicGain: 1 } } : block,
  );
  return { ...parameters, blocks };
}

/** Returns the place in the metadata file that supplies a place of the record. @param names in the order of the record */
function metaPointer(
  place: string,
  names: {
    readonly kcs: readonly string[];
    readonly items: readonly string[];
    readonly kcsOf: readonly (readonly string[])[];
  },
): string {
  const [, member, first, rest = ''] = /^\/parameters\/(kcs|items)\/(\d+)(\/.*)?$/.exec(place) ?? [];
  if (member === 'kcs') return pointer('kcs', names.kcs[Number(first)] ?? '') + rest;
  if (member === 'items') {
    const [, kc] = /^\/kcs\/(\d+)$/.exec(rest) ?? [];
    if (kc !== undefined) return pointer('kcs', names.kcsOf[Number(first)]?.[Number(kc)] ?? '', 'guid');
    return pointer('items', names.items[Number(first)] ?? '') + rest;
  }
  return place.replace(/^\/parameters\/scale\b.*/, '/scale');
}

/**
 * Returns the limitations that the conditions of a fit put on its calibration. Coarse scores are not among them: `reliabilityCeiling` states them, and
 * every run adds its own sentence. If the name of an item makes a sentence read like a claim about ranks, which no calibration may contain, the
 * limitation gives only the code.
 */
function limitationsOf(conditions: readonly Condition[]): string[] {
  const { level, conditions: sorted } = verdictOf(conditions);
  const sentences = sorted
    .filter(({ code }) => code !== 'coarse_scores')
    .map(({ code, sentence }) =>
      claimsRank(sentence) ? `Meets the condition ${code} (docs/calibrate.md).` : sentence,
    );
  return level === 'not_releasable' ? [INSISTED, ...sentences] : sentences;
}

/** Returns the blocks that the calibration carries. */
function carriedBy({ structure }: Calibration): readonly CarriedBlock[] {
  return typeof structure === 'string' ? [] : structure.carried;
}

/** Returns `parameters.json` of a study, as `npm run seed -- from-responses` reads it (docs/seeds.md). */
export function parametersFile(
  calibration: Calibration,
  studyName: string,
  meta: Meta,
): Record<string, unknown> {
  const { study, options, criteria, parameters, design } = calibration;
  const { learners } = study.responses;
  const prior = recordedPrior(design, parameters, study.kcs, carriedBy(calibration), learners);
  return {
    name: studyName,
    model: options.model,
    ...(meta.document?.subject === undefined ? {} : { subject: meta.document.subject }),
    ...(meta.document?.gradeCoverage === undefined ? {} : { grades: meta.document.gradeCoverage }),
    theta: { ...theta },
    kcs: prior.kcs.map(({ guid: kc, ...curve }) => ({
      kc,
      ...curve,
      ...(meta.kcs?.[kc]?.label === undefined ? {} : { label: meta.kcs[kc].label }),
    })),
    ...(prior.blocks === undefined ? {} : { blocks: prior.blocks }),
    items: study.items.map((item, j) => ({
      item,
      kcs: (study.kcsOf[j] ?? []).map((k) => study.kcs[k] ?? ''),
      ...tableMembers(calibration, j),
      ...(meta.items?.[item]?.stem === undefined ? {} : { stem: meta.items[item].stem }),
    })),
    link: 'P(KC mastered | theta) = 1 / (1 + exp(-slope * (theta - location)))',
    fit: `${options.model === 'dina' ? 'higher-order DINA' : 'higher-order G-DINA'} by EM, ${study.responses.learners} learners, log-likelihood ${criteria.logLikelihood.toFixed(3)}`,
  };
}

/** Returns guess and slip of a DINA item; its table if both probabilities are equal, which a guess below 1 - slip cannot express. */
function tableMembers({ options, parameters }: Calibration, item: number): Record<string, unknown> {
  const table = [...(parameters.tables[item] ?? [])];
  const guess = table[0] ?? 0;
  const slip = Number((1 - (table.at(-1) ?? 0)).toFixed(10));
  return options.model === 'dina' && guess < 1 - slip ? { guess, slip } : { probabilities: table };
}
