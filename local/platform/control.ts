import * as z from 'zod';
import { changeEntity, entityChange, entityKinds, entityNames, type EntityName } from './entities.ts';
import type { Faults } from './faults.ts';
import { conductQti } from './owners/qti.ts';
import type { TenantState } from './tenant-state.ts';

/** One call of an owner's route, or of none. */
export interface CallRecord {
  /** Null: no owner has such a route. */
  readonly operation: string | null;
  readonly method: string;
  /** The raw path, without the query. */
  readonly path: string;
  /** Null: the caller is not known. */
  readonly tenantId: string | null;
  readonly requestId: string;
  /** Monotonic milliseconds since the platform started. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Null: the connection was destroyed without an answer. */
  readonly status: number | null;
  /** The fault that struck. */
  readonly fault: string | null;
}

/** What the control API acts on. */
interface Controlled {
  readonly tenants: ReadonlyMap<string, TenantState>;
  readonly faults: Faults;
  readonly calls: readonly CallRecord[];
  readonly clearCalls: () => void;
  readonly advanceClock: (milliseconds: number) => void;
  readonly now: () => string;
  readonly reset: () => void;
}

interface ControlAnswer {
  readonly status: number;
  readonly body: object;
}

const clockRequest = z.strictObject({ advanceSeconds: z.number().min(0).max(31_536_000) });

const qtiRequest = z.strictObject({
  tenantId: z.string().min(1),
  clockSkewSeconds: z.number().min(-31_536_000).max(31_536_000).optional(),
  scores: z.enum(['at_once', 'later']).optional(),
  runTags: z.boolean().optional(),
});

/** Returns the control API: `undefined` when it has no such path. It is for tests, without a credential. */
export function control(
  controlled: Controlled,
  method: string,
  path: string,
  body: unknown,
): ControlAnswer | undefined {
  switch (`${method} ${path}`) {
    case 'POST /_control/reset':
      controlled.reset();
      return { status: 200, body: { reset: true } };
    case 'POST /_control/faults': {
      const armed = controlled.faults.arm(body);
      return armed.ok ? { status: 201, body: armed.value } : invalid(armed.error);
    }
    case 'GET /_control/faults':
      return { status: 200, body: { faults: controlled.faults.list() } };
    case 'DELETE /_control/faults':
      controlled.faults.clear();
      return { status: 200, body: { faults: [] } };
    case 'GET /_control/calls':
      return { status: 200, body: { calls: controlled.calls } };
    case 'DELETE /_control/calls':
      // In one answer: a call that ends between a GET and a DELETE would be in neither.
      controlled.clearCalls();
      return { status: 200, body: { calls: controlled.calls } };
    case 'GET /_control/state':
      return { status: 200, body: stateOf(controlled.tenants) };
    case 'GET /_control/counts':
      return { status: 200, body: countsOfTenants(controlled.tenants) };
    case 'POST /_control/clock': {
      const request = clockRequest.safeParse(body);
      if (!request.success) return invalid(request.error);
      controlled.advanceClock(request.data.advanceSeconds * 1000);
      return { status: 200, body: { now: controlled.now() } };
    }
    case 'POST /_control/qti': {
      const request = qtiRequest.safeParse(body);
      if (!request.success) return invalid(request.error);
      const { tenantId, clockSkewSeconds, scores, runTags } = request.data;
      const tenant = controlled.tenants.get(tenantId);
      if (tenant === undefined) return unknownTenant(controlled);
      const before = tenant.qtiConduct;
      const conduct = {
        clockSkewMs: clockSkewSeconds === undefined ? before.clockSkewMs : clockSkewSeconds * 1000,
        scores: scores ?? before.scores,
        runTags: runTags ?? before.runTags,
      };
      conductQti(tenant, conduct, controlled.now());
      return { status: 200, body: conduct };
    }
    case 'PATCH /_control/entities': {
      const request = entityChange.safeParse(body);
      if (!request.success) return invalid(request.error);
      const tenant = controlled.tenants.get(request.data.tenantId);
      if (tenant === undefined) return unknownTenant(controlled);
      const changed = changeEntity(tenant, request.data);
      if (changed.ok) return { status: 200, body: { entity: changed.value } };
      return defect(
        changed.error.pointer === '/id' ? 404 : 400,
        changed.error.pointer,
        changed.error.message,
      );
    }
    default:
      return undefined;
  }
}

function unknownTenant({ tenants }: Controlled): ControlAnswer {
  const known = [...tenants.keys()].join(', ');
  return defect(404, '/tenantId', `is not a tenant of this platform; known are ${known}`);
}

function invalid(error: z.ZodError): ControlAnswer {
  return {
    status: 400,
    body: {
      errors: error.issues.map((issue) => ({
        pointer: issue.path.map((step) => `/${String(step)}`).join(''),
        message: issue.message,
      })),
    },
  };
}

function defect(status: number, pointer: string, message: string): ControlAnswer {
  return { status, body: { errors: [{ pointer, message }] } };
}

/** Counts over all tenants, and per tenant its counts and its entities by kind and id. */
function stateOf(tenants: ReadonlyMap<string, TenantState>): object {
  const perTenant = [...tenants.values()].map((tenant) => {
    const entities = Object.fromEntries(
      entityNames.map((name) => [name, Object.fromEntries(entityKinds[name].held(tenant).entries())]),
    );
    return [tenant.tenantId, { counts: countsOf(tenant), entities }] as const;
  });
  const counts: Record<string, number> = {};
  for (const [, { counts: own }] of perTenant) {
    for (const [name, count] of Object.entries(own)) counts[name] = (counts[name] ?? 0) + count;
  }
  return { counts, tenants: Object.fromEntries(perTenant) };
}

/** Returns what each tenant's owners hold, counted: much less to send than the state. */
function countsOfTenants(tenants: ReadonlyMap<string, TenantState>): object {
  return {
    tenants: Object.fromEntries([...tenants.values()].map((tenant) => [tenant.tenantId, countsOf(tenant)])),
  };
}

type Counted = EntityName | 'qti.attempt' | 'results.component' | 'results.settled_component';

function countsOf(tenant: TenantState): Record<Counted, number> {
  const sessions = [...tenant.sessions.values()];
  const records = [...tenant.resultRecords.values()];
  const settlements = [...tenant.settlements.values()];
  const entities = Object.fromEntries(entityNames.map((name) => [name, entityKinds[name].held(tenant).size]));
  return {
    // SAFETY: built from every entity name.
    ...(entities as Record<EntityName, number>),
    'qti.attempt': sessions.reduce((sum, { session }) => sum + session.attempts.length, 0),
    'results.component': records.reduce((sum, record) => sum + record.components.length, 0),
    'results.settled_component': settlements.reduce((sum, { components }) => sum + components.length, 0),
  };
}
