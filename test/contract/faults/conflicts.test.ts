import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TIMED_BANK, openAdaptiveRuns, sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

const { conflict, drift, miscalibrated, refusedBy, waitFor } = kinds;

let stack: TestStack;
let runs: AdaptiveRuns;
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack);
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

/** A run with one answer consumed and its second item offered. */
async function underWay(): Promise<{ readonly first: RunGiven; readonly second: RunGiven }> {
  const first = await runs.start().sendForRun();
  const { etag } = await runs.playAndInspect(first.body);
  return { first, second: await runs.advance(first.body.continuationToken, etag).sendForRun() };
}

function sessionOf({ body }: RunGiven): string {
  return body.offeredItem!.deliverySessionId;
}

/** Inspect and advance with the run's latest token; advance with the tag that it is told is the current one. */
async function answersTo(run: RunGiven): Promise<readonly string[]> {
  const { continuationToken } = run.body;
  const inspected = await runs.inspect(continuationToken).send();
  const stale = await runs.advance(continuationToken, run.etag).send();
  const current = stale.kind === 'problem' ? (stale.body.currentEtag ?? run.etag) : run.etag;
  const advanced = await runs.advance(continuationToken, current).send();
  return [sentenceOf(inspected), sentenceOf(advanced)];
}

describe('what QTI holds contradicts the continuation', () => {
  it('an outcome that was consumed has changed: 409, also on inspect, until it is as before [MA-142, MA-160, MA-165, MA-215]', async () => {
    const { first, second } = await underWay();
    await runs.play(second.body);
    const undo = await runs.change({
      entity: 'qti.session',
      id: sessionOf(first),
      changes: [{ pointer: '/session/attempts/0/outcomes/SCORE', value: 0 }],
    });
    await runs.takeCalls();
    expect(await answersTo(second)).toEqual([conflict, conflict]);
    expect((await runs.takeCalls()).every(({ method }) => method === 'GET')).toBe(true);
    await undo();
    expect(sentenceOf(await runs.inspect(second.body.continuationToken).send())).toBe(
      '200 in_progress reportable',
    );
  });

  it('two attempts claim one number with different outcomes: 409 [MA-092, MA-215]', async () => {
    const { second } = await underWay();
    await runs.play(second.body, 1);
    await runs.play(second.body, 0);
    await runs.change({
      entity: 'qti.session',
      id: sessionOf(second),
      changes: [{ pointer: '/session/attempts/1/attemptNumber', value: 1 }],
    });
    expect(await answersTo(second)).toEqual([conflict, conflict]);
  });

  it('a second attempt in the session does not change what was consumed, only the tag [MA-028, MA-048, MA-166]', async () => {
    const { first, second } = await underWay();
    await runs.play(first.body, 0);
    const inspected = await runs.inspect(second.body.continuationToken).sendForRun();
    expect(inspected.etag).not.toBe(second.etag);
    expect(inspected.body.kcClassifications).toStrictEqual(second.body.kcClassifications);
    const stale = await runs.advance(second.body.continuationToken, second.etag).send();
    expect([sentenceOf(stale), stale.body]).toEqual([
      '412 stream-conflict retryable',
      expect.objectContaining({ currentEtag: inspected.etag }),
    ]);
  });

  it('a named session is of another artifact: 409 [MA-142, MA-215]', async () => {
    const { first, second } = await underWay();
    const { artifactVersionId } = first.body.offeredItem!;
    await runs.change({
      entity: 'qti.session',
      id: sessionOf(second),
      changes: [{ pointer: '/session/rootArtifactVersionId', value: artifactVersionId }],
    });
    expect(await answersTo(second)).toEqual([conflict, conflict]);
  });
});

it('an item of the pool states another maximum score than 1: 422, and one that states 1 is as good as none [MA-153, MA-195]', async () => {
  const { qtiPoolArtifactVersionId: id } = (await runs.start().sendForRun()).body.executionPins;
  const stating = (value: number) =>
    runs.change({ entity: 'qti.artifact', id, changes: [{ pointer: '/itemRefs/1/normalMaximum', value }] });
  const undo = await stating(1);
  expect(sentenceOf(await runs.start().send())).toBe('201 in_progress pending');
  await stating(2);
  await runs.takeCalls();
  expect(sentenceOf(await runs.start().send())).toBe(miscalibrated);
  expect((await runs.takeCalls()).every(({ method }) => method === 'GET')).toBe(true);
  await undo();
});

describe('the outcomes that QTI holds', () => {
  /** A run whose second item is played, and the change of that attempt. */
  async function playedWith(
    ...changes: readonly { readonly member: string; readonly value?: unknown }[]
  ): Promise<{ readonly run: RunGiven; readonly undo: () => Promise<void> }> {
    const { second } = await underWay();
    await runs.play(second.body);
    const undo = await runs.change({
      entity: 'qti.session',
      id: sessionOf(second),
      changes: changes.map(({ member, ...change }) => ({
        pointer: `/session/attempts/0${member}`,
        ...change,
      })),
    });
    return { run: second, undo };
  }

  it.each(['.1234567891Z', '+00:00', `.${'3'.repeat(30)}+00:00`])(
    'are taken at every UTC instant that RFC 3339 can write: %s, from the session to the record [MA-042, MA-141]',
    async (ending) => {
      /** Answers the offered item, and writes the times of its session otherwise. */
      const playAt = async (run: RunGiven): Promise<void> => {
        await runs.play(run.body);
        const { entities } = await runs.state();
        const { session } = entities['qti.session']![sessionOf(run)] as {
          readonly session: {
            readonly createdAt: string;
            readonly attempts: readonly { scoredAt: string }[];
          };
        };
        await runs.change({
          entity: 'qti.session',
          id: sessionOf(run),
          changes: [
            ['/session/createdAt', session.createdAt],
            ['/session/attempts/0/scoredAt', session.attempts[0]!.scoredAt],
          ].map(([pointer = '', time = '']) => ({ pointer, value: time.slice(0, 19) + ending })),
        });
      };
      let given = (await underWay()).second;
      while (given.body.offeredItem !== null) {
        await playAt(given);
        const { etag } = await runs.inspect(given.body.continuationToken).sendForRun();
        given = await runs.advance(given.body.continuationToken, etag).sendForRun();
      }
      expect(given.body.status).toBe('completed');
    },
  );

  it.each([
    ['neither right nor wrong', { member: '/outcomes/SCORE', value: 0.5 }],
    ['a text', { member: '/outcomes/SCORE', value: '1' }],
    ['not among its outcomes', { member: '/outcomes/SCORE' }],
    ['without outcomes that can be read', { member: '/outcomes', value: 'broken' }],
    ['without a time that can be read', { member: '/scoredAt', value: 20_260_301 }],
  ])(
    'a score is %s: 424 of QTI, retryable while QTI still processes the attempt [MA-030, MA-162, MA-168]',
    async (_, broken) => {
      const ended = await playedWith(broken);
      expect(await answersTo(ended.run)).toEqual([refusedBy('qti'), refusedBy('qti')]);
      const open = await playedWith(broken, { member: '/processingTrace/status', value: 'running' });
      expect(await answersTo(open.run)).toEqual([waitFor('qti'), waitFor('qti')]);
      await open.undo();
      expect((await answersTo(open.run)).at(-1)).toBe('200 in_progress reportable');
    },
  );

  it.each([
    ['that QTI has not completed', { member: '/processingTrace/status', value: 'running' }],
    ['of which QTI shows no processing', { member: '/processingTrace' }],
  ])(
    'a score %s is not consumed yet, and moves the tag once it is durable [MA-030, MA-048]',
    async (_, open) => {
      const { run, undo } = await playedWith(open);
      const before = await runs.inspect(run.body.continuationToken).sendForRun();
      const waiting = await runs.advance(run.body.continuationToken, before.etag).sendForRun();
      expect([waiting.body, waiting.etag]).toEqual([
        { ...run.body, receiptId: expect.any(String) as string },
        before.etag,
      ]);
      await undo();
      const after = await runs.inspect(run.body.continuationToken).sendForRun();
      expect(after.etag).not.toBe(before.etag);
      const next = await runs.advance(run.body.continuationToken, after.etag).sendForRun();
      expect(next.body.offeredItem).toMatchObject({ sequence: 3 });
    },
  );

  it('two attempts of the run have one id: 424 of QTI, which no retry repairs [MA-162, MA-168]', async () => {
    const { first, second } = await underWay();
    await runs.play(second.body);
    const { entities } = await runs.state();
    const { session } = entities['qti.session']![sessionOf(first)] as {
      session: { attempts: { attemptId: string }[] };
    };
    await runs.change({
      entity: 'qti.session',
      id: sessionOf(second),
      changes: [{ pointer: '/session/attempts/0/attemptId', value: session.attempts[0]!.attemptId }],
    });
    expect(await answersTo(second)).toEqual([refusedBy('qti'), refusedBy('qti')]);
  });

  it('processing traces go to the receipt trace and to Results; another reference is no conflict [MA-030, MA-088]', async () => {
    const started = await runs.start(runs.startBody({ bank: TIMED_BANK })).sendForRun();
    // The run ends with its first answer.
    await stack.control('POST', 'clock', { advanceSeconds: 60 });
    const { etag } = await runs.playAndInspect(started.body);
    await stack.fault({ operation: 'results.write_kc_components', kind: 'down', times: 100 });
    const stopped = await runs.advance(started.body.continuationToken, etag).sendForRun();
    expect(sentenceOf(stopped)).toBe('200 finalizing reportable');
    await stack.control('DELETE', 'faults');
    const { entities } = await runs.state();
    const held = entities['qti.session']![sessionOf(started)] as {
      session: { attempts: { processingTrace: { traceRef: string } }[] };
    };
    const { traceRef } = held.session.attempts[0]!.processingTrace;
    await runs.change({
      entity: 'qti.session',
      id: sessionOf(started),
      changes: [{ pointer: '/session/attempts/0/processingTrace/traceRef', value: 'another-trace' }],
    });
    const { body } = await runs.advance(stopped.body.continuationToken, stopped.etag).sendForRun();
    expect(body.status).toBe('completed');
    const record = (await runs.state()).entities['results.record']![body.resultRecordRef!];
    expect(record).toMatchObject({ request: { processingTraceRefs: [traceRef] } });
    const receipts = stack.logs().filter(({ line }) => JSON.stringify(line).includes(body.receiptId));
    expect(JSON.stringify(receipts)).toContain(JSON.stringify({ processingTraces: [traceRef] }).slice(1, -1));
  });
});

describe('an open session with another item than the selected one', () => {
  it('start: 409, and nothing is offered beside it [MA-152, MA-215]', async () => {
    const other = await runs.start().sendForRun();
    const start = runs.start();
    const before = new Set(Object.keys((await runs.state()).entities['qti.session']!));
    await stack.fault({ operation: 'qti.offer_selected_item', kind: 'lost_acknowledgement', times: 100 });
    await start.send();
    await stack.control('DELETE', 'faults');
    const { entities } = await runs.state();
    const [made] = Object.keys(entities['qti.session']!).filter((id) => !before.has(id));
    const manifest = entities['bank.manifest']![other.body.executionPins.bankOperationId] as {
      members: { artifactVersionId: string; qtiIdentifier: string }[];
    };
    // An item of the pool that the policy excludes, so that it cannot be the selected one.
    const excluded = manifest.members.find(({ qtiIdentifier }) => qtiIdentifier.startsWith('Item09-'))!;
    const undo = await runs.change({
      entity: 'qti.session',
      id: made!,
      changes: [{ pointer: '/session/rootArtifactVersionId', value: excluded.artifactVersionId }],
    });
    await runs.takeCalls();
    expect(sentenceOf(await start.send())).toBe(conflict);
    expect((await runs.takeCalls()).every(({ method }) => method === 'GET')).toBe(true);
    await undo();
    expect(sessionOf(await start.sendForRun())).toBe(made);
  });

  it('advance and inspect: 409, so that no client goes back and forth between them [MA-142, MA-160, MA-165, MA-215]', async () => {
    const first = await runs.start().sendForRun();
    const { etag } = await runs.playAndInspect(first.body);
    const advance = runs.advance(first.body.continuationToken, etag);
    const second = await advance.sendForRun();
    const undo = await runs.change({
      entity: 'qti.session',
      id: sessionOf(second),
      changes: [
        { pointer: '/session/rootArtifactVersionId', value: first.body.offeredItem!.artifactVersionId },
      ],
    });
    await runs.takeCalls();
    expect(sentenceOf(await advance.send())).toBe(conflict);
    const inspect = runs.inspect(first.body.continuationToken);
    expect(sentenceOf(await inspect.send())).toBe(conflict);
    expect((await runs.takeCalls()).every(({ method }) => method === 'GET')).toBe(true);
    await undo();
    // The session of the next item is no conflict; a session that the token does not name never touches what it shows.
    expect((await inspect.sendForRun()).etag).toBe(etag);
    expect(sessionOf(await advance.sendForRun())).toBe(sessionOf(second));
  });
});

describe('a reading that contradicts the continuation', () => {
  it('waits on the timer of its runtime, for as long as the randomness there says', async () => {
    const slept: number[] = [];
    const drawn = await startTestStack({
      inProcess: () => ({
        random: (count) => new Uint8Array(count),
        sleep(milliseconds, signal) {
          if (milliseconds === 250) slept.push(milliseconds);
          return milliseconds === 250
            ? Promise.resolve()
            : setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
        },
      }),
    });
    const others = openAdaptiveRuns(drawn);
    try {
      const { body } = await others.start().sendForRun();
      await drawn.fault({ operation: 'content.read_test_spec', kind: 'version_drift', times: 2 });
      expect(sentenceOf(await others.inspect(body.continuationToken).send())).toBe(conflict);
      expect(slept).toEqual([250]);
    } finally {
      others.close();
      await drawn.close();
    }
  });
});

describe('a run that has stopped', () => {
  /** A learner's run whose result record is written and whose components Results has not taken yet. */
  async function halfPublished(): Promise<RunGiven> {
    const started = await runs.start(runs.startBody({ bank: TIMED_BANK })).sendForRun();
    // The run ends with its first answer.
    await stack.control('POST', 'clock', { advanceSeconds: 60 });
    const { etag } = await runs.playAndInspect(started.body);
    await stack.fault({ operation: 'results.write_kc_components', kind: 'down', times: 2 });
    const stopped = await runs.advance(started.body.continuationToken, etag).sendForRun();
    expect(sentenceOf(stopped)).toBe('200 finalizing reportable');
    await stack.faultsStruck();
    return stopped;
  }

  it('is published whatever Content says by then, and inspect notes the difference [MA-088, MA-138, MA-157]', async () => {
    const stopped = await halfPublished();
    const { testSpecId, testBankId } = stopped.body.executionPins;
    const undo = [
      await runs.change({
        entity: 'content.blueprint',
        id: testSpecId,
        changes: [
          { pointer: '/title', value: 'Fractions, second edition' },
          { pointer: '/subject', value: 'another subject' },
        ],
      }),
      await runs.change({
        entity: 'content.bank_members',
        id: testBankId,
        changes: [{ pointer: '/updateVersion', value: 'u-next' }],
      }),
    ];
    const inspected = await runs.inspect(stopped.body.continuationToken).sendForRun();
    expect(sentenceOf(inspected)).toBe('200 finalizing reportable');
    await runs.takeCalls();
    const { body } = await runs.advance(stopped.body.continuationToken, stopped.etag).sendForRun();
    expect(body).toMatchObject({ status: 'completed', kcClassifications: stopped.body.kcClassifications });
    const asked = (await runs.takeCalls()).map(({ operation }) => operation ?? '');
    expect(asked.filter((operation) => operation.startsWith('content.'))).toEqual([]);
    const record = (await runs.state()).entities['results.record']![body.resultRecordRef!] as {
      components: object[];
    };
    expect(record.components).toHaveLength(body.kcClassifications.length);
    for (const restore of undo) await restore();
    const after = await runs.inspect(body.continuationToken).sendForRun();
    expect([inspected, { body }, after].map((given) => contentOf(given.body.receiptId))).toEqual([
      'differs',
      'not_read',
      'as_pinned',
    ]);
  });

  it('still goes by its pool and by CASE [MA-071, MA-165, MA-167, MA-217]', async () => {
    const stopped = await halfPublished();
    const advance = runs.advance(stopped.body.continuationToken, stopped.etag);
    const inspect = runs.inspect(stopped.body.continuationToken);
    for (const [change, refusal] of [
      [
        {
          entity: 'qti.artifact',
          id: stopped.body.executionPins.qtiPoolArtifactVersionId,
          changes: [{ pointer: '/title', value: 'retitled' }],
        },
        drift,
      ],
      [
        {
          entity: 'case.item',
          id: stopped.body.kcClassifications[0]!.caseCompetencyGuid,
          changes: [{ pointer: '/uri', value: 'https://case.platform.example/uri/other' }],
        },
        miscalibrated,
      ],
    ] as const) {
      const undo = await runs.change(change);
      expect([sentenceOf(await advance.send()), sentenceOf(await inspect.send())]).toEqual([
        refusal,
        refusal,
      ]);
      await undo();
    }
    expect(sentenceOf(await advance.send())).toBe('200 completed reportable');
  });

  /** What the receipt of an answer says of Content. */
  function contentOf(receiptId: string): string | undefined {
    const lines = stack.logs().map(({ line }) => JSON.stringify(line));
    const receipt = lines.find(
      (line) => line.includes(`"receiptId":"${receiptId}"`) && line.includes('RUN_RECEIPT'),
    );
    return /"content":"(\w+)"/.exec(receipt ?? '')?.[1];
  }
});

describe('an anchor that is not verified', () => {
  it('shows provisional components without a scale, and holds back every publication until it is [MA-080, MA-082, MA-138, MA-194]', async () => {
    const started = await runs.start(runs.startBody({ bank: TIMED_BANK })).sendForRun();
    // The run ends with its first answer.
    await stack.control('POST', 'clock', { advanceSeconds: 60 });
    const { etag } = await runs.playAndInspect(started.body);
    const { counts, entities } = await runs.state();
    const { sourcePoints } = entities['extmap.anchor_table']!['r90'] as { sourcePoints: object[] };
    const undo = await runs.change({
      entity: 'extmap.anchor_table',
      id: 'r90',
      changes: sourcePoints.map((_, at) => ({ pointer: `/sourcePoints/${at}/sourceRef`, value: null })),
    });
    const stopped = await runs.advance(started.body.continuationToken, etag).sendForRun();
    expect(sentenceOf(stopped)).toBe('200 finalizing anchor_unavailable');
    expect(stopped.body).toMatchObject({ scale: null, offeredItem: null, stopReason: 'time_budget' });
    expect(stopped.body.kcClassifications.some(({ evidenceItemRefs }) => evidenceItemRefs.length > 0)).toBe(
      true,
    );
    const waiting = await runs.advance(stopped.body.continuationToken, stopped.etag).sendForRun();
    const inspected = await runs.inspect(waiting.body.continuationToken).sendForRun();
    for (const given of [waiting, inspected])
      expect(sentenceOf(given)).toBe('200 finalizing anchor_unavailable');
    const held = (await runs.state()).counts;
    for (const name of ['results.record', 'results.component', 'caliper.event'])
      expect(held[name]).toBe(counts[name]);

    await undo();
    const { body } = await runs.advance(waiting.body.continuationToken, inspected.etag).sendForRun();
    expect(body).toMatchObject({
      status: 'completed',
      scaleReportability: 'reportable',
      stopReason: 'time_budget',
    });
    // Provisional or not, the components say the same: they never stood on the anchor.
    expect(body.kcClassifications).toStrictEqual(stopped.body.kcClassifications);
    expect((await runs.state()).entities['results.record']).toHaveProperty([body.resultRecordRef!]);
  });
});
