import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { localKeyAlias, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { changeKeys } from '#shared/keys/administration.ts';
import { planReplace } from '#shared/keys/key-states.ts';
import type { AdaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { sentenceOf, useAdaptiveRuns, type RunGiven, type RunRequest } from '#test/support/adaptive-run.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';

const TENANT = 'tenant-aurora';
/** 20 items that a run may offer in any order, and a larger bank with floors, minima, maxima and a draw among the best. */
const BANK = 'fraction-subtraction';
const LARGE_BANK = 'generated';

const heldSession = z.object({
  candidateRef: z.string(),
  session: z.object({
    deliverySessionId: z.string(),
    rootArtifactVersionId: z.string(),
    deliverySnapshot: z.looseObject({ runTag: z.string().optional() }),
  }),
});
type HeldSession = z.infer<typeof heldSession>;

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);

/** A learner whom no test has met. Results is asked about a student only when a run is published, which none here is. */
const newLearner = (): string => `student-${randomUUID()}`;

const bodyFor = (resultsStudentId: string, change: object = {}, bank = BANK): object => ({
  ...runs.startBody({ bank }),
  resultsStudentId,
  ...change,
});

/** Another policy of the bank. It draws nothing by chance: runs of the same answers are offered the same items. */
async function policyWith(priorUse: 'exclude' | 'avoid') {
  const { selectionPolicyId } = await runs.bodyUnder(
    { eligibilityRules: { priorUse, poolMembership: 'manifest' } },
    { bank: BANK },
  );
  return { selectionPolicyId };
}

const itemOf = ({ body }: { readonly body: AdaptiveRun }): string => body.offeredItem!.artifactVersionId;

async function sessionOf(run: RunGiven): Promise<HeldSession> {
  const { entities } = await runs.state();
  return heldSession.parse(entities['qti.session']![run.body.offeredItem!.deliverySessionId]);
}

/** Answers the offered item and advances: the request, which may be repeated, and what it returned. */
async function answer(
  run: RunGiven,
  score: 0 | 1 = 1,
): Promise<{ readonly request: RunRequest; readonly given: RunGiven }> {
  const { etag } = await runs.playAndInspect(run.body, score);
  const request = runs.advance(run.body.continuationToken, etag);
  return { request, given: await request.sendForRun() };
}

/** A run of so many items, of which the last is open: what it has offered. */
async function offeredBy(body: object, count: number): Promise<readonly string[]> {
  let run = await runs.start(body).sendForRun();
  const items = [itemOf(run)];
  while (items.length < count) {
    run = (await answer(run, items.length % 2 === 0 ? 1 : 0)).given;
    items.push(itemOf(run));
  }
  return items;
}

describe('a learner who has sat the test before', () => {
  it('meets no item of an earlier run while others are eligible, though that run was abandoned [MA-113]', async () => {
    const learner = newLearner();
    for (const bank of [BANK, LARGE_BANK]) {
      const first = await offeredBy(bodyFor(learner, {}, bank), 5);
      const second = await offeredBy(bodyFor(learner, {}, bank), 5);
      expect(new Set([...first, ...second]).size, bank).toBe(10);
    }
  });
});

describe('the run tag', () => {
  it('goes to QTI with every offer of one run, is another one for each run, and is in no answer [MA-089]', async () => {
    const learner = newLearner();
    const start = runs.start(bodyFor(learner));
    const first = await start.sendForRun();
    const { request, given: second } = await answer(first);
    const again = await request.sendForRun();
    const repeated = await start.sendForRun();
    const other = await runs.start(bodyFor(learner)).sendForRun();
    const tagOf = async (run: RunGiven): Promise<string | undefined> =>
      (await sessionOf(run)).session.deliverySnapshot.runTag;
    const tag = await tagOf(first);
    expect(tag).toMatch(/^[\w-]{32,}$/);
    for (const run of [second, again, repeated]) expect(await tagOf(run)).toBe(tag);
    expect(await tagOf(other)).not.toBe(tag);
    for (const { body, headers } of [first, second, again, repeated, other])
      expect(JSON.stringify([body, [...headers]])).not.toContain(tag);
    expect(JSON.stringify(stack.logs())).not.toContain(tag);
  });
});

describe('two runs of one learner at once', () => {
  it('do not disturb each other, also when a start or an advance of either is repeated [MA-028, MA-048, MA-190]', async () => {
    for (const bank of [BANK, LARGE_BANK]) {
      const learner = newLearner();
      const starts = [0, 1].map(() => runs.start(bodyFor(learner, {}, bank)));
      let current = [await starts[0]!.sendForRun(), await starts[1]!.sendForRun()];
      const firsts = current.map(itemOf);
      for (let step = 0; step < 4; step += 1) {
        const stepped = [await answer(current[0]!, 1), await answer(current[1]!, 0)];
        for (const [at, { request, given }] of stepped.entries()) {
          const again = await request.sendForRun();
          expect(again.body.offeredItem).toEqual(given.body.offeredItem);
          const inspected = await runs.inspect(given.body.continuationToken).sendForRun();
          expect([again.etag, inspected.etag]).toEqual([given.etag, given.etag]);
          expect(itemOf(await starts[at]!.sendForRun())).toBe(firsts[at]);
        }
        current = stepped.map(({ given }) => given);
      }
    }
  });

  it('repeat a start as it was, though QTI made sessions of other runs between its reading and its offer [MA-190, MA-192]', async () => {
    for (let pair = 0; pair < 4; pair += 1) {
      const learner = newLearner();
      const slow = runs.start(bodyFor(learner, {}, LARGE_BANK));
      await stack.fault({ operation: 'qti.offer_selected_item', kind: 'latency', milliseconds: 1_000 });
      const slowly = slow.sendForRun();
      await stack.faultsStruck();
      const quick = [0, 1, 2].map(() => runs.start(bodyFor(learner, {}, LARGE_BANK)));
      await Promise.all(quick.map((start) => start.sendForRun()));
      const first = await slowly;
      const again = await slow.sendForRun();
      expect(again.body.offeredItem).toEqual(first.body.offeredItem);
      expect(again.etag).toBe(first.etag);
      // Also once the run has moved on.
      const { given } = await answer(first);
      expect((await slow.sendForRun()).body.offeredItem).toEqual(first.body.offeredItem);
      expect(given.body.offeredItem).toMatchObject({ sequence: 2 });
    }
  });

  it('takes up a lost offer of its own alone [MA-028, MA-190]', async () => {
    const learner = newLearner();
    const earlier = await runs.start(bodyFor(learner)).sendForRun();
    const start = runs.start(bodyFor(learner));
    const before = new Set(Object.keys((await runs.state()).entities['qti.session']!));
    await stack.fault({ operation: 'qti.offer_selected_item', kind: 'lost_acknowledgement', times: 100 });
    expect((await start.send()).kind).toBe('problem');
    await stack.control('DELETE', 'faults');
    const made = Object.keys((await runs.state()).entities['qti.session']!).filter((id) => !before.has(id));
    expect(made).toHaveLength(1);
    // A third run begins in between.
    await runs.start(bodyFor(learner)).sendForRun();
    const { body } = await start.sendForRun();
    expect(body.offeredItem).toMatchObject({ deliverySessionId: made[0] });
    expect(body.offeredItem!.artifactVersionId).not.toBe(itemOf(earlier));
  });
});

describe('a policy that excludes what was met before', () => {
  it('offers every item once; when none is left a start returns 422 [MA-113, MA-153]', async () => {
    const learner = newLearner();
    const body = bodyFor(learner, await policyWith('exclude'));
    const items = new Set<string>();
    for (let run = 0; run < 20; run += 1) items.add(itemOf(await runs.start(body).sendForRun()));
    expect(items.size).toBe(20);
    const sessions = (await runs.state()).counts['qti.session'];
    expect(sentenceOf(await runs.start(body).send())).toBe('422 calibration-invalid');
    expect((await runs.state()).counts['qti.session']).toBe(sessions);
    // The same learner meets the items again under a policy that only avoids, and another learner is not concerned.
    expect(items).toContain(itemOf(await runs.start(bodyFor(learner)).sendForRun()));
    expect((await runs.start(bodyFor(newLearner(), await policyWith('exclude'))).send()).status).toBe(201);
  });
});

describe('a QTI that knows no run tags', () => {
  it('refuses a second run beside an open offer, which is its 424 and no conflict of ours [MA-154, MA-215]', async () => {
    await stack.control('POST', 'qti', { tenantId: TENANT, runTags: false });
    const learner = newLearner();
    const first = await runs.start(bodyFor(learner)).sendForRun();
    const second = runs.start(bodyFor(learner));
    const refused = await second.send();
    expect(sentenceOf(refused)).toBe('424 upstream-unavailable qti');
    expect(refused.body).toMatchObject({ upstream: { operation: 'qti.offer_selected_item' } });
    // The first run goes on, also repeatedly; without a tag its own lost answers are found by their Idempotency-Key.
    const { request, given } = await answer(first);
    expect((await request.sendForRun()).body.offeredItem).toEqual(given.body.offeredItem);
    const { given: third } = await answer(given);
    expect(third.body.offeredItem).toMatchObject({ sequence: 3 });
    await stack.control('POST', 'qti', { tenantId: TENANT, runTags: true });
    // The sessions from before are another run's: what they offered is avoided, and nothing is refused any more.
    const later = await second.sendForRun();
    expect([first, given, third].map(itemOf)).not.toContain(itemOf(later));
  });
});

describe('the pseudonym key', () => {
  it('once replaced after a leak, earlier use is unknown, and a run under way keeps its pseudonym', async () => {
    const learner = newLearner();
    const first = await runs.start(bodyFor(learner, await policyWith('avoid'))).sendForRun();
    const before = await sessionOf(first);
    const clients = clientsOf(stack);
    const replaced = await changeKeys(
      {
        settings: createWritableKeySettings(clients.dynamo, localTableName('settings')),
        kms: createDataKeyMaker(clients.kms, localKeyAlias),
        stage: localStage,
        clock: Date.now,
      },
      'pseudonym',
      planReplace,
    );
    expect(replaced.ok).toBe(true);
    await stack.killWorkers();
    const { given } = await answer(first);
    expect((await sessionOf(given)).candidateRef).toBe(before.candidateRef);
    const later = await runs.start(bodyFor(learner, await policyWith('avoid'))).sendForRun();
    expect((await sessionOf(later)).candidateRef).not.toBe(before.candidateRef);
    expect(itemOf(later)).toBe(itemOf(first));
  });
});
