import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { analysisOf, analyzed, readRun } from '#test/support/analyses.ts';
import type { Analysis } from '#test/support/analyses.ts';
import { openControlRecords } from '#test/support/control-records.ts';
import type { ControlRecords } from '#test/support/control-records.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { ALWAYS } from '#test/lemmas/faults.ts';

// What an analysis and a run answer when one of their reads goes wrong, over whole functions, and that nothing of it stays.

let stack: TestStack;
let control: ControlRecords;
let runs: ImprovementRuns;
beforeAll(async () => {
  stack = await startTestStack();
  control = openControlRecords(stack);
  runs = openImprovementRuns(stack, TENANT);
});
beforeEach(() => stack.control('POST', 'reset'));
afterEach(async () => {
  await stack.control('DELETE', 'faults');
  stack.improvement.resume();
  await stack.improvement.settled();
});
afterAll(async () => {
  runs.close();
  control.close();
  await stack.close();
});

const TENANT = 'tenant-aurora';
const administrationId = (): string => runs.administration('spring-gate');
const request = (): Analysis => analysisOf({ caller: runs.caller, control }, TENANT, administrationId());
/** Whom the administration does not name itself: its owner is asked too. */
const byClass = (): GatewayCall => ({ claims: { classSourcedIds: runs.caller.fixtures(TENANT).classes } });

const unavailable = (owner: string): string => `503 dependency-unavailable ${owner}`;
const incomplete = (owner: string): string => `503 dependency-incomplete ${owner}`;

it('an analysis asks again for artifacts that Analytics names and does not hold: it may be replacing them [RP-160]', async () => {
  stack.improvement.pause();
  const { id: operation } = operations.readAnalysisArtifact;
  await stack.fault({ operation, kind: 'status', status: 404, times: 4 });
  expect(reportsAnswerOf(await request().send())).toBe('200');
  await stack.faultsStruck();
});

describe('a run', () => {
  let complete = '';
  const read = (improvementRunId = complete) => readRun(runs.caller, improvementRunId, byClass());
  beforeAll(async () => {
    complete = (await request().succeed()).run.improvementRunId;
    await stack.improvement.settled();
  });
  it('of which all evidence is shown amiss once is read a second time [RP-268]', async () => {
    for (const { id: operation } of [operations.readAlignmentSources, operations.readAnalysisArtifact])
      await stack.fault({
        operation,
        kind: 'status',
        status: 404,
        times: operation === operations.readAlignmentSources.id ? 1 : 4,
      });
    expect(reportsAnswerOf(await read())).toBe('200');
    await stack.faultsStruck();
  });

  /** The artifact of one of its metrics, as Analytics holds it. */
  const artifactOf = (metric: RunMetric) =>
    stack.seededTenants
      .get(TENANT)!
      .platform.reports.analysisArtifacts.find(
        (held) =>
          held.kind === 'metric' && held.metric === metric && held.administrationId === administrationId(),
      )!;
  const change = (entity: string, id: string, pointer: string, value: unknown) =>
    stack.control('PATCH', 'entities', { tenantId: TENANT, entity, id, changes: [{ pointer, value }] });

  it('of which an artifact has other bytes than it was pinned with, or another’s ids, is 503 of its owner; a repetition of its analysis too [RP-154, RP-268, RP-293]', async () => {
    const asked = request();
    const { run: own } = await asked.succeed();
    await stack.improvement.settled();
    const { artifactRef } = artifactOf('form_summary');
    const { contentTestSpecId } = own;
    const changes = [
      ['analytics.artifact', artifactRef, '/populationCount', 25, 'analytics'],
      ['analytics.artifact', artifactRef, '/metric', 'item_difficulty', 'analytics'],
      ['analytics.artifact', artifactRef, '/administrationId', 'another', 'analytics'],
      ['content.alignment_sources', contentTestSpecId, '/sources/0/sourceVersion', 'later', 'blueprint'],
      ['content.alignment_sources', contentTestSpecId, '/testSpecVersion', 'later', 'blueprint'],
    ] as const;
    for (const [entity, id, pointer, value, owner] of changes) {
      await change(entity, id, pointer, value);
      expect([pointer, reportsAnswerOf(await read(own.improvementRunId))]).toEqual([
        pointer,
        incomplete(owner),
      ]);
      expect([pointer, reportsAnswerOf(await asked.send())]).toEqual([pointer, incomplete(owner)]);
      await stack.control('POST', 'reset');
      expect(reportsAnswerOf(await read(own.improvementRunId))).toBe('200');
    }
  });

  it('that has failed for its evidence can still be read, and claims nothing of what is lost [RP-145, RP-154, RP-155, RP-158, RP-166]', async () => {
    stack.improvement.pause();
    const asked = request();
    const { run: begun } = await asked.succeed();
    const { artifactRef } = artifactOf('item_difficulty');
    await change('analytics.artifact', artifactRef, '/populationCount', 25);
    stack.improvement.resume();
    await stack.improvement.settled();
    for (const reply of [await read(begun.improvementRunId), await asked.send()]) {
      const { run: failed } = analyzed(reply);
      expect(failed).toMatchObject({
        improvementRunId: begun.improvementRunId,
        status: 'failed',
        receipt: null,
        omissions: ['item_difficulty'],
      });
      expect(failed.completedAt).not.toBeNull();
      expect(failed.metricStatuses.map(({ status }) => status)).toEqual([
        'unknown',
        'available',
        'available',
        'available',
      ]);
      expect(failed.metricStatuses[0]).toMatchObject({
        artifactRef,
        populationCount: null,
        sampleCount: null,
        reasonCode: 'owner_artifact_missing',
      });
      expect(failed.sources).toContainEqual(
        expect.objectContaining({ service: 'analytics', resourceId: artifactRef, status: 'unavailable' }),
      );
    }
    // An owner that does not answer is another matter: what it holds is not lost.
    await stack.fault({ operation: operations.readAnalysisArtifact.id, kind: 'down', times: ALWAYS });
    expect(reportsAnswerOf(await read(begun.improvementRunId))).toBe(unavailable('analytics'));
  });
});
