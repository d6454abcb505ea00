import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as operations from '#shared/platform/operations.ts';
import { lazily } from '#test/support/lazily.ts';
import { openMaterializer, outcomeOf } from '#test/support/materialize.ts';
import type { Materialization, Written } from '#test/support/materialize.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

// What goes wrong on the way of a materialization, over the bundled functions: whatever it is, the same request brings it to its one end.

const stack = useTestStack({ bundled: true });
const materializer = lazily(() => openMaterializer(stack, 'tenant-aurora'));
let before: Written;
beforeEach(async () => {
  await stack.control('POST', 'reset');
  before = await materializer.written();
});
afterEach(() => {
  stack.awsFaults.reset();
});

/** Longer than any test: whoever meets it is still waiting when its function dies. */
const FOREVER_MS = 120_000;
const ITEMS = 10;

/** Ends what was begun: everything is there once, and stays so. */
async function endsWell(request: Materialization, operationId: string): Promise<void> {
  const found = await request.record();
  const done = await request.succeed();
  expect(done).toMatchObject({ operationId, replayed: found?.state === 'completed' });
  expect(await request.record()).toMatchObject({ state: 'completed', terminalStatus: 200, operationId });
  const { result, calls } = await callsDuring(stack, () => request.succeed());
  expect(result).toMatchObject({ operationId, replayed: true });
  expect(calls.filter(({ method }) => method === 'POST')).toEqual([]);
  expect(await materializer.written()).toEqual({
    settlements: before.settlements + 1,
    components: before.components + ITEMS,
    records: before.records + 1,
    events: before.events + 1,
  });
}

const { writeSettledComponents, emitEvent } = operations;

describe('a function that dies', () => {
  it.each([
    ['before the components are written', writeSettledComponents.id, 'POST', false, [0, 0]],
    ['after the components are written', writeSettledComponents.id, 'POST', true, [1, 0]],
    ['before the event is emitted', emitEvent.id, 'POST', false, [1, 0]],
    ['after the event is emitted', emitEvent.id, 'POST', true, [1, 1]],
    ['while it reads back', 'results.read_settled_record', 'GET', false, [1, 1]],
    ['before the last read', 'case.read_package', 'GET', false, [1, 1]],
  ] as const)(
    '%s: the repetition writes what is missing under the same names, once [RP-138, RP-220, RP-287]',
    async (_, operation, method, isAfter, [records, events]) => {
      const request = materializer.request('unsettled', { view: 'evidence' });
      // After the owner has done the work: the acknowledgement is lost, and the second try is under way.
      if (isAfter) await stack.fault({ operation, method, kind: 'lost_acknowledgement' });
      await stack.fault({ operation, method, kind: 'latency', milliseconds: FOREVER_MS });
      const answering = request.send();
      await stack.faultsStruck();
      expect(await stack.killWorkers('materializeAttemptReport')).toBe(1);
      expect(outcomeOf(await answering)).toBe('500 internal-error');
      const half = await materializer.written();
      expect([half.records - before.records, half.events - before.events]).toEqual([records, events]);
      const record = await request.record();
      expect(record).toMatchObject({ state: 'started' });
      await request.endLease();
      await endsWell(request, record?.operationId ?? '');
    },
  );
});
