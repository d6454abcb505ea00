import { afterAll, beforeAll } from 'vitest';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import { masteryExceptions, masteryFlows } from './faults-mastery.ts';
import type { MasteryWorld } from './faults-mastery.ts';
import { openWaits, walk } from './faults-walk.ts';

// Every fault of every upstream call of the mastery engine's routes, over the functions in this process.

const waits = openWaits();
let world: MasteryWorld;
beforeAll(async () => {
  const stack = await startTestStack({ inProcess: waits.ports });
  world = { stack, runs: openAdaptiveRuns(stack) };
});
afterAll(async () => {
  world.runs.close();
  await world.stack.close();
});

for (const flow of masteryFlows)
  walk(flow, { stack: () => world.stack, world: () => world, waits, exceptions: masteryExceptions });
