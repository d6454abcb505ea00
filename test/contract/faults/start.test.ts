import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#shared/platform/all-operations.ts';
import { openAdaptiveRuns, sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import {
  casesOf,
  expectComplete,
  expectNames,
  drift,
  hidden,
  invalid,
  othersAtFirst,
  miscalibrated,
  refused,
  silent,
  unauthorized,
} from './fault-table.ts';
import type { CallName, FaultTable, RulesByStatus } from './fault-table.ts';

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

const started = '201 in_progress pending';
const unanchored = '201 in_progress anchor_unavailable';

/** A start names spec, bank and operation itself: what their owners hide is the caller's 404. Everything else is derived. */
const table: FaultTable = {
  readTestSpec: {
    silent: silent('content'),
    malformed: refused('content'),
    wrong_tenant: refused('content'),
    other_entity: othersAtFirst.readTestSpec,
    // Another version is as good as any, as long as the run is pinned to it.
    version_drift: started,
    stale: started,
    401: unauthorized,
    403: refused('content'),
    404: hidden,
    409: refused('content'),
    422: hidden,
  },
  validateAdaptiveBankIdentity: {
    silent: silent('content'),
    malformed: refused('content'),
    wrong_tenant: refused('content'),
    other_entity: othersAtFirst.validateAdaptiveBankIdentity,
    version_drift: started,
    stale: started,
    401: unauthorized,
    403: refused('content'),
    404: hidden,
    409: refused('content'),
    422: hidden,
  },
  readAdaptivePoolManifest: {
    silent: silent('bank'),
    malformed: invalid('bank'),
    wrong_tenant: invalid('bank'),
    other_entity: othersAtFirst.readAdaptivePoolManifest,
    version_drift: drift,
    always_version_drift: invalid('qti'),
    // An operation that still ran when this was true.
    stale: silent('bank'),
    always_stale: silent('bank'),
    401: unauthorized,
    403: refused('bank'),
    404: hidden,
    409: refused('bank'),
    422: hidden,
  },
  readAdaptivePoolRoot: {
    silent: silent('qti'),
    malformed: invalid('qti'),
    wrong_tenant: invalid('qti'),
    other_entity: invalid('qti'),
    version_drift: drift,
    always_version_drift: invalid('qti'),
    stale: drift,
    always_stale: invalid('qti'),
    401: unauthorized,
    404: refused('qti'),
    409: refused('qti'),
    422: refused('qti'),
  },
  readCandidateRuntime: {
    silent: silent('qti'),
    malformed: invalid('qti'),
    wrong_tenant: invalid('qti'),
    other_entity: { '/candidateRef': invalid('qti'), '/sessions/0/rootArtifactVersionId': started },
    stale: started,
    401: unauthorized,
    // QTI has never met the candidate, who thus has no session.
    404: started,
    409: refused('qti'),
    422: refused('qti'),
  },
  resolveMapping: {
    silent: silent('case'),
    malformed: refused('case'),
    // Another tenant's item is not the one that the calibration has pinned.
    wrong_tenant: miscalibrated,
    other_entity: miscalibrated,
    version_drift: miscalibrated,
    stale: started,
    401: unauthorized,
    404: refused('case'),
    409: refused('case'),
    422: refused('case'),
  },
  verifyAnchor: {
    silent: unanchored,
    malformed: unanchored,
    wrong_tenant: unanchored,
    other_entity: miscalibrated,
    version_drift: miscalibrated,
    stale: miscalibrated,
    401: unanchored,
    404: unanchored,
    409: unanchored,
    422: unanchored,
  },
  offerSelectedItem: {
    silent: silent('qti'),
    malformed: invalid('qti'),
    wrong_tenant: invalid('qti'),
    other_entity: invalid('qti'),
    401: unauthorized,
    404: refused('qti'),
    // No session of this run is open: QTI refuses what it should not.
    409: refused('qti'),
    422: refused('qti'),
  },
};

const rules: RulesByStatus = {
  201: 'MA-135',
  404: 'MA-151, MA-214',
  409: 'MA-152',
  422: 'MA-153',
  424: 'MA-154, MA-218',
  502: 'MA-155, MA-222, MA-223',
};

/** What a start asks its owners, whether or not it comes out well. */
const asked = Object.keys(table) as CallName[];

describe('start, one upstream operation at a time', () => {
  it('has a row for every operation that a start uses, and every distortion of it', async () => {
    await runs.takeCalls();
    await runs.start().sendForRun();
    expectComplete(table, new Set((await runs.takeCalls()).map(({ operation }) => operation)));
  });

  for (const { call, title, arm, expected } of casesOf(table, rules)) {
    it(title, async () => {
      const start = runs.start();
      await runs.takeCalls();
      await stack.fault(arm);
      const reply = await start.send();
      expect(sentenceOf(reply)).toBe(expected);
      if (reply.kind === 'run') return;
      expectNames(reply, call);
      // Without every fact nothing is offered.
      if (call !== 'offerSelectedItem')
        expect(await runs.takeCalls()).not.toContainEqual(expect.objectContaining({ method: 'POST' }));

      // The same request with the same key goes through once its owner does.
      await stack.control('DELETE', 'faults');
      const { body } = await start.sendForRun();
      expect(body.offeredItem).toMatchObject({ sequence: 1 });
    });
  }

  it('an item of the pool states another maximum score than 1: 422, and one that states 1 is as good as none [MA-153, MA-195]', async () => {
    const { qtiPoolArtifactVersionId: id } = (await runs.start().sendForRun()).body.executionPins;
    const stating = (value: number) =>
      runs.change({ entity: 'qti.artifact', id, changes: [{ pointer: '/itemRefs/1/normalMaximum', value }] });
    const undo = await stating(1);
    expect(sentenceOf(await runs.start().send())).toBe(started);
    await stating(2);
    await runs.takeCalls();
    expect(sentenceOf(await runs.start().send())).toBe(miscalibrated);
    expect((await runs.takeCalls()).every(({ method }) => method === 'GET')).toBe(true);
    await undo();
  });

  it.each(['bank.read_adaptive_pool_manifest', 'qti.read_adaptive_pool_root'])(
    'reads %s again before it believes that its second reading differs [MA-152]',
    async (operation) => {
      await stack.fault({ operation, kind: 'version_drift', skip: 1 });
      expect(sentenceOf(await runs.start().send())).toBe(started);
      await stack.fault({ operation, kind: 'version_drift', skip: 1, times: 2 });
      expect(sentenceOf(await runs.start().send())).toBe(drift);
    },
  );

  it('goes on after one failed try of every read and write [MA-218]', async () => {
    for (const name of asked) {
      const { id: operation, method } = operations[name];
      await stack.fault({ operation, method, kind: 'status', status: 503 });
    }
    expect(sentenceOf(await runs.start().send())).toBe(started);
    await stack.faultsStruck();
  });

  it('goes on after one malformed answer to every read [MA-154, MA-155]', async () => {
    for (const name of asked) {
      const { id: operation, method } = operations[name];
      if (method === 'GET') await stack.fault({ operation, method, kind: 'malformed' });
    }
    expect(sentenceOf(await runs.start().send())).toBe(started);
    await stack.faultsStruck();
  });

  it.each(['cut', 'lost_acknowledgement', 'malformed', 'wrong_tenant', 'overlong_id'])(
    'takes up the session of an offer whose answer was no good (%s) instead of making another [MA-190]',
    async (kind) => {
      const before = (await runs.state()).counts['qti.session']!;
      const start = runs.start();
      await stack.fault({ operation: 'qti.offer_selected_item', kind, times: 100 });
      const reply = await start.send();
      // An id of more than 1,024 bytes breaks the contract as much as an answer that is no JSON.
      expect(sentenceOf(reply)).toBe(
        ['cut', 'lost_acknowledgement'].includes(kind) ? silent('qti') : invalid('qti'),
      );
      expect((await runs.state()).counts['qti.session']).toBe(before + 1);
      await stack.control('DELETE', 'faults');
      const { body } = await start.sendForRun();
      const { counts, entities } = await runs.state();
      expect(counts['qti.session']).toBe(before + 1);
      expect(entities['qti.session']).toHaveProperty([body.offeredItem!.deliverySessionId]);
    },
  );
});
