import type { Manifest } from '#shared/platform/owners/bank.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { CfItem } from '#shared/platform/owners/case.ts';
import type { BankMembers, Blueprint } from '#shared/platform/owners/content.ts';
import type { AnchorTable } from '#shared/platform/owners/extmap.ts';
import type { DeliveryJson, DeliverySession } from '#shared/platform/owners/qti.ts';
import type {
  Capabilities,
  KcComponentsRequest,
  ResultRecordRequest,
} from '#shared/platform/owners/results.ts';

/** The start data of one tenant: what its owners hold before anybody calls them. */
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
  readonly capabilities: Capabilities;
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

/** Anchor table and capabilities exist once per tenant; under this id they stand in the entity maps. */
export const SINGLETON = { anchorTable: 'r90', capabilities: 'capabilities' } as const;

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
  readonly capabilities: Map<string, Capabilities>;
  readonly sessions: Map<string, HeldSession>;
  /** Offers by Idempotency-Key. */
  readonly offers: Map<string, { readonly bodyHash: string; readonly deliverySessionId: string }>;
  /** Every change of a candidate's runtime, oldest first: an old view leaves out the last one. */
  readonly runtimeChanges: { readonly candidateRef: string; readonly id: string }[];
  readonly resultRecords: Map<string, HeldResultRecord>;
  /** Result record ids by producer result id. */
  readonly producerResults: Map<string, string>;
  readonly events: Map<string, CaliperEvent>;
}

/** A tenant's owners at their start. */
export function openTenant(seed: TenantSeed): TenantState {
  return {
    tenantId: seed.tenantId,
    students: new Set(seed.students),
    blueprints: index(seed.blueprints, (entity) => entity.itemId),
    bankMembers: index(seed.bankMembers, (entity) => entity.bankId),
    manifests: index(seed.manifests, (entity) => entity.operationId),
    artifacts: index(seed.artifacts, (entity) => entity.artifactVersionId),
    caseItems: index(seed.caseItems, (entity) => entity.identifier),
    anchorTables: new Map([[SINGLETON.anchorTable, seed.anchorTable]]),
    capabilities: new Map([[SINGLETON.capabilities, seed.capabilities]]),
    sessions: new Map(),
    offers: new Map(),
    runtimeChanges: [],
    resultRecords: new Map(),
    producerResults: new Map(),
    events: new Map(),
  };
}

function index<T>(entities: readonly T[], idOf: (entity: T) => string): Map<string, T> {
  return new Map(entities.map((entity) => [idOf(entity), entity]));
}
