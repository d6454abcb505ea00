import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { openFaults } from '#local/platform/faults.ts';
import type { Route } from '#shared/contract/route.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { PortsOf } from '#test/support/in-process.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import type { TestStack } from '#test/support/stack.ts';
import { faultsOf, type CallName, type Fault, type Meaning } from './faults.ts';
import { answerTo, type Dependencies } from './faults-expected.ts';

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
interface Prepared {
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

const nameOf = ({ route, state }: Pick<Flow<never>, 'route' | 'state'>): string =>
  state === undefined ? route.operationId : `${route.operationId}, ${state}`;

/** A problem that names the owner of the failed call, or the credential, names the call too. */
function expectNamed(
  { named }: Seen,
  { id, service }: { readonly id: string; readonly service: string },
): void {
  if (named?.service === service || named?.service === 'platform_auth') expect(named.operation).toBe(id);
}

/** One case: a flow, an upstream call, a fault, and the answer. */
interface Case {
  readonly title: string;
  readonly call: CallName;
  readonly fault: Fault;
  readonly expected: string;
}

/** Rules by the beginning of an answer: the first that fits counts. */
export type RulesByAnswer = readonly (readonly [beginning: string, rules: string])[];

/** Which rules the answers of a walk stand on. A test file holds them, so that its rules are found in it. */
export interface FaultRules {
  /** By flow. */
  readonly byAnswer: Readonly<Record<string, RulesByAnswer>>;
  /** What says that an answer must be about what was asked for, by the call and the id in it. */
  readonly byIdentity?: Readonly<Record<string, string>>;
  /** By the end of an answer. */
  readonly byEnd?: readonly (readonly [end: RegExp, rules: string])[];
}

/** The end of a title: the rules that an answer stands on, in brackets. */
function citationOf(
  { byAnswer, byIdentity = {}, byEnd = [] }: FaultRules,
  flow: Flow<never>,
  { call, fault, expected }: Pick<Case, 'call' | 'fault' | 'expected'>,
): string {
  const rules = [
    byAnswer[nameOf(flow)]?.find(([beginning]) => expected.startsWith(beginning))?.[1],
    byIdentity[`${call} ${fault.arm.member ?? ''}`],
    ...byEnd.filter(([end]) => end.test(expected)).map(([, cited]) => cited),
  ].filter((rule) => rule !== undefined);
  return rules.length === 0 ? '' : ` [${rules.join(', ')}]`;
}

/** Every case of a flow. Throws where a fault has no answer. */
function casesOf(flow: Flow<never>, rules: FaultRules): readonly Case[] {
  return callsOf(flow).flatMap((call) =>
    faultsOf(call).map((fault): Case => {
      const expected = answerTo(flow.dependencies[call]!, fault);
      const { id, method } = operations[call];
      const title = `${nameOf(flow)} ${expected ?? ''}: ${method} ${id} ${fault.name}`;
      if (expected === undefined) throw new Error(`no answer: ${title}`);
      const found = { call, fault, expected };
      return { title: `${title}${citationOf(rules, flow, found)}`, ...found };
    }),
  );
}

/** The upstream calls of a flow, those that write in their order. */
const callsOf = ({ dependencies }: Flow<never>): readonly CallName[] =>
  Object.keys(dependencies) as CallName[];

/** Time limits of an attempt of an upstream call: of any, and of one that a report can go without. Others are of our own stores. */
const isOfAttempt = (milliseconds: number): boolean =>
  (milliseconds > 3_000 && milliseconds <= 5_000) || milliseconds <= 1_500;

/** Waits of functions: pauses take no time, and time limits end only when the test ends them. */
export interface Waits {
  readonly ports: PortsOf;
  /** Ends the time limits of all attempts in flight, once only these many are in flight. */
  readonly end: (attempts: number) => number;
}

export function openWaits(): Waits {
  const limits = new Set<() => void>();
  return {
    ports: () => ({
      sleep: (milliseconds, signal) =>
        signal === undefined
          ? Promise.resolve()
          : new Promise((resolve) => {
              const end = (): void => {
                limits.delete(end);
                resolve(undefined);
              };
              if (isOfAttempt(milliseconds)) limits.add(end);
              signal.addEventListener('abort', end);
            }),
    }),
    end(attempts) {
      if (attempts === 0 || limits.size !== attempts) return 0;
      for (const end of [...limits]) end();
      return attempts;
    },
  };
}

/** What gives a call no usable answer. */
const unusable: ReadonlySet<Meaning> = new Set([
  ...([
    'unavailable',
    'malformed',
    'invalid',
    'wrong-tenant',
    'unauthorized',
    'forbidden',
    'rejected',
  ] as const),
  ...(['not-found', 'conflict', 'refused-id'] as const),
]);

const armed = z.object({ faults: z.array(z.object({ struck: z.number() })) });

/** Sends a request while a call is late: each attempt ends once nothing but the late ones is in flight. */
async function sendLate(stack: TestStack, waits: Waits, send: Prepared['send']): Promise<Seen> {
  const sending = { isOver: false };
  const answering = send().finally(() => (sending.isOver = true));
  for (let ended = 0; !sending.isOver;) {
    const { faults } = armed.parse(await stack.control('GET', 'faults'));
    ended += waits.end((faults[0]?.struck ?? 0) - ended);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return answering;
}

interface Walked<World> {
  readonly stack: () => TestStack;
  readonly world: () => World;
  readonly waits: Waits;
  readonly rules: FaultRules;
}

/** Walks the cases of a flow: the answer under the fault, then the same request again without it. */
export function walk<World>(flow: Flow<World>, { stack, world, waits, rules }: Walked<World>): void {
  describe(nameOf(flow), () => {
    let prepare: Awaited<ReturnType<Flow<World>['open']>>;
    beforeAll(async () => {
      prepare = await flow.open(world());
      // A function that has answered once keeps its credential, which an owner may refuse.
      await (await prepare(undefined)).send();
    });
    afterEach(async () => {
      await stack().control('DELETE', 'faults');
    });
    const cases = casesOf(flow, rules);

    async function runCase({ call, fault, expected }: Case): Promise<void> {
      const { id: operation, method, service } = operations[call];
      const { send, afterFault, isRepeated, afterwards } = await prepare(call);
      await stack().fault({ operation, method, skip: flow.skip?.[call] ?? 0, ...fault.arm });
      const { result: seen, calls } = await callsDuring(stack(), () =>
        fault.arm.kind === 'latency' ? sendLate(stack(), waits, send) : send(),
      );
      expect(seen.sentence).toBe(expected);
      // A call that is late has not ended yet.
      if (fault.arm.kind !== 'latency')
        expect(calls.some((made) => made.fault === fault.arm.kind)).toBe(true);
      if (seen.isProblem) {
        expectNamed(seen, { id: operation, service });
        if (fault.arm.retryAfterSeconds !== undefined)
          expect(seen.retryAfter).toBe(String(fault.arm.retryAfterSeconds));
      }
      // What writes after a call without a usable answer is not begun.
      if (
        flow.areWritesApart !== true &&
        (seen.isProblem || method === 'POST') &&
        seen.sentence !== flow.calm &&
        unusable.has(fault.meaning)
      ) {
        const writes = callsOf(flow).filter((name) => operations[name].method === 'POST' || name === call);
        const later = writes.slice(writes.indexOf(call) + 1).map((name) => operations[name].id);
        expect(
          calls.filter((made) => later.some((id) => id === made.operation && made.method === 'POST')),
        ).toEqual([]);
      }
      await afterFault?.(seen);
      if (isRepeated?.(seen) === false) return;
      await stack().control('DELETE', 'faults');
      const last = await send();
      expect(last.sentence).toBe(flow.calm);
      await afterwards?.(last, seen);
    }

    if (flow.skip === undefined) {
      it('depends on exactly the upstream calls that it makes', async () => {
        const { send } = await prepare(undefined);
        const { result, calls } = await callsDuring(stack(), send);
        expect(result.sentence).toBe(flow.calm);
        expect(new Set(calls.map(({ method, operation }) => `${method} ${operation ?? ''}`))).toEqual(
          new Set(callsOf(flow).map((name) => `${operations[name].method} ${operations[name].id}`)),
        );
      });
      it.each(['status', 'cut', 'down', 'malformed', 'overlong_id', 'wrong_tenant', 'other_entity'] as const)(
        'is not touched by one failed try of every call: %s [MA-154, MA-155, MA-162, MA-163, MA-218]',
        async (kind) => {
          const { send } = await prepare(undefined);
          for (const name of callsOf(flow)) {
            const { id: operation, method, echo } = operations[name];
            // Another version or framework of the same entity is no odd answer, but an older or newer one.
            const [member] = Object.keys(echo).map((path) => `/${path.replaceAll('.', '/')}`);
            const armed = { operation, method, kind, ...(kind === 'other_entity' ? { member } : {}) };
            if (openFaults().arm(armed).ok && (kind !== 'other_entity' || member !== undefined))
              await stack().fault(armed);
          }
          expect((await send()).sentence).toBe(flow.calm);
          await stack().faultsStruck();
        },
      );
    }
    for (const one of cases) it(one.title, () => runCase(one));
  });
}
