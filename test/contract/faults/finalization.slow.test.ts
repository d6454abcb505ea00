import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#shared/platform/all-operations.ts';
import { TIMED_BANK, openAdaptiveRuns, runOf, sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven, RunRequest } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { TRIES, casesOf, expectComplete, expectNames, incomplete, refusedResult } from './fault-table.ts';
import type { CallName, FaultRow, FaultTable, RulesByStatus } from './fault-table.ts';

let stack: TestStack;
let runs: AdaptiveRuns;
/** A learner's run and a conformance run whose time was over with their first answer: the next advance finalizes. */
let learner: { readonly started: RunGiven; readonly played: RunGiven };
let conformance: { readonly started: RunGiven; readonly played: RunGiven };
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack);
  learner = await playedOut('production_learner');
  conformance = await playedOut('owner_conformance');
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

async function playedOut(
  mode: 'production_learner' | 'owner_conformance',
): Promise<{ readonly started: RunGiven; readonly played: RunGiven }> {
  const started = await runs.start(runs.startBody({ bank: TIMED_BANK, mode })).sendForRun();
  // The budget of the timed bank is over then, by QTI's clock.
  await stack.control('POST', 'clock', { advanceSeconds: 60 });
  return { started, played: await runs.playAndInspect(started.body) };
}

function finalizing({ started, played } = learner): RunRequest {
  return runs.advance(started.body.continuationToken, played.etag);
}

const completed = '200 completed reportable';
const waiting = '200 finalizing reportable';
/** Results and Caliper: a silent owner leaves the run waiting, one that refuses or acknowledges something else is named. */
const refusals = (service: string): Pick<FaultRow, 'malformed' | 401 | 404 | 409 | 422> => ({
  malformed: incomplete(service),
  401: incomplete('platform_auth'),
  404: incomplete(service),
  409: incomplete(service),
  422: incomplete(service),
});
const eventTable: FaultTable = {
  // Caliper acknowledges by the status alone; the event is proven by its read-back.
  emitEvent: { silent: waiting, ...refusals('caliper'), malformed: completed },
  readEvidenceAck: {
    silent: waiting,
    ...refusals('caliper'),
    wrong_tenant: incomplete('caliper'),
    other_entity: incomplete('caliper'),
    // Caliper has taken the event and does not show it yet.
    stale: waiting,
    404: waiting,
  },
};
const refusedForGood = { 403: refusedResult, 404: refusedResult, 409: refusedResult, 422: refusedResult };
/** What Results says of something else acknowledges nothing. */
const unacknowledged = { wrong_tenant: incomplete('results'), other_entity: incomplete('results') };
const table: FaultTable = {
  writeResultRecord: { silent: waiting, ...refusals('results'), ...refusedForGood, ...unacknowledged },
  writeKcComponents: { silent: waiting, ...refusals('results'), ...refusedForGood, ...unacknowledged },
  ...eventTable,
};
const rules: RulesByStatus = {
  200: 'MA-085, MA-086, MA-138, MA-202',
  424: 'MA-138, MA-169, MA-202',
};

describe('finalization of a learner’s run, one upstream operation at a time', () => {
  it('has a row for every operation that comes after the reads, and every distortion', async () => {
    await runs.takeCalls();
    await finalizing().sendForRun();
    const ids = (await runs.takeCalls()).map(({ operation }) => operation);
    const last = ids.indexOf(operations.writeResultRecord.id);
    expect(ids.slice(last)).toEqual([
      'results.write_result_record',
      'results.write_kc_components',
      'caliper.emit_completion_or_simulation',
      'caliper.read_evidence_ack',
    ]);
    expectComplete(table, new Set(ids.slice(last)));
  });

  for (const { call, title, arm, expected } of casesOf(table, rules)) {
    it(title, async () => {
      const advance = finalizing();
      await runs.takeCalls();
      await stack.fault(arm);
      const reply = await advance.send();
      expect(sentenceOf(reply)).toBe(expected);
      const asked = (await runs.takeCalls()).map(({ operation }) => operation);
      if (reply.kind === 'run' && reply.body.status === 'completed') {
        await expectCompleted(reply);
        return;
      }
      // What comes after the failed step is not begun: no event before Results has acknowledged everything.
      const order = Object.keys(table) as CallName[];
      for (const later of order.slice(order.indexOf(call) + 1))
        expect(asked).not.toContain(operations[later].id);
      expect(reply.body).not.toHaveProperty('resultRecordRef');
      expect(reply.body).not.toHaveProperty('caliperEventRef');
      if (reply.kind === 'run')
        expect(reply.body).toMatchObject({ offeredItem: null, stopReason: 'time_budget' });
      else expectNames(reply, call);

      await stack.control('DELETE', 'faults');
      await expectCompleted(await advance.sendForRun());
      if (reply.kind === 'problem') return;
      // The waiting run goes on from its own token too, and ends as the same run.
      const next = runs.advance(reply.body.continuationToken, reply.etag);
      await expectCompleted(await next.sendForRun());
    });
  }

  it('takes no record id of more than 1,024 bytes for an acknowledgement [MA-033, MA-169]', async () => {
    const advance = finalizing();
    await stack.fault({ operation: 'results.write_result_record', kind: 'overlong_id' });
    expect(sentenceOf(await advance.send())).toBe(incomplete('results'));
    await expectCompleted(await advance.sendForRun());
  });

  it('counts in the log what Results has refused, and nothing that time may mend [MA-169, MA-219]', async () => {
    const refusals = () =>
      stack.logs().filter(({ line }) => JSON.stringify(line).includes('"FINALIZATION_REFUSED"')).length;
    for (const [status, counted] of [
      [422, 1],
      [503, 0],
      [401, 0],
    ]) {
      const before = refusals();
      await stack.fault({ operation: 'results.write_result_record', kind: 'status', status, times: TRIES });
      await finalizing().send();
      await stack.control('DELETE', 'faults');
      expect(refusals() - before).toBe(counted);
    }
  });

  it('names one record and one event in the end, whatever went wrong on the way [MA-190, MA-202]', async () => {
    const own = await playedOut('production_learner');
    const before = (await runs.state()).counts;
    const advance = finalizing(own);
    for (const name of Object.keys(table) as CallName[]) {
      const { id: operation, method } = operations[name];
      // Each write is done and its acknowledgement lost, in every try of one request.
      const kind = method === 'POST' ? 'lost_acknowledgement' : 'cut';
      await stack.fault({ operation, method, kind, times: TRIES });
      expect(sentenceOf(await advance.send())).toBe(waiting);
      await stack.faultsStruck();
    }
    await expectCompleted(await advance.sendForRun());
    const { counts } = await runs.state();
    expect(counts['results.record']).toBe(before['results.record']! + 1);
    expect(counts['caliper.event']).toBe(before['caliper.event']! + 1);
  });

  it('goes on after one failed try of every write and read-back [MA-218]', async () => {
    for (const name of Object.keys(table) as CallName[]) {
      const { id: operation, method } = operations[name];
      await stack.fault({ operation, method, kind: 'status', status: 503 });
    }
    await expectCompleted(await finalizing().sendForRun());
    await stack.faultsStruck();
  });

  /** Completed, and its references are what the owners themselves hold. */
  async function expectCompleted({ body }: RunGiven): Promise<void> {
    expect(body).toMatchObject({ status: 'completed', scaleReportability: 'reportable' });
    const { entities } = await runs.state();
    expect(entities['caliper.event']).toHaveProperty([body.caliperEventRef!]);
    const record = entities['results.record']![body.resultRecordRef!] as { components: object[] };
    expect(record.components).toHaveLength(body.kcClassifications.length);
  }
});

describe('finalization of a conformance run', () => {
  for (const { title, arm, expected } of casesOf(eventTable, {
    200: 'MA-013, MA-139',
    424: 'MA-013, MA-139, MA-169',
  })) {
    it(title, async () => {
      const advance = finalizing(conformance);
      await runs.takeCalls();
      await stack.fault(arm);
      expect(sentenceOf(await advance.send())).toBe(expected);
      await stack.control('DELETE', 'faults');
      const { body } = await advance.sendForRun();
      expect(body.status).toBe('completed');
      expect(body).not.toHaveProperty('resultRecordRef');
      const asked = (await runs.takeCalls()).map(({ operation }) => operation);
      expect(asked.filter((operation) => operation?.startsWith('results.'))).toEqual([]);
    });
  }
});

describe('inspecting a run that waits for Caliper', () => {
  const proof: FaultTable = {
    readEvidenceAck: {
      silent: waiting,
      malformed: waiting,
      wrong_tenant: waiting,
      other_entity: waiting,
      stale: waiting,
      401: waiting,
      404: waiting,
      409: waiting,
      422: waiting,
    },
  };

  for (const { title, arm, expected } of casesOf(proof, { 200: 'MA-086, MA-140' })) {
    it(title, async () => {
      await stack.fault({ operation: 'caliper.read_evidence_ack', kind: 'down', times: TRIES });
      const { body } = runOf(await finalizing().send());
      await stack.faultsStruck();
      const inspect = runs.inspect(body.continuationToken);
      await stack.fault(arm);
      await runs.takeCalls();
      const reply = await inspect.send();
      expect(sentenceOf(reply)).toBe(expected);
      expect(reply.body).not.toHaveProperty('caliperEventRef');
      await stack.control('DELETE', 'faults');
      expect(sentenceOf(await inspect.send())).toBe('200 completed reportable');
      expect((await runs.takeCalls()).every(({ method }) => method === 'GET')).toBe(true);
    });
  }

  it('is not convinced by an event of that id with other content [MA-038]', async () => {
    await stack.fault({ operation: 'caliper.read_evidence_ack', kind: 'down', times: TRIES });
    const { body, etag } = runOf(await finalizing().send());
    const completedRun = await runs.advance(body.continuationToken, etag).sendForRun();
    const undo = await runs.change({
      entity: 'caliper.event',
      id: completedRun.body.caliperEventRef!,
      changes: [{ pointer: '/generated/scoreGiven', value: 1 }],
    });
    const inspect = runs.inspect(body.continuationToken);
    expect(sentenceOf(await inspect.send())).toBe(waiting);
    const advance = runs.advance(body.continuationToken, etag);
    expect(sentenceOf(await advance.send())).toBe(incomplete('caliper'));
    await undo();
    expect(sentenceOf(await inspect.send())).toBe(completed);
    expect(sentenceOf(await advance.send())).toBe(completed);
  });
});
