import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { routes } from '#shared/contract/routes.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { ALWAYS, rowsOf, subjects } from './fault-table.ts';
import type { Subject } from './fault-table.ts';
import { openReads, somebody } from './sound-reads.ts';
import type { Reads } from './sound-reads.ts';

/** Much shorter than the functions have, and longer than any of them needs. */
const TIMEOUT_SECONDS = 5;
/** Beyond every time limit. */
const LATE_MS = 30_000;

let stack: TestStack;
const reads = new Map<Subject, Reads>();
beforeAll(async () => {
  stack = await startTestStack({
    bundled: asBuilt,
    routes: routes.map((route) => ({
      ...route,
      lambda: { ...route.lambda, timeoutSeconds: TIMEOUT_SECONDS },
    })),
  });
  const caller = openReportsCaller(stack);
  // A cold start may take all of that.
  for (const subject of subjects)
    await vi.waitFor(async () => reads.set(subject, await openReads(stack, caller, subject)), 20_000);
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(() => stack.close());

type CallName = ReturnType<typeof rowsOf>[number][0];
const readsOf = ({ table }: Subject): readonly CallName[] => rowsOf(table).map(([name]) => name);

/** Every read of every route, in as few groups as no route makes two reads of: one group can be late in one wait. */
function groups(): readonly (readonly CallName[])[] {
  const made: CallName[][] = [];
  for (const name of new Set(subjects.flatMap(readsOf))) {
    const users = subjects.filter((subject) => readsOf(subject).includes(name));
    const isFree = (group: readonly CallName[]): boolean =>
      users.every((subject) => !readsOf(subject).some((other) => group.includes(other)));
    const free = made.find(isFree);
    if (free === undefined) made.push([name]);
    else free.push(name);
  }
  return made;
}

describe('an owner that does not answer in time', () => {
  for (const late of groups()) {
    const rule = late.includes('readEvidenceAck') ? 'RP-071' : 'RP-017';
    it(`is answered like one that is down, before the function has to end: ${late.join(', ')} [${rule}]`, async () => {
      for (const name of late) {
        const { id: operation, method } = operations[name];
        await stack.fault({ operation, method, kind: 'latency', milliseconds: LATE_MS, times: ALWAYS });
      }
      const concerned = subjects.flatMap((subject) =>
        rowsOf(subject.table)
          .filter(([name]) => late.includes(name))
          .map(([, { silent }]) => ({ subject, expected: silent })),
      );
      expect(concerned.length).toBeGreaterThan(0);
      const answers = await Promise.all(
        concerned.map(async ({ subject }) => [
          subject.route.operationId,
          await reads.get(subject)?.ask(somebody()),
        ]),
      );
      expect(answers).toEqual(
        concerned.map(({ subject, expected }) => [subject.route.operationId, expected]),
      );
      await stack.control('DELETE', 'faults');
      for (const { subject } of concerned) expect(await reads.get(subject)?.ask(somebody())).toBe('200');
    });
  }
});
