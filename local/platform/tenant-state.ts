import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { RevisionOrder } from '#shared/contract/reports/revision-order.ts';
import type { Administration } from '#shared/platform/owners/administration.ts';
import type {
  AdministrationAnalysis,
  AnalysisArtifact,
  FormEquivalence,
  Rollup,
} from '#shared/platform/owners/analytics.ts';
import type { Manifest } from '#shared/platform/owners/bank.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { CfItem, CfPackage } from '#shared/platform/owners/case.ts';
import type {
  AlignmentCrosswalk,
  AlignmentSources,
  BankMembers,
  Blueprint,
  FormEvidence,
  ReadinessCrosswalks,
  ReportCriteria,
} from '#shared/platform/owners/content.ts';
import type { AnchorTable } from '#shared/platform/owners/extmap.ts';
import type { ClassSingleton, SchoolSingleton, UserSingleton } from '#shared/platform/owners/oneroster.ts';
import type { AttemptEvidence, DeliveryJson, DeliverySession, Form } from '#shared/platform/owners/qti.ts';
import type {
  KcComponentsRequest,
  ResultRecordRequest,
  SettledComponentsRequest,
  SettledRecord,
} from '#shared/platform/owners/results.ts';
import type { RevisionOrderAck, RevisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import { openStore, type EntityStore, type Generated } from './store.ts';

/** The start data of one tenant: what its owners hold before the first call. */
export interface TenantSeed {
  readonly tenantId: string;
  readonly credentials: {
    /** The server-held service profile's Bearer token: every operation but the player's. */
    readonly platformJwt: string;
    /** A token that may post attempts and nothing else. */
    readonly playerToken: string;
  };
  /** Learners that Results knows. */
  readonly students: readonly string[];
  readonly blueprints: readonly Blueprint[];
  readonly bankMembers: readonly BankMembers[];
  readonly manifests: readonly Manifest[];
  /** Immutable QTI artifact versions: pool roots and items. */
  readonly artifacts: readonly DeliveryJson[];
  readonly caseItems: readonly CfItem[];
  readonly anchorTable: AnchorTable;
  readonly reports: ReportsSeed;
}

/** What QTI holds of an attempt in addition to its contract: when it was handed in. */
export type HeldAttempt = AttemptEvidence & { readonly submittedAt: string };

/** The start data that reports are composed of. */
export interface ReportsSeed {
  readonly users: readonly UserSingleton[];
  readonly classes: readonly ClassSingleton[];
  readonly schools: readonly SchoolSingleton[];
  readonly rollups: readonly Rollup[];
  readonly formEquivalences: readonly FormEquivalence[];
  readonly administrations: readonly Administration[];
  readonly criteria: readonly ReportCriteria[];
  readonly crosswalks: readonly ReadinessCrosswalks[];
  readonly formEvidence: readonly FormEvidence[];
  readonly forms: readonly Form[];
  readonly packages: readonly CfPackage[];
  readonly attempts: readonly HeldAttempt[];
  readonly records: readonly SettledRecord[];
  /** What Results will settle once it is handed an attempt's components. */
  readonly unsettledRecords: readonly SettledRecord[];
  readonly alignmentSources: readonly AlignmentSources[];
  readonly alignmentCrosswalks: readonly AlignmentCrosswalk[];
  /** What Analytics has published at the start: one for an administration at most. */
  readonly analyses: readonly AdministrationAnalysis[];
  /** What it has yet to publish, by administration; the artifacts are held from the start. */
  readonly laterAnalyses: ReadonlyMap<string, readonly AdministrationAnalysis[]>;
  readonly analysisArtifacts: readonly AnalysisArtifact[];
  readonly receivers: Readonly<Record<Receiving, readonly Receiver[]>>;
  /** How many items each form has (form-items.ts names them). */
  readonly formItems: ReadonlyMap<string, number>;
  /** What would be too much for every start. */
  readonly generated: {
    readonly packages: Generated<CfPackage>;
    readonly attempts: Generated<HeldAttempt>;
    readonly records: Generated<SettledRecord>;
    readonly events: Generated<CaliperEvent>;
    readonly alignmentSources: Generated<AlignmentSources>;
    readonly alignmentCrosswalks: Generated<AlignmentCrosswalk>;
    readonly analyses: Generated<AdministrationAnalysis>;
    readonly analysisArtifacts: Generated<AnalysisArtifact>;
    /** The ids of a candidate's generated attempts. */
    readonly attemptIds: ReadonlyMap<string, readonly string[]>;
  };
  readonly engine: EngineRuns;
}

/** What the owners know of the mastery engine's learner runs in addition to what the engine writes. */
export interface EngineRuns {
  /** The class that they are administered to. */
  readonly classSourcedId: string | null;
  /** The rule of each released selection policy, by its id. */
  readonly policies: ReadonlyMap<string, Pick<SelectionPolicy, 'kcCutScore' | 'confidenceThreshold'>>;
}

/** One candidate's delivery session, with the candidate whom the wire form leaves to the path. */
export interface HeldSession {
  readonly candidateRef: string;
  readonly session: DeliverySession;
}

export interface HeldResultRecord {
  readonly resultRecordId: string;
  readonly request: ResultRecordRequest;
  readonly components: readonly KcComponentsRequest['components'][number][];
}

/** The components that Results was handed for one attempt. */
export interface HeldSettlement {
  readonly attemptId: string;
  readonly components: SettledComponentsRequest['components'];
}

/** The modules that take revision orders. */
export type Receiving = RevisionOrder['targetModule'];

/** What takes the orders on one administration. */
export interface Receiver {
  readonly administrationId: string;
  /** `missing`: the module is not there. */
  readonly status: 'available' | 'missing';
  /** Orders for one of these are refused for good. */
  readonly refuses: readonly RevisionOrder['requestedAction'][];
}

/** An order that has been received, and what was answered to it. */
export interface HeldRevisionOrder {
  readonly order: RevisionOrderRequest;
  readonly ack: RevisionOrderAck;
}

/** Under which name a cohort's rollup is held: the class, or school and grade. */
export function cohortKey(scope: Rollup['scope']): string {
  return scope.type === 'class' ? scope.classSourcedId : `${scope.schoolSourcedId}/${scope.grade}`;
}

/** How a tenant's QTI behaves, which a test may change. */
export interface QtiConduct {
  /** How far its clock is ahead of the platform's, in milliseconds. */
  readonly clockSkewMs: number;
  /** `later`: an answer that is handed in waits for its score until QTI scores at once again. */
  readonly scores: 'at_once' | 'later';
  /** Whether it returns run tags and refuses an offer only if one with the same tag is open. */
  readonly runTags: boolean;
}

/** The anchor table exists once per tenant, under this id. */
export const SINGLETON = { anchorTable: 'r90' } as const;

/**
 * What one tenant's owners hold now. Entities are replaced, never changed in place. Everything of a tenant hangs on its own value, so
 * that no owner can look into another tenant by accident.
 */
export interface TenantState {
  readonly tenantId: string;
  readonly students: ReadonlySet<string>;
  readonly blueprints: Map<string, Blueprint>;
  readonly bankMembers: Map<string, BankMembers>;
  readonly manifests: Map<string, Manifest>;
  readonly artifacts: Map<string, DeliveryJson>;
  readonly caseItems: Map<string, CfItem>;
  readonly anchorTables: Map<string, AnchorTable>;
  readonly sessions: Map<string, HeldSession>;
  /** Offers by Idempotency-Key. */
  readonly offers: Map<string, { readonly bodyHash: string; readonly deliverySessionId: string }>;
  qtiConduct: QtiConduct;
  /** What waits for its score: the outcomes by attempt. */
  readonly unscored: Map<
    string,
    { readonly deliverySessionId: string; readonly outcomes: Readonly<Record<string, number>> }
  >;
  /** Every change of a candidate's runtime, oldest first: an old view leaves out the last one. */
  readonly runtimeChanges: { readonly candidateRef: string; readonly id: string }[];
  readonly resultRecords: Map<string, HeldResultRecord>;
  /** Result record ids by producer result id. */
  readonly producerResults: Map<string, string>;
  readonly events: EntityStore<CaliperEvent>;
  readonly users: Map<string, UserSingleton>;
  readonly classes: Map<string, ClassSingleton>;
  readonly schools: Map<string, SchoolSingleton>;
  /** By cohortKey. */
  readonly rollups: Map<string, Rollup>;
  /** By form. */
  readonly formEquivalences: Map<string, FormEquivalence>;
  readonly administrations: Map<string, Administration>;
  /** By test spec. */
  readonly criteria: Map<string, ReportCriteria>;
  /** By test spec. */
  readonly crosswalks: Map<string, ReadinessCrosswalks>;
  /** By form. */
  readonly formEvidence: Map<string, FormEvidence>;
  readonly forms: Map<string, Form>;
  readonly packages: EntityStore<CfPackage>;
  /** The attempts that did not come out of the mastery engine's runs (attempts.ts has all of them). */
  readonly attempts: EntityStore<HeldAttempt>;
  readonly generatedAttemptIds: ReadonlyMap<string, readonly string[]>;
  /** The records of those attempts. */
  readonly records: EntityStore<SettledRecord>;
  /** By attempt: the records that Results has yet to settle. */
  readonly unsettledRecords: ReadonlyMap<string, SettledRecord>;
  /** By attempt, also one of the engine's runs. */
  readonly settlements: Map<string, HeldSettlement>;
  /** The content of a set of components by its Idempotency-Key. */
  readonly settlementKeys: Map<string, string>;
  /** By test spec. */
  readonly alignmentSources: EntityStore<AlignmentSources>;
  readonly alignmentCrosswalks: EntityStore<AlignmentCrosswalk>;
  /** By administration. */
  readonly analyses: EntityStore<AdministrationAnalysis>;
  readonly analysisArtifacts: EntityStore<AnalysisArtifact>;
  /** By administration. */
  readonly receivers: Readonly<Record<Receiving, Map<string, Receiver>>>;
  /** What each module has received, by order id. */
  readonly revisionOrders: Readonly<Record<Receiving, Map<string, HeldRevisionOrder>>>;
  readonly formItems: ReadonlyMap<string, number>;
  readonly engine: EngineRuns;
}

/** Returns a tenant's owners at their start. */
export function openTenant(seed: TenantSeed): TenantState {
  const { reports } = seed;
  return {
    tenantId: seed.tenantId,
    students: new Set(seed.students),
    blueprints: index(seed.blueprints, (entity) => entity.itemId),
    bankMembers: index(seed.bankMembers, (entity) => entity.bankId),
    manifests: index(seed.manifests, (entity) => entity.operationId),
    artifacts: index(seed.artifacts, (entity) => entity.artifactVersionId),
    caseItems: index(seed.caseItems, (entity) => entity.identifier),
    anchorTables: new Map([[SINGLETON.anchorTable, seed.anchorTable]]),
    sessions: new Map(),
    offers: new Map(),
    qtiConduct: { clockSkewMs: 0, scores: 'at_once', runTags: true },
    unscored: new Map(),
    runtimeChanges: [],
    resultRecords: new Map(),
    producerResults: new Map(),
    events: openStore([], (event) => event.id, reports.generated.events),
    users: index(reports.users, ({ user }) => user.sourcedId),
    classes: index(reports.classes, (entity) => entity.class.sourcedId),
    schools: index(reports.schools, ({ org }) => org.sourcedId),
    rollups: index(reports.rollups, ({ scope }) => cohortKey(scope)),
    formEquivalences: index(reports.formEquivalences, (entity) => entity.qtiTestId),
    administrations: index(reports.administrations, (entity) => entity.administrationId),
    criteria: index(reports.criteria, (entity) => entity.testSpecId),
    crosswalks: index(reports.crosswalks, (entity) => entity.testSpecId),
    formEvidence: index(reports.formEvidence, (entity) => entity.qtiTestId),
    forms: index(reports.forms, (entity) => entity.qtiTestId),
    packages: openStore(
      reports.packages,
      (entity) => entity.CFDocument.identifier,
      reports.generated.packages,
    ),
    attempts: openStore(reports.attempts, (entity) => entity.attemptId, reports.generated.attempts),
    generatedAttemptIds: reports.generated.attemptIds,
    records: openStore(reports.records, (entity) => entity.resultRecordId, reports.generated.records),
    unsettledRecords: index(reports.unsettledRecords, (entity) => entity.attemptId),
    settlements: new Map(),
    settlementKeys: new Map(),
    alignmentSources: openStore(
      reports.alignmentSources,
      (entity) => entity.testSpecId,
      reports.generated.alignmentSources,
    ),
    alignmentCrosswalks: openStore(
      reports.alignmentCrosswalks,
      (entity) => entity.crosswalkId,
      reports.generated.alignmentCrosswalks,
    ),
    analyses: openStore(reports.analyses, (entity) => entity.administrationId, reports.generated.analyses),
    analysisArtifacts: openStore(
      reports.analysisArtifacts,
      (entity) => entity.artifactRef,
      reports.generated.analysisArtifacts,
    ),
    receivers: {
      bank: index(reports.receivers.bank, (entity) => entity.administrationId),
      blueprint: index(reports.receivers.blueprint, (entity) => entity.administrationId),
    },
    revisionOrders: { bank: new Map(), blueprint: new Map() },
    formItems: reports.formItems,
    engine: reports.engine,
  };
}

function index<T>(entities: readonly T[], idOf: (entity: T) => string): Map<string, T> {
  return new Map(entities.map((entity) => [idOf(entity), entity]));
}
