import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { analyzeAdministration, readImprovementRun } from '#shared/contract/reports/routes.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { analysisOf, analyzed, readRun } from '#test/support/analyses.ts';
import type { Analysis } from '#test/support/analyses.ts';
import { openControlRecords } from '#test/support/control-records.ts';
import type { ControlRecords } from '#test/support/control-records.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { ALWAYS, casesOf, columnsDemanded, rowsOf } from './fault-table.ts';
import type { Arm, FaultCase, RulesByAnswer, Subject } from './fault-table.ts';

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

type Table = Subject['table'];

const unavailable = (owner: string): string => `503 dependency-unavailable ${owner}`;
const incomplete = (owner: string): string => `503 dependency-incomplete ${owner}`;
const hidden = '404 not-found';
const conflict = '409 source-version-conflict analytics';

/** No usable answer of an owner, whatever kind of none. */
const none = (owner: string, answer = unavailable(owner)) => ({
  silent: answer,
  malformed: answer,
  401: answer,
  409: answer,
  wrong_tenant: answer,
  other_entity: answer,
});
/** Only a 404 says that the owner has nothing under an id of its own; what else it refuses, it may give later. */
const gone = (owner: string, absent: string, answer = unavailable(owner)) => ({
  403: answer,
  404: absent,
  422: answer,
});
const versions = (once: string, always = once) => ({ version_drift: once, always_version_drift: always });
const editions = (once: string, always = once) => ({ stale: once, always_stale: always });
/** Bytes that are not the pinned ones: the owner is asked once more. */
const bytes = (always: string) => ({
  ...versions('200', always),
  ...editions('200', always),
  other_entity: always,
});

const scope = {
  ...none('unknown'),
  ...{ 403: unavailable('unknown'), 404: hidden, 422: hidden },
  wrong_tenant: hidden,
  other_entity: unavailable('unknown'),
  ...versions('200'),
  ...editions(incomplete('unknown')),
};

const WITHOUT_METRICS =
  '200, without item_difficulty item_discrimination distractor_distribution form_summary';

const analysis: Table = {
  readAdministration: scope,
  readAlignmentSources: {
    ...none('blueprint'),
    ...gone('blueprint', incomplete('blueprint')),
    // Whichever bytes it gives are the ones that are pinned.
    ...versions('200'),
    ...editions('200'),
  },
  readAdministrationAnalysis: {
    ...none('analytics'),
    ...gone('analytics', incomplete('analytics')),
    ...versions('200'),
    ...editions(incomplete('analytics')),
    other_entity: { '/administrationId': unavailable('analytics'), '/contentTestSpecId': conflict },
  },
  readAnalysisArtifact: {
    // Analytics names artifacts that it does not hold or show: then the metrics are not available.
    ...none('analytics', WITHOUT_METRICS),
    ...gone('analytics', WITHOUT_METRICS, WITHOUT_METRICS),
    ...bytes(conflict),
  },
};

const run: Table = {
  readAlignmentSources: {
    ...none('blueprint'),
    ...gone('blueprint', incomplete('blueprint')),
    ...bytes(incomplete('blueprint')),
  },
  readAnalysisArtifact: {
    ...none('analytics'),
    ...gone('analytics', incomplete('analytics')),
    ...bytes(incomplete('analytics')),
  },
};

/** An answer in one line: of a run also the metrics that it goes without. */
function sentenceOf(reply: GatewayReply): string {
  const sentence = reportsAnswerOf(reply);
  if (reply.status === 200) {
    const { metricStatuses } = analyzed(reply).run;
    const without = metricStatuses.filter(({ status }) => status !== 'available');
    return without.length === 0 ? sentence : `200, without ${without.map(({ metric }) => metric).join(' ')}`;
  }
  const { retryable } = reportsProblemOf(reply);
  expect([sentence, retryable]).toEqual([sentence, reply.status !== 404]);
  expect([sentence, reply.headers.has('retry-after')]).toEqual([sentence, retryable]);
  for (const word of [administrationId(), TENANT, 'injected', new URL(stack.urls.platformUrl).host])
    expect(reply.text).not.toContain(word);
  return sentence;
}

/** Asks while a fault is armed, and lifts it. */
async function askUnder(target: FaultCase['target'], arm: Arm, ask: () => Promise<GatewayReply>) {
  await stack.fault({ ...target, ...arm });
  const reply = await ask();
  await stack.control('DELETE', 'faults');
  return reply;
}

function itHasARowForEveryRead(table: Table, ask: () => Promise<GatewayReply>): void {
  it('has a row for every read that it makes, and in it a column for every fault that the read can have', async () => {
    stack.improvement.pause();
    const { calls } = await callsDuring(stack, ask);
    const made = new Set(calls.map(({ operation, method }) => `${method} ${operation ?? ''}`));
    const rows = rowsOf(table);
    expect(new Set(rows.map(([name]) => `${operations[name].method} ${operations[name].id}`))).toEqual(made);
    for (const [name, row] of rows) expect(new Set(Object.keys(row))).toEqual(columnsDemanded(name));
  });
}

const nothing: Pick<Subject, 'call'> = { call: () => ({}) };
const problems = 'RP-017, RP-265, RP-324, RP-328, RP-334';

describe('an analysis', () => {
  const rules: RulesByAnswer = [
    ['200, without', 'RP-160, RP-165'],
    ['200', 'RP-259'],
    ['404', 'RP-261, RP-316'],
    ['409', 'RP-264, RP-333'],
    ['503', problems],
  ];
  itHasARowForEveryRead(analysis, () => request().send(byClass()));

  for (const { title, target, arms, expected } of casesOf(
    { ...nothing, route: analyzeAdministration, table: analysis },
    rules,
  ))
    it(title, async () => {
      stack.improvement.pause();
      for (const arm of arms) {
        const asked = request();
        const reply = await askUnder(target, arm, () => asked.send(byClass()));
        expect([arm, sentenceOf(reply)]).toEqual([arm, expected]);
        if (reply.status !== 200 && arm.retryAfterSeconds !== undefined)
          expect(reply.headers.get('retry-after')).toBe(String(arm.retryAfterSeconds));
        const begun = await asked.record();
        // The work of what was answered a retryable problem after it had begun goes on with the next request.
        if (begun !== undefined) expect(begun.state).toBe(reply.status === 200 ? 'completed' : 'started');
        if (reply.status === 200 || arm !== arms[0]) continue;
        const { run: again, replayed } = await asked.succeed(byClass());
        expect([again.status, replayed]).toEqual(['queued', false]);
      }
    });
});

it('an analysis asks again for artifacts that Analytics names and does not hold: it may be replacing them [RP-160]', async () => {
  stack.improvement.pause();
  const { id: operation } = operations.readAnalysisArtifact;
  await stack.fault({ operation, kind: 'status', status: 404, times: 4 });
  expect(sentenceOf(await request().send())).toBe('200');
  await stack.faultsStruck();
});

describe('a run', () => {
  const rules: RulesByAnswer = [
    ['200', 'RP-266'],
    ['503 dependency-incomplete', 'RP-154, RP-268, RP-324, RP-328, RP-334'],
    ['503', 'RP-017, RP-268, RP-324, RP-328, RP-334'],
  ];
  let complete = '';
  const read = (improvementRunId = complete) => readRun(runs.caller, improvementRunId, byClass());
  beforeAll(async () => {
    complete = (await request().succeed()).run.improvementRunId;
    await stack.improvement.settled();
  });
  itHasARowForEveryRead(run, read);

  for (const { title, target, arms, expected } of casesOf(
    { ...nothing, route: readImprovementRun, table: run },
    rules,
  ))
    it(title, async () => {
      for (const arm of arms)
        expect([arm, sentenceOf(await askUnder(target, arm, read))]).toEqual([arm, expected]);
      expect(analyzed(await read()).run.status).toBe('completed');
    });

  it('of which all evidence is shown amiss once is read a second time [RP-268]', async () => {
    for (const { id: operation } of [operations.readAlignmentSources, operations.readAnalysisArtifact])
      await stack.fault({
        operation,
        kind: 'status',
        status: 404,
        times: operation === operations.readAlignmentSources.id ? 1 : 4,
      });
    expect(sentenceOf(await read())).toBe('200');
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
      expect([pointer, sentenceOf(await read(own.improvementRunId))]).toEqual([pointer, incomplete(owner)]);
      expect([pointer, sentenceOf(await asked.send())]).toEqual([pointer, incomplete(owner)]);
      await stack.control('POST', 'reset');
      expect(sentenceOf(await read(own.improvementRunId))).toBe('200');
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
    expect(sentenceOf(await read(begun.improvementRunId))).toBe(unavailable('analytics'));
  });
});
