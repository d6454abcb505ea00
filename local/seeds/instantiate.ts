import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { ManifestMember } from '#shared/platform/owners/bank.ts';
import type { AnchorTable } from '#shared/platform/owners/extmap.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';
import type { AnalysisPolicyRecord } from '#shared/records/check-analysis-policy.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { inGuidOrder } from '#shared/records/record-guids.ts';
import type { CalibrationParameters, CalibrationRecord, PolicyRecord } from '#shared/records/records.ts';
import type { ReportsSeed, TenantSeed } from '#local/platform/tenant-state.ts';
import { caseUri, cfItemsOf, cfPackageOf } from './case-framework.ts';
import { opaque } from './ids.ts';
import { reportsFixtures } from './reports/fixtures.ts';
import type { ReportsFixtures } from './reports/fixtures.ts';
import { instantiateReports } from './reports/instantiate.ts';
import { reportIds } from './reports/tenant-file.ts';
import type {
  AnalysisPolicyFile,
  BankContent,
  BankFile,
  CalibrationFile,
  PolicyFile,
  Seed,
  SeedBank,
} from './seed.ts';
import { localTenant } from './tenants.ts';

/** One bank of a tenant, with the ids that a client needs to start a run. */
export type BankFixture = {
  readonly name: string;
  readonly testSpecId: string;
  readonly testBankId: string;
  readonly bankOperationId: string;
  readonly selectionPolicyId: string;
  readonly scaleCalibrationId: string;
  /** How many items and knowledge components the bank has. */
  readonly items: number;
  readonly kcs: number;
  readonly kcGuids: string[];
};

/** What `.local/stack.json` names for one tenant. */
export type TenantFixtures = {
  readonly mastery: { readonly banks: BankFixture[]; readonly resultsStudentId: string };
  readonly reports: ReportsFixtures & {
    /** The released thresholds of improvement runs. */
    readonly analysisPolicyId: string;
  };
};

/** One tenant's share of a seed. */
export interface SeededTenant {
  readonly tenantId: string;
  /** What the platform's owners hold. */
  readonly platform: TenantSeed;
  /** What the release process has put into the records table: the policies of the banks in their order, then the further ones. */
  readonly policies: readonly PolicyRecord[];
  readonly calibrations: readonly CalibrationRecord[];
  readonly analysisPolicy: AnalysisPolicyRecord;
  readonly fixtures: TenantFixtures;
  /** Item names of the seed by artifact version id, to look up a learner's answer to an offered item. */
  readonly itemNames: Readonly<Record<string, string>>;
}

/**
 * Gives a seed the ids of one tenant. The same seed and tenant give the same result; no id of one tenant occurs in another. Ids of
 * immutable versions follow from the content too: an edited file is another version, never the old one with other content.
 */
export function instantiateSeed(seed: Seed, tenantId: string): SeededTenant {
  const tenant = localTenant(tenantId);
  const banks = new Map<string, InstantiatedBank>();
  for (const bank of seed.banks) {
    if (!banks.has(bank.directory))
      banks.set(bank.directory, instantiateBank(bank, bank.directory, tenantId));
  }
  const all = [...banks.values()];
  const released = seed.banks.map((bank) => {
    const instance = banks.get(bank.directory);
    if (instance === undefined) throw new Error('every bank has been instantiated');
    const recordOf = (policy: PolicyFile): PolicyRecord => policyRecord(bank, policy, instance.ids, tenantId);
    return { bank, instance, policy: recordOf(bank.policy), others: bank.alsoReleased.map(recordOf) };
  });
  const policies = [...released.map(({ policy }) => policy), ...released.flatMap(({ others }) => others)];
  const [resultsStudentId = ''] = tenant.students;
  const { caseItems, ...reports } = instantiateReports(seed.reports, tenantId);
  const ids = reportIds(seed.reports, tenantId);
  const analysisPolicy = analysisPolicyRecord(seed.analysisPolicy, tenantId);
  return {
    tenantId,
    platform: {
      tenantId,
      credentials: tenant.credentials,
      students: [...tenant.students, ...seed.reports.students.map(({ name }) => ids.student(name))],
      blueprints: all.map((bank) => bank.blueprint),
      bankMembers: all.map((bank) => bank.bankMembers),
      manifests: all.map((bank) => bank.manifest),
      artifacts: all.flatMap((bank) => bank.artifacts),
      caseItems: [...all.flatMap((bank) => cfItemsOf(bank.framework)), ...caseItems],
      anchorTable: {
        tenantId,
        tableVersion: anchorTableVersion(tenantId, seed.banks.at(0)?.calibration.anchor.version ?? ''),
        sourcePoints: all.map((bank) => bank.sourcePoint),
      },
      reports: {
        ...reports,
        users: [
          ...tenant.students.map((sourcedId) => ({ user: { sourcedId, status: 'active' as const } })),
          ...reports.users,
        ],
        criteria: [...all.map((bank) => bank.report.criteria), ...reports.criteria],
        crosswalks: [...all.map((bank) => bank.report.crosswalks), ...reports.crosswalks],
        forms: [...all.map((bank) => bank.report.form), ...reports.forms],
        packages: [...all.map((bank) => cfPackageOf(bank.framework)), ...reports.packages],
        engine: {
          classSourcedId: seed.reports.runClass === null ? null : ids.class(seed.reports.runClass),
          cutScores: new Map(policies.map(({ document }) => [document.id, document.kcCutScore])),
        },
      },
    },
    policies,
    calibrations: all.map((bank) => bank.calibration),
    analysisPolicy,
    fixtures: {
      mastery: {
        resultsStudentId,
        banks: released.map(({ bank, instance, policy }) => ({
          name: bank.name,
          testSpecId: instance.blueprint.itemId,
          testBankId: instance.bankMembers.bankId,
          bankOperationId: instance.manifest.operationId,
          selectionPolicyId: policy.document.id,
          scaleCalibrationId: instance.calibration.document.id,
          items: bank.bank.items.length,
          kcs: bank.bank.kcs.length,
          kcGuids: bank.bank.kcs.map((kc) => instance.ids.kc(kc.name)),
        })),
      },
      reports: {
        ...reportsFixtures(seed.reports, ids, resultsStudentId),
        analysisPolicyId: analysisPolicy.document.id,
      },
    },
    itemNames: Object.fromEntries(
      all.flatMap((bank) => bank.members.map(({ name, member }) => [member.artifactVersionId, name])),
    ),
  };
}

/** The ids that names of one bank's files turn into. */
interface BankIds {
  readonly kc: (name: string) => string;
  readonly standard: (name: string) => string;
  readonly item: (name: string) => string;
}

function bankIds(directory: string, tenantId: string): BankIds {
  return {
    kc: (name) => deterministicUuid('case-kc', tenantId, directory, name),
    standard: (name) => deterministicUuid('case-standard', tenantId, directory, name),
    item: (name) => qtiIdentifier(name, tenantId, directory),
  };
}

/** A QTI identifier has neither spaces nor most punctuation. */
function qtiIdentifier(name: string, tenantId: string, directory: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').replace(/^(?![A-Za-z_])/, '_');
  return `${word}-${deterministicUuid('qti-identifier', tenantId, directory, name).slice(-8)}`;
}

type InstantiatedBank = ReturnType<typeof instantiateBank>;

function instantiateBank(content: BankContent, directory: string, tenantId: string) {
  const { bank } = content;
  const ids = bankIds(directory, tenantId);
  const version = hashCanonical(bank);
  const frameworkGuid = deterministicUuid('case-framework', tenantId, directory);
  const testSpecId = opaque(`spec-${directory}`, tenantId);
  const testBankId = opaque(`bank-${directory}`, tenantId);
  const packageId = opaque(`package-${directory}`, tenantId, version);
  const packageHash = hashCanonical({ tenantId, directory, bank });
  const members = bank.items.map((item) => ({
    name: item.name,
    item,
    member: memberOf(item, ids, directory, tenantId),
  }));
  const root = {
    packageId,
    packageHash,
    artifactId: opaque(`pool-${directory}`, tenantId),
    artifactVersionId: opaque(`pool-version-${directory}`, tenantId, version),
    qtiIdentifier: qtiIdentifier(`pool-${directory}`, tenantId, directory),
  };
  const sourcePoint = sourcePointOf(content.calibration, directory, tenantId);
  const blueprintVersion = opaque('blueprint', tenantId, directory, version);
  return {
    ids,
    members,
    sourcePoint,
    framework: frameworkOf(bank, ids, frameworkGuid),
    report: reportEntities(tenantId, {
      testSpecId,
      testSpecVersion: blueprintVersion,
      qtiTestId: root.artifactId,
      frameworkGuid,
    }),
    blueprint: {
      tenantId,
      itemId: testSpecId,
      role: 'spec',
      version: blueprintVersion,
      title: bank.title,
      subject: bank.subject,
      gradeLevels: bank.grades,
      caseFrameworkGuid: frameworkGuid,
      slots: bank.standards.map((standard, at) => ({
        slotId: opaque(`slot-${at + 1}`, tenantId, directory),
        caseGuids: [ids.standard(standard.name)],
      })),
    },
    bankMembers: {
      tenantId,
      bankId: testBankId,
      specId: testSpecId,
      role: 'bank',
      membershipRule: 'qti_adaptive_selection',
      updateVersion: opaque('update', tenantId, directory, version),
      data: [],
    },
    manifest: {
      tenantId,
      operationId: opaque(`operation-${directory}`, tenantId, version),
      state: 'succeeded' as const,
      testSpecId,
      testBankId,
      root,
      members: members.map(({ member }) => member),
    },
    artifacts: [
      {
        ...root,
        tenantId,
        type: 'assessment-test',
        title: bank.title,
        itemRefs: members.map(({ member }) => ({
          identifier: member.qtiIdentifier,
          artifactVersionId: member.artifactVersionId,
        })),
      },
      ...members.map(({ item, member }): DeliveryJson => ({
        tenantId,
        artifactId: member.artifactId,
        artifactVersionId: member.artifactVersionId,
        packageId,
        packageHash,
        type: 'assessment-item',
        qtiIdentifier: member.qtiIdentifier,
        title: item.name,
        prompt: item.stem,
        itemRefs: [],
      })),
    ],
    calibration: calibrationRecord(content, {
      tenantId,
      directory,
      frameworkGuid,
      sourcePoint,
      ids,
      members: members.map(({ member }) => member),
    }),
  };
}

function memberOf(
  item: BankFile['items'][number],
  ids: BankIds,
  directory: string,
  tenantId: string,
): ManifestMember {
  return {
    artifactId: deterministicUuid('qti-artifact', tenantId, directory, item.name),
    artifactVersionId: deterministicUuid('qti-artifact-version', tenantId, directory, hashCanonical(item)),
    qtiIdentifier: ids.item(item.name),
    caseGuids: item.standards.map(ids.standard).sort(),
    kcGuids: item.kcs.map(ids.kc).sort(),
  };
}

/** When the frameworks of all banks last changed. */
const FRAMEWORK_CHANGED_AT = '2026-01-01T00:00:00.000Z';

/** The bank's standards, and its components as children of the standard that most of their items carry. */
function frameworkOf(bank: BankFile, ids: BankIds, guid: string): Parameters<typeof cfPackageOf>[0] {
  return {
    guid,
    title: bank.framework,
    changedAt: FRAMEWORK_CHANGED_AT,
    educationLevel: bank.grades,
    items: [
      ...bank.standards.map(({ name, statement }) => ({
        guid: ids.standard(name),
        code: name,
        kind: 'standard' as const,
        statement,
        parent: undefined,
      })),
      ...bank.kcs.map(({ name, label }) => ({
        guid: ids.kc(name),
        code: name,
        kind: 'knowledge_component' as const,
        statement: label,
        parent: parentOf(bank, name, ids),
      })),
    ],
  };
}

/** Of the standards with equally many items the one that the bank names first; undefined for a component without any item. */
function parentOf(bank: BankFile, kc: string, ids: BankIds): string | undefined {
  const carried = bank.items.filter(({ kcs }) => kcs.includes(kc)).flatMap(({ standards }) => standards);
  const count = (standard: string): number => carried.filter((name) => name === standard).length;
  const [parent] = bank.standards
    .filter(({ name }) => count(name) > 0)
    .sort((a, b) => count(b.name) - count(a.name));
  return parent === undefined ? undefined : ids.standard(parent.name);
}

/** What Content and QTI say of the reports on the bank's runs. */
function reportEntities(
  tenantId: string,
  about: {
    readonly testSpecId: string;
    readonly testSpecVersion: string;
    readonly qtiTestId: string;
    readonly frameworkGuid: string;
  },
): {
  readonly criteria: ReportsSeed['criteria'][number];
  readonly crosswalks: ReportsSeed['crosswalks'][number];
  readonly form: ReportsSeed['forms'][number];
} {
  const { testSpecId, testSpecVersion, qtiTestId } = about;
  return {
    criteria: {
      tenantId,
      testSpecId,
      version: testSpecVersion,
      freshness: 'current',
      testKind: 'adaptive_diagnostic',
      caseFrameworkGuid: about.frameworkGuid,
      caseFrameworkChangedAt: FRAMEWORK_CHANGED_AT,
      criteria: null,
      qualifyingCoverage: false,
      externalScale: null,
    },
    crosswalks: {
      tenantId,
      testSpecId,
      testSpecVersion,
      crosswalkSetId: opaque('crosswalks', tenantId, testSpecId),
      version: opaque('crosswalks-version', tenantId, testSpecVersion),
      freshness: 'current',
      entries: [],
    },
    form: {
      tenantId,
      qtiTestId,
      version: opaque('form-version', tenantId, testSpecVersion),
      freshness: 'current',
      contentTestSpecId: testSpecId,
      contentTestSpecVersion: testSpecVersion,
    },
  };
}

/** All anchors of a tenant stand in one version of its anchor table. */
function anchorTableVersion(tenantId: string, version: string): string {
  return opaque(`r90-${version}`, tenantId, 'anchor-table');
}

/** The verified anchor of a calibration, as the anchor table holds it. */
function sourcePointOf(
  { anchor }: CalibrationFile,
  directory: string,
  tenantId: string,
): AnchorTable['sourcePoints'][number] {
  const source = opaque(anchor.source, tenantId, directory);
  return {
    source,
    checksum: hashCanonical({ source, version: anchorTableVersion(tenantId, anchor.version) }),
    licenseScope: anchor.licenseScope,
    sourceRef: opaque('source-ref', tenantId, directory),
  };
}

interface CalibrationContext {
  readonly tenantId: string;
  readonly directory: string;
  readonly frameworkGuid: string;
  readonly sourcePoint: AnchorTable['sourcePoints'][number];
  readonly ids: BankIds;
  readonly members: readonly ManifestMember[];
}

function calibrationRecord(
  { bank, calibration }: BankContent,
  context: CalibrationContext,
): CalibrationRecord {
  const { tenantId, directory, ids, sourcePoint } = context;
  const parameters = parametersOf(bank, calibration, ids, context.members);
  const document: Omit<ScaleCalibration, 'checksum'> = {
    id: opaque(`calibration-${directory}`, tenantId, hashCanonical({ bank, calibration, parameters })),
    scaleId: opaque(`scale-${calibration.scale.name}`, tenantId, directory),
    visibility: 'tenant',
    modelFamily: 'ho-cdm-grid',
    modelVersion: 'ho-cdm-grid/1',
    numericPrecision: calibration.numericPrecision,
    runtimeVersion: 'ho-cdm-grid-1',
    caseFrameworkGuid: context.frameworkGuid,
    caseMappingVersion: opaque(calibration.mappingVersion, tenantId, directory),
    subject: bank.subject,
    gradeCoverage: bank.grades,
    validFrom: calibration.validFrom,
    validUntil: calibration.validUntil,
    anchor: {
      source: sourcePoint.source,
      version: anchorTableVersion(tenantId, calibration.anchor.version),
      checksum: sourcePoint.checksum,
      licenseScope: calibration.anchor.licenseScope,
    },
    recoveryTolerance: calibration.recoveryTolerance,
    limitations: calibration.limitations,
  };
  return {
    tenantId,
    document: { ...document, checksum: documentChecksum(document) },
    parametersHash: hashCanonical(parameters),
    parameters,
  };
}

function parametersOf(
  bank: BankFile,
  calibration: CalibrationFile,
  ids: BankIds,
  members: readonly ManifestMember[],
): CalibrationParameters {
  const calibrated = new Map(calibration.items.map((item) => [item.item, item]));
  const { theta, scale, maximumReportableError, reliabilityCeiling } = calibration;
  return inGuidOrder({
    theta,
    kcs: calibration.kcs.map(({ kc, slope, location }) => ({
      guid: ids.kc(kc),
      uri: caseUri(ids.kc(kc)),
      slope,
      location,
    })),
    items: bank.items.map((item, at) => {
      const member = members[at];
      const fitted = calibrated.get(item.name);
      if (member === undefined || fitted === undefined)
        throw new Error('a loaded seed calibrates every item');
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
  const patterns = 2 ** size;
  return Array.from({ length: patterns }, (_, pattern) =>
    pattern === patterns - 1 ? Number((1 - slip).toFixed(12)) : guess,
  );
}

function policyRecord(bank: SeedBank, policy: PolicyFile, ids: BankIds, tenantId: string): PolicyRecord {
  const document: Omit<SelectionPolicy, 'checksum'> = {
    id: opaque(`policy-${bank.name}`, tenantId, hashCanonical({ directory: bank.directory, policy })),
    visibility: 'tenant',
    algorithm: 'constrained_information_gain',
    kcCutScore: policy.kcCutScore,
    confidenceThreshold: policy.confidenceThreshold,
    precisionTarget: policy.precisionTarget,
    maxItems: policy.maxItems,
    timeBudgetSeconds: policy.timeBudgetSeconds,
    coverageFloors: policy.coverageFloors
      .map((floor) => ({
        caseCompetencyGuid: guidOf(floor, ids),
        minimumEvidenceItems: floor.minimumEvidenceItems,
      }))
      .sort((a, b) => (a.caseCompetencyGuid < b.caseCompetencyGuid ? -1 : 1)),
    eligibilityRules: rulesOf(policy.eligibilityRules, ids),
  };
  return { tenantId, document: { ...document, checksum: documentChecksum(document) } };
}

function analysisPolicyRecord(file: AnalysisPolicyFile, tenantId: string): AnalysisPolicyRecord {
  const { name, version, triggers } = file;
  const document: Omit<AnalysisPolicy, 'checksum'> = {
    id: opaque(`analysis-policy-${name}`, tenantId, hashCanonical(file)),
    version,
    visibility: 'tenant',
    formulaVersion: 'alignment-v1',
    triggers,
  };
  return { tenantId, document: { ...document, checksum: documentChecksum(document) } };
}

function guidOf(
  competency: { readonly kc?: string | undefined; readonly standard?: string | undefined },
  ids: BankIds,
): string {
  return competency.kc === undefined ? ids.standard(competency.standard ?? '') : ids.kc(competency.kc);
}

/** Absent rules stay absent: the checksum is over what the policy says. */
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
