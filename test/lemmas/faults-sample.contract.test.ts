import { afterAll, beforeAll, expect, it } from 'vitest';
import { routes } from '#shared/contract/routes.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns } from '#test/support/adaptive-run.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { masteryExceptions, masteryFlows } from './faults-mastery.ts';
import { openReportsWorld, reportsExceptions, reportsFlows } from './faults-reports.ts';
import type { ReportsWorld } from './faults-reports.ts';
import { walk } from './faults-walk.ts';
import type { Case } from './faults-walk.ts';

// A sample of the faults over the bundles that deploy, on threads of their own: the same in every run.

const SEED = 'one';
const CASES_PER_FLOW = 2;

/** Some cases of a flow; without those that take as long as a time limit. */
function sampleOf(cases: readonly Case[]): readonly Case[] {
  const draw = ({ title }: Case): string => sha256Hex(`${SEED} ${title}`);
  return cases
    .filter(({ fault }) => fault.arm.kind !== 'latency')
    .toSorted((a, b) => (draw(a) < draw(b) ? -1 : 1))
    .slice(0, CASES_PER_FLOW);
}

let stack: TestStack;
let runs: AdaptiveRuns;
let reports: ReportsWorld;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  runs = openAdaptiveRuns(stack);
  reports = await openReportsWorld(stack);
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

it('has a flow for every route that calls an owner', () => {
  const walked = [...masteryFlows, ...reportsFlows].map(({ route }) => route.operationId);
  const calling = routes.filter(({ budget }) => budget.calls > 0).map(({ operationId }) => operationId);
  expect(new Set(walked)).toEqual(new Set(calling));
});

for (const flow of masteryFlows)
  walk(flow, {
    stack: () => stack,
    world: () => ({ stack, runs }),
    exceptions: masteryExceptions,
    choose: sampleOf,
  });
for (const flow of reportsFlows)
  walk(flow, { stack: () => stack, world: () => reports, exceptions: reportsExceptions, choose: sampleOf });
