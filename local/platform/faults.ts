import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { AnswerKind } from '#shared/platform/verdicts.ts';
import { contradictionOf, invariantIds } from './contradictions.ts';
import { ownerRoutes } from './routes.ts';
import type { OwnerRoute } from './route.ts';

/** What can go wrong between an owner and its caller; docs/platform-contracts.md describes each. */
export const faultKinds = [
  'latency',
  'status',
  'cut',
  'malformed',
  'wrong_tenant',
  'other_entity',
  'overlong_id',
  'duplicate_row',
  'out_of_range',
  'contradiction',
  'version_drift',
  'stale',
  'lost_acknowledgement',
  'down',
] as const;
type FaultKind = (typeof faultKinds)[number];

/**
 * The faults that give an answer of each kind; with `status`, the statuses. A new kind of answer does not compile without the fault that
 * gives it.
 */
export const faultsByAnswer: Readonly<Record<AnswerKind, readonly (FaultKind | number)[]>> = {
  unavailable: ['down', 'cut', 'latency', 'lost_acknowledgement', 503, 500, 429],
  unauthorized: [401],
  forbidden: [403],
  rejected: [415],
  'not-found': [404],
  'refused-id': [422],
  conflict: [409],
  malformed: ['malformed'],
  invalid: ['overlong_id'],
  'wrong-tenant': ['wrong_tenant'],
  'wrong-entity': ['other_entity'],
  pending: ['stale'],
  older: ['stale'],
  differs: ['version_drift', 'stale'],
  broken: ['contradiction', 'duplicate_row', 'out_of_range'],
};

/** The operations that a fault can strike. */
export const faultyOperations = [...new Set(ownerRoutes.map((route) => route.operation))];

/** The body of `POST /_control/faults`. */
const faultRequest = z
  .strictObject({
    operation: z.enum(faultyOperations),
    kind: z.enum(faultKinds),
    /** The fault strikes this many calls. */
    times: z.int().min(1).max(100_000).default(1),
    /** This many matching calls pass before it strikes. */
    skip: z.int().min(0).max(100_000).default(0),
    /** Where one operation id has a read and a write. */
    method: z.enum(['GET', 'POST']).optional(),
    /** Only calls to this path are struck: one of several entities that are read side by side. */
    path: z.string().startsWith('/').optional(),
    /** With `status`; 503 when absent. */
    status: z.int().min(400).max(599).optional(),
    /** With `status`: sent as `Retry-After`. */
    retryAfterSeconds: z.int().min(0).max(86_400).optional(),
    /** With `latency`; 50 when absent. */
    milliseconds: z.int().min(0).max(120_000).optional(),
    /**
     * By its JSON Pointer in the answer, of `other_entity`: which id is another one, the first of the route's when absent; of `duplicate_row`:
     * which list has its first row twice; of `out_of_range`: which number is one that no measure can have.
     */
    member: z
      .string()
      .regex(/^(\/([^~/]|~[01])+)+$/, 'must be a JSON Pointer to a member, such as /measures')
      .optional(),
    /** With `contradiction`: the id of the invariant that the answer breaks. */
    invariant: z.enum(invariantIds).optional(),
  })
  .check(({ value, issues }) => {
    const misplaced = (
      name: 'status' | 'retryAfterSeconds' | 'milliseconds' | 'member' | 'invariant',
      ...kinds: readonly FaultKind[]
    ): void => {
      if (value[name] === undefined || kinds.includes(value.kind)) return;
      issues.push({
        code: 'custom',
        message: `belongs to the kind ${kinds.map((kind) => `"${kind}"`).join(' or ')}`,
        path: [name],
        input: value[name],
      });
    };
    misplaced('status', 'status');
    misplaced('retryAfterSeconds', 'status');
    misplaced('milliseconds', 'latency');
    misplaced('member', 'other_entity', 'duplicate_row', 'out_of_range');
    misplaced('invariant', 'contradiction');
    for (const [kind, name] of [
      ['duplicate_row', 'member'],
      ['out_of_range', 'member'],
      ['contradiction', 'invariant'],
    ] as const)
      if (value.kind === kind && value[name] === undefined)
        issues.push({ code: 'custom', message: `is needed by "${kind}"`, path: [name], input: value });
    const routes = ownerRoutes.filter((route) => concerns(value, route));
    if (routes.length === 0) {
      issues.push({
        code: 'custom',
        message: 'is not a method of the operation',
        path: ['method'],
        input: value,
      });
    } else if (!routes.some((route) => canStrike(value, route))) {
      issues.push({
        code: 'custom',
        message: `"${value.kind}" does not exist for this operation: ${whyNot[value.kind] ?? ''}`,
        path: ['kind'],
        input: value.kind,
      });
    } else if (
      value.kind === 'other_entity' &&
      value.member !== undefined &&
      !routes.some(({ identities }) => identities.includes(value.member ?? ''))
    ) {
      issues.push({
        code: 'custom',
        message: 'is no id of the answer that its caller can check',
        path: ['member'],
        input: value.member,
      });
    }
  });
type FaultRequest = z.output<typeof faultRequest>;

const whyNot: Partial<Record<FaultKind, string>> = {
  wrong_tenant: 'its answer names no tenant',
  other_entity: 'its answer names nothing that was asked for',
  overlong_id: 'its answer names nothing that was asked for',
  contradiction: 'its answer has no part in this invariant',
  version_drift: 'its answer has no version',
  stale: 'it has no older answer',
  lost_acknowledgement: 'a read has nothing to acknowledge',
};

/** A fault that waits for its calls. */
export interface ArmedFault extends FaultRequest {
  readonly id: number;
  /** How often it has struck. */
  readonly struck: number;
}

export interface Faults {
  arm(body: unknown): Result<ArmedFault, z.ZodError>;
  list(): readonly ArmedFault[];
  clear(): void;
  /** The fault that strikes this call to a path, if any: the oldest armed one whose `skip` is used up. Counts the call. */
  take(route: OwnerRoute, path: string): ArmedFault | undefined;
}

/** Returns an empty set of faults. */
export function openFaults(): Faults {
  let armed: ArmedFault[] = [];
  let nextId = 1;
  const replace = (fault: ArmedFault): void => {
    armed = armed.map((other) => (other.id === fault.id ? fault : other)).filter(({ times }) => times > 0);
  };
  return {
    arm: (body) => {
      const parsed = faultRequest.safeParse(body);
      if (!parsed.success) return err(parsed.error);
      const fault: ArmedFault = { ...parsed.data, id: nextId, struck: 0 };
      nextId += 1;
      armed.push(fault);
      return ok(fault);
    },
    list: () => armed,
    clear: () => {
      armed = [];
      nextId = 1;
    },
    take: (route, path) => {
      for (const fault of armed) {
        if (!concerns(fault, route) || !canStrike(fault, route)) continue;
        if (fault.path !== undefined && fault.path !== path) continue;
        if (fault.skip > 0) {
          replace({ ...fault, skip: fault.skip - 1 });
          continue;
        }
        const striking = { ...fault, times: fault.times - 1, struck: fault.struck + 1 };
        replace(striking);
        return striking;
      }
      return undefined;
    },
  };
}

function concerns(fault: Pick<FaultRequest, 'operation' | 'method'>, route: OwnerRoute): boolean {
  return fault.operation === route.operation && (fault.method === undefined || fault.method === route.method);
}

function canStrike(
  { kind, invariant }: Pick<FaultRequest, 'kind' | 'invariant'>,
  route: OwnerRoute,
): boolean {
  switch (kind) {
    case 'wrong_tenant':
      return route.tenantInAnswer || route.foreign !== undefined;
    case 'other_entity':
    case 'overlong_id':
      return route.identities.length > 0;
    case 'contradiction':
      return invariant === undefined || contradictionOf(invariant, route.operation) !== undefined;
    case 'version_drift':
      return route.drift !== undefined;
    case 'stale':
      return route.stale !== undefined;
    case 'lost_acknowledgement':
      return route.method === 'POST';
    case 'latency':
    case 'status':
    case 'cut':
    case 'malformed':
    case 'duplicate_row':
    case 'out_of_range':
    case 'down':
      return true;
  }
}
