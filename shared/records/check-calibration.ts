import { sha256 } from '#shared/contract/mastery/primitives.ts';
import { scaleCalibration, type ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { defectIf, type Defect } from '#shared/kernel/defect.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import { aliasDefects, checkRecordFile, digestDefects, instant, repetitionDefects } from './file-members.ts';
import { supportedModels, supportsModel } from './models.ts';
import { claimsRank } from './rank-claims.ts';
import { frameworkGuidDefects, parameterGuidDefects } from './record-guids.ts';
import { calibrationRecord, type CalibrationParameters, type CalibrationRecord } from './records.ts';

/** A calibration file: the record, in which the release may compute both digests. */
const calibrationFile = calibrationRecord.extend({
  document: scaleCalibration.extend({ checksum: sha256.optional() }),
  parametersHash: sha256.optional(),
});

type Calibration = Omit<ScaleCalibration, 'checksum'>;

/** Returns the defects of parameters that only the engine can find; pointers are relative to `parameters`. Empty if the model compiles. */
export type ModelCheck = (parameters: CalibrationParameters, runtimeVersion: string) => readonly Defect[];

/** Checks a calibration before it becomes immutable and fills in its digests (`checkRecordFile`) [MA-101, MA-102, MA-117..MA-122]. */
export function checkCalibration(
  file: unknown,
  checkModel: ModelCheck,
): Result<CalibrationRecord, readonly Defect[]> {
  const checked = checkRecordFile(file, 'calibration', calibrationFile, ({ document, ...hidden }) => [
    ...pinDefects(document),
    ...defectIf(
      instant(document.validUntil) <= instant(document.validFrom),
      ['document', 'validUntil'],
      'must be later than validFrom',
    ),
    ...gradeDefects(document.gradeCoverage),
    ...claimDefects(document),
    ...frameworkGuidDefects(document.caseFrameworkGuid),
    ...parameterDefects(hidden.parameters, (parameters) =>
      // A runtime that this build does not contain is a defect of the pins already.
      supportsModel(document) ? checkModel(parameters, document.runtimeVersion) : [],
    ),
    ...digestDefects(
      hidden.parametersHash,
      hashCanonical(hidden.parameters),
      ['parametersHash'],
      "parameters' hash",
    ),
  ]);
  if (!checked.ok) return checked;
  return ok({ ...checked.value, parametersHash: hashCanonical(checked.value.parameters) });
}

/** Checks the versions that the calibration pins: none may move, and this build must contain model and runtime. */
function pinDefects(document: Calibration): readonly Defect[] {
  const known = supportedModels.map((model) => Object.values(model).join(', ')).join('; ');
  return [
    ...aliasDefects(document.scaleId, 'document', 'scaleId'),
    ...aliasDefects(document.caseMappingVersion, 'document', 'caseMappingVersion'),
    ...aliasDefects(document.anchor.version, 'document', 'anchor', 'version'),
    ...defectIf(
      !supportsModel(document),
      ['document', 'runtimeVersion'],
      `with this modelFamily and modelVersion is not supported; supported: ${known}`,
    ),
  ];
}

/** Grade levels of the CEDS code list in their order; other labels keep the order that the file gives them. */
const GRADES = 'IT PR PK TK KG 01 02 03 04 05 06 07 08 09 10 11 12 13 PS ABE ASE AdultESL UG Other'.split(
  ' ',
);

function gradeDefects(grades: readonly string[]): readonly Defect[] {
  const path = ['document', 'gradeCoverage'];
  const ranks = grades.map((grade) => GRADES.indexOf(grade));
  const disordered = ranks.flatMap((rank, index) => {
    const before = ranks[index - 1];
    return defectIf(
      before !== undefined && before >= 0 && rank >= 0 && rank < before,
      [...path, index],
      'is not in order: sort grades from the lowest to the highest',
    );
  });
  return [...repetitionDefects(grades, path), ...disordered];
}

/** Checks that a calibration claims nothing about a learner's place among others, in any of the texts that people read [MA-102]. */
function claimDefects({
  limitations,
  scaleId,
  subject,
  gradeCoverage,
  anchor,
}: Calibration): readonly Defect[] {
  const texts: readonly (readonly [string, ...(readonly PropertyKey[])])[] = [
    ...limitations.map((text, index) => [text, 'limitations', index] as const),
    ...gradeCoverage.map((text, index) => [text, 'gradeCoverage', index] as const),
    [scaleId, 'scaleId'],
    [subject, 'subject'],
    [anchor.licenseScope, 'anchor', 'licenseScope'],
  ];
  return texts.flatMap(([text, ...path]) =>
    defectIf(
      claimsRank(text),
      ['document', ...path],
      'claims a percentile or a rank, which no calibration may',
    ),
  );
}

/** Returns the defects that the model compiler does not check, then those that it finds. */
function parameterDefects(
  parameters: CalibrationParameters,
  checkModel: (parameters: CalibrationParameters) => readonly Defect[],
): readonly Defect[] {
  const { kcs, items, blocks = [] } = parameters;
  const uris = repetitionDefects(
    kcs.map((kc) => kc.uri),
    ['parameters', 'kcs'],
  );
  const tags = items.flatMap((item, index) =>
    repetitionDefects(item.accessibility ?? [], ['parameters', 'items', index, 'accessibility']),
  );
  const model = checkModel(parameters).map((defect) => ({
    pointer: `/parameters${defect.pointer}`,
    message: defect.message,
  }));
  return [
    ...uris.map((defect) => ({ pointer: `${defect.pointer}/uri`, message: defect.message })),
    ...tags,
    ...blocks.flatMap((block, index) =>
      defectIf(
        'support' in block && !(block.support.bicGain > 0),
        ['parameters', 'blocks', index, 'support', 'bicGain'],
        `must be greater than 0: the answers of the fit do not support this ${block.form}; give its KCs independent curves`,
      ),
    ),
    ...parameterGuidDefects(parameters),
    ...model,
  ];
}
