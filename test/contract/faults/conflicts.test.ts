import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  linesOf,
  openAdaptiveRuns,
  receiptOf,
  sentenceOf,
  sessionOf,
  useAdaptiveRuns,
} from '#test/support/adaptive-run.ts';
import type { OwnerChange, RunGiven } from '#test/support/adaptive-run.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { startTestStack, useTestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

const { conflict } = kinds;

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});

type Change = OwnerChange['changes'][number];

/** Changes the session of a run's offered item as QTI would. */
const changeSession = (run: RunGiven, ...changes: readonly Change[]) =>
  runs.change({ entity: 'qti.session', id: sessionOf(run), changes });

interface HeldSession {
  readonly createdAt: string;
  readonly attempts: readonly {
    readonly attemptId: string;
    readonly scoredAt: string;
    readonly processingTrace: { readonly traceRef: string };
  }[];
}
async function heldSession(run: RunGiven): Promise<HeldSession> {
  const { entities } = await runs.state();
  return (entities['qti.session']![sessionOf(run)] as { readonly session: HeldSession }).session;
}

describe('the outcomes that QTI holds', () => {
  it.each(['.1234567891Z', '+00:00', `.${'3'.repeat(30)}+00:00`])(
    'are taken at every UTC instant of RFC 3339: %s, from the session to the record [MA-042]',
    async (ending) => {
      let { second: run } = await runs.underWay();
      while (run.body.offeredItem !== null) {
        await runs.play(run.body);
        const { createdAt, attempts } = await heldSession(run);
        const rewritten = (pointer: string, time: string): Change => ({
          pointer,
          value: time.slice(0, 19) + ending,
        });
        await changeSession(
          run,
          rewritten('/session/createdAt', createdAt),
          rewritten('/session/attempts/0/scoredAt', attempts[0]!.scoredAt),
        );
        const { etag } = await runs.inspect(run.body.continuationToken).sendForRun();
        run = await runs.advance(run.body.continuationToken, etag).sendForRun();
      }
      expect(run.body.status).toBe('completed');
    },
  );

  it.each<[string, Change]>([
    ['has not completed', { pointer: '/session/attempts/0/processingTrace/status', value: 'running' }],
    ['shows no processing of', { pointer: '/session/attempts/0/processingTrace' }],
  ])(
    'are not consumed while QTI %s the attempt, and change the tag once they are durable [MA-030, MA-048]',
    async (_, open) => {
      const { second: run } = await runs.underWay();
      await runs.play(run.body);
      const undo = await changeSession(run, open);
      const before = await runs.inspect(run.body.continuationToken).sendForRun();
      const waiting = await runs.advance(run.body.continuationToken, before.etag).sendForRun();
      const { waitingFor, ...shown } = waiting.body;
      expect({ ...shown, receiptId: '' }).toEqual({ ...run.body, receiptId: '' });
      expect(waitingFor).toMatchObject({ service: 'qti' });
      expect(waiting.etag).toBe(before.etag);
      await undo();
      const after = await runs.inspect(run.body.continuationToken).sendForRun();
      expect(after.etag).not.toBe(before.etag);
      const next = await runs.advance(run.body.continuationToken, after.etag).sendForRun();
      expect(next.body.offeredItem).toMatchObject({ sequence: 3 });
    },
  );

  it('are named by their processing traces in the receipt and at Results; another reference is no conflict [MA-030, MA-088]', async () => {
    const { started, advance } = await runs.playedOut();
    await stack.fault({ operation: 'results.write_kc_components', kind: 'down', times: 100 });
    const stopped = await advance.sendForRun();
    expect(sentenceOf(stopped)).toBe('200 finalizing reportable');
    await stack.control('DELETE', 'faults');
    const [attempt] = (await heldSession(started)).attempts;
    const { traceRef } = attempt!.processingTrace;
    const pointer = '/session/attempts/0/processingTrace/traceRef';
    await changeSession(started, { pointer, value: 'another-trace' });
    const completed = await runs.advance(stopped.body.continuationToken, stopped.etag).sendForRun();
    expect((await runs.recordOf(completed)).processingTraceRefs).toEqual([traceRef]);
    expect(receiptOf(stack, completed.body.receiptId)['processingTraces']).toEqual([traceRef]);
  });
});

describe('an open session with another item than the selected one', () => {
  it('start: 409, and nothing is offered beside it [MA-152, MA-215]', async () => {
    const { executionPins } = (await runs.start().sendForRun()).body;
    const start = runs.start();
    const before = new Set(Object.keys((await runs.state()).entities['qti.session']!));
    await stack.fault({ operation: 'qti.offer_selected_item', kind: 'lost_acknowledgement', times: 100 });
    await start.send();
    await stack.control('DELETE', 'faults');
    const { entities } = await runs.state();
    const [id] = Object.keys(entities['qti.session']!).filter((session) => !before.has(session));
    const manifest = entities['bank.manifest']![executionPins.bankOperationId] as {
      members: { artifactVersionId: string; qtiIdentifier: string }[];
    };
    // An item of the pool that the policy excludes, so that it cannot be the selected one.
    const excluded = manifest.members.find(({ qtiIdentifier }) => qtiIdentifier.startsWith('Item09-'))!;
    const undo = await runs.change({
      entity: 'qti.session',
      id: id!,
      changes: [{ pointer: '/session/rootArtifactVersionId', value: excluded.artifactVersionId }],
    });
    const { result, calls } = await callsDuring(stack, () => start.send());
    expect(sentenceOf(result)).toBe(conflict);
    expect(calls.every(({ method }) => method === 'GET')).toBe(true);
    await undo();
    expect(sessionOf(await start.sendForRun())).toBe(id);
  });

  it('advance and inspect: 409, so that no client goes back and forth between them [MA-142, MA-160, MA-165, MA-215]', async () => {
    const first = await runs.start().sendForRun();
    const { etag } = await runs.playAndInspect(first.body);
    const advance = runs.advance(first.body.continuationToken, etag);
    const second = await advance.sendForRun();
    const value = first.body.offeredItem!.artifactVersionId;
    const undo = await changeSession(second, { pointer: '/session/rootArtifactVersionId', value });
    const inspect = runs.inspect(first.body.continuationToken);
    for (const request of [advance, inspect]) {
      const { result, calls } = await callsDuring(stack, () => request.send());
      expect(sentenceOf(result)).toBe(conflict);
      expect(calls.every(({ method }) => method === 'GET')).toBe(true);
    }
    await undo();
    // The session of the next item is no conflict; a session that the token does not name never touches what it shows.
    expect((await inspect.sendForRun()).etag).toBe(etag);
    expect(sessionOf(await advance.sendForRun())).toBe(sessionOf(second));
  });
});

describe('a run that has stopped', () => {
  /** A learner's run whose result record is written and whose components Results has not taken yet. */
  async function halfPublished(): Promise<RunGiven> {
    const { advance } = await runs.playedOut();
    await stack.fault({ operation: 'results.write_kc_components', kind: 'down', times: 2 });
    const stopped = await advance.sendForRun();
    expect(sentenceOf(stopped)).toBe('200 finalizing reportable');
    await stack.faultsStruck();
    return stopped;
  }
  const undoAll = async (undo: readonly (() => Promise<void>)[]) => {
    for (const one of undo) await one();
  };

  it('is published whatever Content holds by then, and inspect notes the difference [MA-088, MA-138, MA-157]', async () => {
    const stopped = await halfPublished();
    const { testSpecId, testBankId } = stopped.body.executionPins;
    const edit = (entity: string, id: string, pointer: string) =>
      runs.change({ entity, id, changes: [{ pointer, value: 'edited' }] });
    const undo = [
      await edit('content.blueprint', testSpecId, '/title'),
      await edit('content.bank_members', testBankId, '/updateVersion'),
    ];
    const inspected = await runs.inspect(stopped.body.continuationToken).sendForRun();
    expect(sentenceOf(inspected)).toBe('200 finalizing reportable');
    const { result: completed, calls } = await callsDuring(stack, () =>
      runs.advance(stopped.body.continuationToken, stopped.etag).sendForRun(),
    );
    const { status, kcClassifications, continuationToken } = completed.body;
    expect([status, kcClassifications]).toEqual(['completed', stopped.body.kcClassifications]);
    expect(calls.filter(({ operation }) => operation?.startsWith('content.'))).toEqual([]);
    await undoAll(undo);
    const after = await runs.inspect(continuationToken).sendForRun();
    expect(
      [inspected, completed, after].map(({ body }) => receiptOf(stack, body.receiptId)['content']),
    ).toEqual(['differs', 'not_read', 'as_pinned']);
  });

  it('shows provisional components without a scale while its anchor is not verified, and publishes nothing until it is [MA-080, MA-081, MA-082, MA-137, MA-138, MA-194]', async () => {
    const unanchored = '200 finalizing anchor_unavailable';
    const waits = linesOf(stack, 'RUN_WAITS');
    const { advance } = await runs.playedOut();
    const { counts, entities } = await runs.state();
    const { sourcePoints } = entities['extmap.anchor_table']!['r90'] as { sourcePoints: object[] };
    const undo = await runs.change({
      entity: 'extmap.anchor_table',
      id: 'r90',
      changes: sourcePoints.map((_, at) => ({ pointer: `/sourcePoints/${at}/sourceRef`, value: null })),
    });
    const stopped = await advance.sendForRun();
    expect(stopped.body).toMatchObject({ scale: null, offeredItem: null, stopReason: 'time_budget' });
    expect(stopped.body.kcClassifications.some(({ evidenceItemRefs }) => evidenceItemRefs.length > 0)).toBe(
      true,
    );
    const waiting = await runs.advance(stopped.body.continuationToken, stopped.etag).sendForRun();
    expect(waiting.body.continuationToken).not.toBe(stopped.body.continuationToken);
    const inspected = await runs.inspect(waiting.body.continuationToken).sendForRun();
    for (const given of [stopped, waiting, inspected]) {
      expect(sentenceOf(given)).toBe(unanchored);
      expect(given.body.waitingFor).toEqual({ service: 'anchor', operation: 'extmap.verify_anchor' });
      expect(given.headers.get('retry-after')).toBe('60');
    }
    expect(linesOf(stack, 'RUN_WAITS') - waits).toBe(3);
    expect((await runs.state()).counts).toEqual(counts);

    await undo();
    const completed = await runs.advance(waiting.body.continuationToken, inspected.etag).sendForRun();
    expect(sentenceOf(completed)).toBe('200 completed reportable');
    expect(completed.headers.get('retry-after')).toBeNull();
    // The components never depended on the anchor.
    expect(completed.body.kcClassifications).toStrictEqual(stopped.body.kcClassifications);
    expect((await runs.state()).entities['results.record']).toHaveProperty([completed.body.resultRecordRef!]);
  });
});

it('waits on the timer of its runtime before it reads a contradiction again, for as long as its random bytes require', async () => {
  const slept: number[] = [];
  await using drawn = await startTestStack({
    inProcess: () => ({
      random: (count) => new Uint8Array(count),
      sleep(milliseconds, signal) {
        if (milliseconds !== 250)
          return setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
        slept.push(milliseconds);
        return Promise.resolve();
      },
    }),
  });
  const others = openAdaptiveRuns(drawn);
  const { body } = await others.start().sendForRun();
  await drawn.fault({ operation: 'content.read_test_spec', kind: 'version_drift', times: 2 });
  const reply = await others.inspect(body.continuationToken).send();
  expect([sentenceOf(reply), slept]).toEqual([conflict, [250]]);
});
