import { expect } from 'vitest';
import type { Route } from '#shared/contract/route.ts';
import type { CallName } from './faults.ts';
import type { Dependencies } from './faults-expected.ts';

/** An answer as the walk judges it. */
export interface Seen {
  /** In one line: status, problem, owner; of a success also its state. */
  readonly sentence: string;
  readonly isProblem: boolean;
  readonly retryAfter: string | null;
  /** The upstream call that a problem names. */
  readonly named?: { readonly service: string; readonly operation: string } | undefined;
}

/** A request that can be sent as often as the walk wants: the same bytes under the same key. */
export interface Prepared {
  readonly send: () => Promise<Seen>;
  /** What must hold after the answer under the fault. */
  readonly afterFault?: (seen: Seen) => Promise<void>;
  /** Whether the same request is sent again once the owners are well; default: always. */
  readonly isRepeated?: (seen: Seen) => boolean;
  /** What must hold once the same request has gone through, with its last answer. */
  readonly afterwards?: (last: Seen, underFault: Seen) => Promise<void>;
}

/** A route in one state of what it works on, and everything that it depends on there. */
export interface Flow<World> {
  readonly route: Pick<Route, 'operationId'>;
  /** Which state, where a route has several. */
  readonly state?: string;
  readonly dependencies: Dependencies;
  /** The answer without a fault. */
  readonly calm: string;
  /** Whether its writes do not wait for one another; default: what writes after a call without a usable answer is not begun. */
  readonly areWritesApart?: boolean;
  /** How many of a call's uses pass before the fault strikes. */
  readonly skip?: Readonly<Partial<Record<CallName, number>>>;
  /** Begins the state, before the first case. Returns what prepares a request for a case. */
  readonly open: (world: World) => Promise<(call: CallName | undefined) => Promise<Prepared>>;
}

/** The one cell of a flow that its dependency's kind does not decide. */
export interface Exception {
  readonly flow: string;
  readonly call: CallName;
  /** Names of faults. */
  readonly faults: readonly string[];
  readonly answer: string;
  readonly because: string;
}

export const nameOf = ({ route, state }: Pick<Flow<never>, 'route' | 'state'>): string =>
  state === undefined ? route.operationId : `${route.operationId}, ${state}`;

/** A problem that names the owner of the failed call, or the credential, names the call too. */
export function expectNamed(
  { named }: Seen,
  { id, service }: { readonly id: string; readonly service: string },
): void {
  if (named?.service === service || named?.service === 'platform_auth') expect(named.operation).toBe(id);
}
