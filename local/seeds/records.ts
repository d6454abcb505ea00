import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import type { AnalysisPolicyRecord } from '#shared/records/check-analysis-policy.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { inGuidOrder } from '#shared/records/record-guids.ts';
import type { CalibrationParameters, CalibrationRecord, PolicyRecord } from '#shared/records/records.ts';
import type { PolicyFile } from './bank-files.ts';
import { opaque, type BankIds } from './ids.ts';
import { caseUri } from './owners/case.ts';
import type { SeedBank } from './seed.ts';
import { defined, type Tenant, type TenantBank } from './tenant.ts';

/** What the release process has put into the records table. */
export interface SeedRecords {
  /** One for each bank of `seed.json`, then the further ones in the same order. */
  readonly policies: readonly PolicyRecord[];
  /** One for each folder. */
  readonly calibrations: readonly CalibrationRecord[];
  readonly analysisPolicy: AnalysisPolicyRecord;
}

export function recordsOf(tenant: Tenant): SeedRecords {
  const { seed, tenantId, banks } = tenant;
  const { name, version, triggers } = seed.analysisPolicy;
  return {
    policies: [
      ...seed.banks.map((bank) => policyRecord(tenant, bank, bank.policy)),
      ...seed.banks.flatMap((bank) => bank.alsoReleased.map((policy) => policyRecord(tenant, bank, policy))),
    ],
    calibrations: banks.map((bank) => calibrationRecord(tenantId, bank)),
    analysisPolicy: sealed<AnalysisPolicy>(tenantId, {
      id: opaque(`analysis-policy-${name}`, tenantId, hashCanonical(seed.analysisPolicy)),
      version,
      visibility: 'tenant',
      formulaVersion: 'alignment-v1',
      triggers,
    }),
  };
}

/** Returns a tenant's document with its checksum. */
function sealed<T extends { readonly checksum: string }>(tenantId: string, document: Omit<T, 'checksum'>) {
  // SAFETY: the one member that was left out is added.
  return { tenantId, document: { ...document, checksum: documentChecksum(document) } as unknown as T };
}

function policyRecord({ tenantId, banks }: Tenant, bank: SeedBank, policy: PolicyFile): PolicyRecord {
  const { directory } = bank;
  const { ids } = defined(banks.find((one) => one.directory === directory));
  const { coverageFloors, eligibilityRules, ...limits } = policy;
  return sealed<SelectionPolicy>(tenantId, {
    id: opaque(`policy-${bank.name}`, tenantId, hashCanonical({ directory, policy })),
    visibility: 'tenant',
    algorithm: 'constrained_information_gain',
    ...limits,
    coverageFloors: coverageFloors
      .map(({ minimumEvidenceItems, ...floor }) => ({
        caseCompetencyGuid: guidOf(floor, ids),
        minimumEvidenceItems,
      }))
      .sort((a, b) => (a.caseCompetencyGuid < b.caseCompetencyGuid ? -1 : 1)),
    eligibilityRules: rulesOf(eligibilityRules, ids),
  });
}

function guidOf(
  competency: { readonly kc?: string | undefined; readonly standard?: string | undefined },
  ids: BankIds,
): string {
  return competency.kc === undefined ? ids.standard(competency.standard ?? '') : ids.kc(competency.kc);
}

/** Absent rules stay absent: the checksum is over the members of the policy. */
function rulesOf(rules: PolicyFile['eligibilityRules'], ids: BankIds): SelectionPolicy['eligibilityRules'] {
  const { kcScope, contentConstraints, enemySets, excludedItems, ...kept } = rules;
  const named = {
    kcScope: kcScope?.map(ids.kc).sort(),
    contentConstraints:
      contentConstraints &&
      Object.fromEntries(
        contentConstraints.map(({ kc, standard, ...limits }) => [guidOf({ kc, standard }, ids), limits]),
      ),
    enemySets: enemySets?.map((set) => set.map(ids.item)),
    excludedItems: excludedItems?.map(ids.item),
  };
  return {
    ...kept,
    ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
  };
}

function calibrationRecord(tenantId: string, tenantBank: TenantBank): CalibrationRecord {
  const { content, directory, spec } = tenantBank;
  const { bank, calibration } = content;
  const parameters = parametersOf(tenantBank);
  return {
    ...sealed<ScaleCalibration>(tenantId, {
      id: opaque(`calibration-${directory}`, tenantId, hashCanonical({ bank, calibration, parameters })),
      scaleId: opaque(`scale-${calibration.scale.name}`, tenantId, directory),
      visibility: 'tenant',
      ...(parameters.blocks === undefined
        ? { modelFamily: 'ho-cdm-grid', modelVersion: 'ho-cdm-grid/1' }
        : { modelFamily: 'ho-cdm-block', modelVersion: 'ho-cdm-block/1' }),
      numericPrecision: calibration.numericPrecision,
      runtimeVersion: parameters.blocks === undefined ? 'ho-cdm-grid-1' : 'ho-cdm-block-1',
      caseFrameworkGuid: spec.framework.guid,
      caseMappingVersion: opaque(calibration.mappingVersion, tenantId, directory),
      subject: bank.subject,
      gradeCoverage: bank.grades,
      validFrom: calibration.validFrom,
      validUntil: calibration.validUntil,
      anchor: anchorOf(tenantId, tenantBank),
      recoveryTolerance: calibration.recoveryTolerance,
      limitations: calibration.limitations,
    }),
    parametersHash: hashCanonical(parameters),
    parameters,
  };
}

/** Returns the anchor of a bank's scale. All anchors of a tenant are in one version of its anchor table. */
export function anchorOf(tenantId: string, { content, directory }: TenantBank): ScaleCalibration['anchor'] {
  const { anchor } = content.calibration;
  const source = opaque(anchor.source, tenantId, directory);
  const version = opaque(`r90-${anchor.version}`, tenantId, 'anchor-table');
  return { source, version, checksum: hashCanonical({ source, version }), licenseScope: anchor.licenseScope };
}

function parametersOf({ content, ids, members }: TenantBank): CalibrationParameters {
  const { calibration } = content;
  const calibrated = new Map(calibration.items.map((item) => [item.item, item]));
  const { theta, scale, maximumReportableError, reliabilityCeiling } = calibration;
  return inGuidOrder({
    theta,
    kcs: calibration.kcs.map(({ kc, ...curve }) => ({
      guid: ids.kc(kc),
      uri: caseUri(ids.kc(kc)),
      ...curve,
    })),
    ...(calibration.blocks === undefined
      ? {}
      : {
          blocks: calibration.blocks.map((block) => ({
            ...block,
            kcs: block.kcs.map(ids.kc),
            ...('prerequisites' in block
              ? { prerequisites: block.prerequisites.map((own) => own.map(ids.kc)) }
              : {}),
          })),
        }),
    items: members.map(({ item, member }) => {
      const fitted = defined(calibrated.get(item.name));
      return {
        artifactVersionId: member.artifactVersionId,
        qtiIdentifier: member.qtiIdentifier,
        kcs: item.kcs.map(ids.kc),
        probabilities:
          'probabilities' in fitted
            ? fitted.probabilities
            : dinaTable(item.kcs.length, fitted.guess, fitted.slip),
        ...(item.accessibility.length === 0 ? {} : { accessibility: item.accessibility }),
      };
    }),
    scale:
      'values' in scale
        ? scale.values
        : Array.from({ length: theta.nodes }, (_, node) => {
            const at = theta.min + (node * (theta.max - theta.min)) / (theta.nodes - 1);
            return Number((scale.base + scale.perTheta * at).toFixed(6));
          }),
    ...(maximumReportableError === undefined ? {} : { maximumReportableError }),
    ...(reliabilityCeiling === undefined ? {} : { reliabilityCeiling }),
  });
}

/** DINA: all components mastered gives 1 - slip, anything less the guess. */
function dinaTable(size: number, guess: number, slip: number): number[] {
  return [...Array.from({ length: 2 ** size - 1 }, () => guess), Number((1 - slip).toFixed(12))];
}
