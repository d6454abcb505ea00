import * as z from 'zod';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { administration } from '#shared/platform/owners/administration.ts';
import { requestedAction } from '#shared/contract/reports/analysis-policy.ts';
import {
  administrationAnalysis,
  analysisArtifact,
  formEquivalence,
  rollup,
} from '#shared/platform/owners/analytics.ts';
import { manifest } from '#shared/platform/owners/bank.ts';
import { caliperEvent } from '#shared/platform/owners/caliper.ts';
import { cfItem, cfPackage } from '#shared/platform/owners/case.ts';
import {
  alignmentCrosswalk,
  alignmentSources,
  bankMembers,
  blueprint,
  formEvidence,
  readinessCrosswalks,
  reportCriteria,
} from '#shared/platform/owners/content.ts';
import { anchorTable } from '#shared/platform/owners/extmap.ts';
import { classSingleton, schoolSingleton, userSingleton } from '#shared/platform/owners/oneroster.ts';
import { instant } from '#shared/platform/owners/primitives.ts';
import { attemptEvidence, deliveryJson, deliverySession, form } from '#shared/platform/owners/qti.ts';
import {
  kcComponent,
  resultRecordRequest,
  settledComponent,
  settledRecord,
} from '#shared/platform/owners/results.ts';
import { revisionOrderAck, revisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import type { EntityStore } from './store.ts';
import type { TenantState } from './tenant-state.ts';

/** One kind of entity that a test may change: its schema, and where a tenant holds it. */
interface EntityKind {
  readonly schema: z.ZodType;
  readonly held: (tenant: TenantState) => EntityStore<unknown>;
}

function kind<T>(schema: z.ZodType<T>, held: (tenant: TenantState) => EntityStore<T>): EntityKind {
  return { schema, held };
}

const heldSession = z.strictObject({ candidateRef: z.string().min(1), session: deliverySession });
const heldRecord = z.strictObject({
  resultRecordId: z.string().min(1),
  request: resultRecordRequest,
  components: z.array(kcComponent),
});

const heldSettlement = z.strictObject({
  attemptId: z.string().min(1),
  components: z.array(settledComponent),
});

const heldAttempt = attemptEvidence.extend({ submittedAt: instant });

const receiver = z.strictObject({
  administrationId: z.string().min(1),
  status: z.enum(['available', 'missing']),
  refuses: z.array(requestedAction),
});

const heldOrder = z.strictObject({ order: revisionOrderRequest, ack: revisionOrderAck });

/** Every kind of entity, by the name that the control API uses. */
export const entityKinds = {
  'content.blueprint': kind(blueprint, (tenant) => tenant.blueprints),
  'content.bank_members': kind(bankMembers, (tenant) => tenant.bankMembers),
  'bank.manifest': kind(manifest, (tenant) => tenant.manifests),
  'qti.artifact': kind(deliveryJson, (tenant) => tenant.artifacts),
  'qti.session': kind(heldSession, (tenant) => tenant.sessions),
  'case.item': kind(cfItem, (tenant) => tenant.caseItems),
  'extmap.anchor_table': kind(anchorTable, (tenant) => tenant.anchorTables),
  'results.record': kind(heldRecord, (tenant) => tenant.resultRecords),
  'caliper.event': kind(caliperEvent, (tenant) => tenant.events),
  'qti.attempt_evidence': kind(heldAttempt, (tenant) => tenant.attempts),
  'qti.form': kind(form, (tenant) => tenant.forms),
  'results.settled_record': kind(settledRecord, (tenant) => tenant.records),
  'results.settlement': kind(heldSettlement, (tenant) => tenant.settlements),
  'content.report_criteria': kind(reportCriteria, (tenant) => tenant.criteria),
  'content.crosswalks': kind(readinessCrosswalks, (tenant) => tenant.crosswalks),
  'content.form_evidence': kind(formEvidence, (tenant) => tenant.formEvidence),
  'case.package': kind(cfPackage, (tenant) => tenant.packages),
  'oneroster.user': kind(userSingleton, (tenant) => tenant.users),
  'oneroster.class': kind(classSingleton, (tenant) => tenant.classes),
  'oneroster.school': kind(schoolSingleton, (tenant) => tenant.schools),
  'analytics.rollup': kind(rollup, (tenant) => tenant.rollups),
  'analytics.form_equivalence': kind(formEquivalence, (tenant) => tenant.formEquivalences),
  'administration.administration': kind(administration, (tenant) => tenant.administrations),
  'content.alignment_sources': kind(alignmentSources, (tenant) => tenant.alignmentSources),
  'content.alignment_crosswalk': kind(alignmentCrosswalk, (tenant) => tenant.alignmentCrosswalks),
  'analytics.administration_analysis': kind(administrationAnalysis, (tenant) => tenant.analyses),
  'analytics.artifact': kind(analysisArtifact, (tenant) => tenant.analysisArtifacts),
  'bank.receiver': kind(receiver, (tenant) => tenant.receivers.bank),
  'blueprint.receiver': kind(receiver, (tenant) => tenant.receivers.blueprint),
  'bank.revision_order': kind(heldOrder, (tenant) => tenant.revisionOrders.bank),
  'blueprint.revision_order': kind(heldOrder, (tenant) => tenant.revisionOrders.blueprint),
} as const satisfies Record<string, EntityKind>;
export type EntityName = keyof typeof entityKinds;
export const entityNames = Object.keys(entityKinds) as [EntityName, ...EntityName[]];

/** The body of `PATCH /_control/entities`. */
export const entityChange = z.strictObject({
  tenantId: z.string().min(1),
  entity: z.enum(entityNames),
  id: z.string().min(1),
  /** Applied in order. A change without `value` removes the member. */
  changes: z
    .array(
      z.strictObject({
        pointer: z
          .string()
          .regex(/^(\/([^~/]|~[01])*)+$/, 'must be a JSON Pointer to a member, such as /version'),
        value: z.unknown().optional(),
      }),
    )
    .min(1),
});
type EntityChange = z.infer<typeof entityChange>;

/** One defect of a change, with a JSON Pointer into the request. */
interface ChangeDefect {
  readonly pointer: string;
  readonly message: string;
}

/**
 * Changes an owner's entity as if the owner had done so: its ETag follows. What the owner could not answer by its own schema is
 * refused; a fault (`malformed`) is the way to a broken answer.
 */
export function changeEntity(tenant: TenantState, change: EntityChange): Result<unknown, ChangeDefect> {
  const { schema, held }: EntityKind = entityKinds[change.entity];
  const before = held(tenant).get(change.id);
  if (before === undefined) {
    return err({ pointer: '/id', message: `${tenant.tenantId} holds no ${change.entity} with this id` });
  }
  const after: unknown = structuredClone(before);
  for (const [at, { pointer, ...rest }] of change.changes.entries()) {
    if (!set(after, pointer, 'value' in rest ? { value: rest.value } : undefined)) {
      return err({ pointer: `/changes/${at}/pointer`, message: 'points at nothing in the entity' });
    }
  }
  const parsed = schema.safeParse(after);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const where = issue?.path.map((step) => `/${String(step)}`).join('') ?? '';
    return err({
      pointer: '/changes',
      message: `the entity would be invalid at ${where}: ${issue?.message ?? ''}`,
    });
  }
  held(tenant).set(change.id, after);
  return ok(after);
}

/** Returns the same answer about something else: the id that the pointer names is another one of the same form. Unchanged where there is none. */
export function withOtherId(answer: object, pointer: string): object {
  return withMember(answer, pointer, (id) => (typeof id === 'string' ? otherId(id) : id));
}

/** Returns the same answer, with the first row of a list twice. Unchanged where there is none. */
export function withRepeatedRow(answer: object, pointer: string): object {
  return withMember(answer, pointer, (rows) =>
    Array.isArray(rows) ? [...(rows as unknown[]).slice(0, 1), ...(rows as unknown[])] : rows,
  );
}

/** Returns the same answer, with a number beyond what any score, share or count can be. Unchanged where there is no number. */
export function withImpossibleNumber(answer: object, pointer: string): object {
  return withMember(answer, pointer, (number) => (typeof number === 'number' ? 1e21 : number));
}

/**
 * Returns the same answer, with an id of 1,026 bytes in 513 characters: its first one, its tenant's apart, or that which the pointer names where no
 * member's name ends in `Id`.
 */
export function withOverlongId(answer: object, pointer: string): object {
  const [first] = Object.entries(answer).find(
    ([name, value]) => name.endsWith('Id') && name !== 'tenantId' && typeof value === 'string',
  ) ?? [undefined];
  return withMember(answer, first === undefined ? pointer : `/${first}`, (id) =>
    typeof id === 'string' ? 'é'.repeat(513) : id,
  );
}

function withMember(answer: object, pointer: string, change: (held: unknown) => unknown): object {
  const changed = structuredClone(answer);
  let held: unknown = changed;
  for (const step of pointer.slice(1).split('/'))
    held = (held as Record<string, unknown> | undefined)?.[step];
  if (held !== undefined) set(changed, pointer, { value: change(held) });
  return changed;
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

function otherId(id: string): string {
  return uuid.test(id) ? id.replace(uuid, deterministicUuid('other', id)) : `${id}-other`;
}

/** Sets or removes the member; a new name in an existing object is allowed, a new index only at the end of an array. */
function set(root: unknown, pointer: string, replacement: { readonly value: unknown } | undefined): boolean {
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop() ?? '';
  let parent = root;
  for (const step of steps) {
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, step)) return false;
    parent = (parent as Record<string, unknown>)[step];
  }
  if (typeof parent !== 'object' || parent === null) return false;
  if (Array.isArray(parent)) {
    const at = /^\d+$/.test(last) ? Number(last) : -1;
    if (at < 0 || at > parent.length || (replacement === undefined && at === parent.length)) return false;
    if (replacement === undefined) parent.splice(at, 1);
    else parent[at] = replacement.value;
    return true;
  }
  if (replacement !== undefined) {
    Object.defineProperty(parent, last, { ...dataProperty, value: replacement.value });
    return true;
  }
  return Object.hasOwn(parent, last) && Reflect.deleteProperty(parent, last);
}

const dataProperty = { configurable: true, enumerable: true, writable: true } as const;
