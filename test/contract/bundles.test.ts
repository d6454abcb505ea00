import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { analyzeRun, readReceipt, sweepRuns } from '#shared/contract/background.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import type { DeployedFunction } from '#shared/contract/functions.ts';
import * as mastery from '#shared/contract/mastery/routes.ts';
import { improvementRun } from '#shared/contract/reports/improvement-run.ts';
import * as reports from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { serveSandbox } from '#shared/contract/sandbox.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven } from '#test/support/adaptive-run.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { callMastery } from '#test/support/mastery-call.ts';
import { openMaterializer } from '#test/support/materialize.ts';
import type { Materializer } from '#test/support/materialize.ts';
import { simulationBody } from '#test/support/score-recovery.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// The other contract tests run the sources in their own process. Here each function is the bundle that deploys, on a thread of its own, and has to
// do its work once.

const TENANT = 'tenant-aurora';

let stack: TestStack;
let runs: AdaptiveRuns;
let started: RunGiven;
let improvement: ImprovementRuns;
let materializer: Materializer;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  runs = openAdaptiveRuns(stack);
  started = await runs.start().sendForRun();
  improvement = openImprovementRuns(stack);
  materializer = openMaterializer(stack, TENANT);
});
afterAll(async () => {
  runs.close();
  improvement.close();
  materializer.control.close();
  await stack.close();
});

/** A request of each route that is served. */
async function good(route: Route): Promise<GatewayCall> {
  const body = runs.startBody() as Readonly<Record<string, string>>;
  const { continuationToken } = started.body;
  const { attempts, candidates, classes, schools, forms } = improvement.caller.fixtures(TENANT);
  const [administration = ''] = improvement.caller.fixtures(TENANT).administrations;
  const completed = async (): Promise<string> => {
    const { improvementRunId } = await improvement.analyze(administration);
    await stack.improvement.settled();
    return improvementRunId;
  };
  switch (route) {
    case mastery.startAdaptiveRun:
      return { body };
    case mastery.inspectAdaptiveRun:
      return { body: { continuationToken } };
    case mastery.advanceAdaptiveRun: {
      const { etag } = await runs.playAndInspect(started.body);
      return { body: { continuationToken }, ifMatch: etag };
    }
    case mastery.readSelectionPolicy:
      return { path: { policyId: body['selectionPolicyId']! } };
    case mastery.readScaleCalibration:
      return { path: { calibrationId: body['scaleCalibrationId']! } };
    case mastery.simulateScoreRecovery:
      return { body: simulationBody(stack) };
    case reports.readAttemptReport:
    case reports.readReadiness:
      return { path: { attemptId: attempts.gatePass } };
    case reports.listCandidateReports:
      return { path: { candidateSourcedId: Object.values(candidates)[0]! } };
    case reports.readClassCohort:
      return { path: { classSourcedId: classes[0]! } };
    case reports.readSchoolGradeCohort:
      return { path: schools[0]! };
    case reports.readEquivalence:
      return { path: { qtiTestId: Object.values(forms)[0]! } };
    case reports.materializeAttemptReport:
      return { body: materializer.body('gatePass') };
    case reports.analyzeAdministration:
      return { path: { administrationId: administration } };
    case reports.readImprovementRun:
    case reports.listRevisionOrders:
      return { path: { improvementRunId: await completed() } };
    case reports.readAlignmentReport: {
      const improvementRunId = await completed();
      const { sourceKeys } = await improvement.read({ tenantId: TENANT, improvementRunId });
      return { path: { improvementRunId, sourceKey: sourceKeys[0]! } };
    }
    default:
      throw new Error(`${route.operationId} has no request here`);
  }
}

/** The functions that are called in another way, and the test that does. */
const others: readonly DeployedFunction[] = [
  // Below.
  analyzeRun,
  sweepRuns,
  readReceipt,
  // test/contract/sandbox.test.ts
  serveSandbox,
];
const routes = deployedFunctions.filter((row) => !others.includes(row)) as readonly Route[];

describe('the bundle', () => {
  it.each(routes.map((route) => [route.operationId, route] as const))(
    'of %s serves a request',
    async (_, route) => {
      const call = await good(route);
      const reply =
        route.service === 'mastery'
          ? await callMastery(stack, route, call)
          : await improvement.caller.call(route, call);
      expect([reply.status, reply.text]).toEqual([route.success.status, expect.any(String)]);
      expect(route.success.schema.safeParse(JSON.parse(reply.text)).error?.issues ?? []).toEqual([]);
    },
  );

  it('of the worker, the sweeper and the receipts do theirs: a run is left alone, swept, worked on, and its receipt read', async () => {
    const { administration, analyze, leaveAlone, read } = improvement;
    stack.improvement.pause();
    const run = await analyze(administration('spring-gate'));
    await stack.improvement.settled();
    await leaveAlone(run);
    stack.improvement.resume();
    await stack.improvement.sweep();
    await stack.improvement.settled();
    const { status, receipt } = improvementRun.parse(await read(run));
    expect(status).toMatch(/^completed/);
    const response = await fetch(receipt?.downloadUrl ?? '');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(receipt?.sha256);
    const written = new Set(stack.logs().map(({ function: name }) => name));
    for (const { operationId } of [analyzeRun, sweepRuns, readReceipt])
      expect(written, operationId).toContain(operationId);
  });
});
