import { afterAll, beforeAll } from 'vitest';
import { startTestStack } from '#test/support/stack.ts';
import { openReportsWorld, reportsExceptions, reportsFlows } from './faults-reports.ts';
import type { ReportsWorld } from './faults-reports.ts';
import { openWaits, walk } from './faults-walk.ts';

// Every fault of every upstream call of the routes of the reports service, over the functions in this process.

const waits = openWaits();
let world: ReportsWorld;
beforeAll(async () => {
  world = await openReportsWorld(await startTestStack({ inProcess: waits.ports }));
});
afterAll(async () => {
  world.close();
  await world.stack.close();
});

for (const flow of reportsFlows)
  walk(flow, { stack: () => world.stack, world: () => world, waits, exceptions: reportsExceptions });
