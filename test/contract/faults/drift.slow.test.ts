import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAdaptiveRuns, sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, OwnerChange, RunGiven } from '#test/support/adaptive-run.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

const { conflict, drift, invalid, miscalibrated, refusedBy } = kinds;

let stack: TestStack;
let runs: AdaptiveRuns;
/** One answer consumed, the second item offered and played. */
let offered: RunGiven;
let played: RunGiven;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  runs = openAdaptiveRuns(stack);
  const first = await runs.start().sendForRun();
  const { etag } = await runs.playAndInspect(first.body);
  offered = await runs.advance(first.body.continuationToken, etag).sendForRun();
  played = await runs.playAndInspect(offered.body);
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

const started = '201 in_progress pending';
const running = '200 in_progress reportable';
const unanchored = '200 in_progress anchor_unavailable';

/** What an owner holds from now on, and what a new run and a run under way are told. */
interface Drift {
  readonly title: string;
  /** Made of the run's pins and the owners' entities. */
  readonly change: (held: Held) => OwnerChange;
  readonly start: string;
  readonly underWay: string;
  readonly rules: string;
}

interface Held {
  readonly pins: RunGiven['body']['executionPins'];
  readonly entities: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly kcGuids: readonly string[];
}

function set(pointer: string, value: unknown): OwnerChange['changes'] {
  return [{ pointer, value }];
}

const spec =
  (changes: OwnerChange['changes']) =>
  ({ pins }: Held): OwnerChange => ({
    entity: 'content.blueprint',
    id: pins.testSpecId,
    changes,
  });
const bank =
  (changes: OwnerChange['changes']) =>
  ({ pins }: Held): OwnerChange => ({
    entity: 'content.bank_members',
    id: pins.testBankId,
    changes,
  });
const manifest =
  (changes: OwnerChange['changes']) =>
  ({ pins }: Held): OwnerChange => ({
    entity: 'bank.manifest',
    id: pins.bankOperationId,
    changes,
  });
const root =
  (changes: OwnerChange['changes']) =>
  ({ pins }: Held): OwnerChange => ({
    entity: 'qti.artifact',
    id: pins.qtiPoolArtifactVersionId,
    changes,
  });
const kc =
  (changes: OwnerChange['changes']) =>
  ({ kcGuids }: Held): OwnerChange => ({
    entity: 'case.item',
    id: kcGuids[0]!,
    changes,
  });
/** Every source point of the anchor table, the calibration's own among them. */
const anchors =
  (member: string, value: unknown) =>
  ({ entities }: Held): OwnerChange => {
    const { sourcePoints } = entities['extmap.anchor_table']!['r90'] as { sourcePoints: object[] };
    return {
      entity: 'extmap.anchor_table',
      id: 'r90',
      changes: sourcePoints.map((_, at) => ({ pointer: `/sourcePoints/${at}/${member}`, value })),
    };
  };

const otherHash = 'f'.repeat(64);

const content: readonly Drift[] = [
  {
    title: 'the blueprint has another title',
    change: spec(set('/title', 'Another title')),
    start: started,
    underWay: conflict,
    rules: 'MA-022, MA-067',
  },
  {
    title: 'the blueprint has a member that nobody knows',
    change: spec(set('/addedTomorrow', true)),
    start: started,
    underWay: conflict,
    rules: 'MA-022, MA-067',
  },
  {
    title: 'the blueprint is no test spec any more',
    change: spec(set('/role', 'draft')),
    start: refusedBy('content'),
    underWay: conflict,
    rules: 'MA-022, MA-053',
  },
  {
    title: 'the bank has another membership rule',
    change: bank(set('/membershipRule', 'fixed')),
    start: refusedBy('content'),
    underWay: conflict,
    rules: 'MA-023, MA-054, MA-068',
  },
  {
    title: 'the bank has a Content member',
    change: bank(set('/data', [{ itemId: 'item-1' }])),
    start: refusedBy('content'),
    underWay: conflict,
    rules: 'MA-023, MA-054, MA-068',
  },
];

const pool: readonly Drift[] = [
  {
    title: 'a member has another knowledge component',
    change: (held) => manifest(set('/members/0/kcGuids', [held.kcGuids.at(-1)]))(held),
    start: miscalibrated,
    underWay: drift,
    rules: 'MA-071, MA-153, MA-217',
  },
  {
    title: 'a member has another standard',
    change: manifest(set('/members/0/caseGuids', ['00000000-0000-4000-8000-000000000000'])),
    start: started,
    underWay: drift,
    rules: 'MA-071, MA-217',
  },
  {
    title: 'the root has another ETag',
    change: root(set('/title', 'retitled')),
    start: started,
    underWay: drift,
    rules: 'MA-066, MA-070, MA-217',
  },
  {
    title: 'the root has another package hash',
    change: root(set('/packageHash', otherHash)),
    start: invalid('qti'),
    underWay: drift,
    rules: 'MA-155, MA-217, MA-221',
  },
  {
    title: 'the manifest has another package hash',
    change: manifest(set('/root/packageHash', otherHash)),
    start: invalid('qti'),
    underWay: drift,
    rules: 'MA-069, MA-217, MA-221',
  },
  {
    title: 'a member lies outside the root’s graph',
    change: root([{ pointer: '/itemRefs/0' }]),
    start: invalid('qti'),
    underWay: drift,
    rules: 'MA-027, MA-221, MA-222',
  },
  {
    title: 'a reference of the root resolves to no member',
    change: manifest([{ pointer: '/members/0' }]),
    start: invalid('qti'),
    underWay: invalid('qti'),
    rules: 'MA-027, MA-163, MA-171, MA-221',
  },
  {
    title: 'the root is no assessment test',
    change: root(set('/type', 'assessment-item')),
    start: invalid('qti'),
    underWay: drift,
    rules: 'MA-024',
  },
  {
    title: 'a member has no knowledge component',
    change: manifest(set('/members/0/kcGuids', [])),
    start: invalid('bank'),
    underWay: invalid('bank'),
    rules: 'MA-026, MA-221, MA-223',
  },
  {
    title: 'a member has no standard',
    change: manifest(set('/members/0/caseGuids', [])),
    start: invalid('bank'),
    underWay: invalid('bank'),
    rules: 'MA-026, MA-221',
  },
  {
    title: 'a member’s components are not sorted',
    change: (held) => manifest(set('/members/0/kcGuids', held.kcGuids.toSorted().reverse()))(held),
    start: invalid('bank'),
    underWay: invalid('bank'),
    rules: 'MA-026, MA-221',
  },
  {
    title: 'the manifest has no members',
    change: manifest(set('/members', [])),
    start: invalid('bank'),
    underWay: invalid('bank'),
    rules: 'MA-025, MA-055',
  },
  {
    title: 'the manifest has no root',
    change: manifest([{ pointer: '/root' }]),
    start: invalid('bank'),
    underWay: invalid('bank'),
    rules: 'MA-025, MA-055',
  },
  {
    title: 'Bank’s operation has failed',
    change: manifest(set('/state', 'failed')),
    start: refusedBy('bank'),
    underWay: refusedBy('bank'),
    rules: 'MA-025, MA-055, MA-218',
  },
];

const calibration: readonly Drift[] = [
  {
    title: 'a knowledge component has another URI in CASE',
    change: kc(set('/uri', 'https://case.platform.example/uri/other')),
    start: miscalibrated,
    underWay: miscalibrated,
    rules: 'MA-031, MA-153, MA-161, MA-167',
  },
  {
    title: 'a knowledge component belongs to another CASE framework',
    change: kc(set('/CFDocumentURI/identifier', '00000000-0000-4000-8000-000000000000')),
    start: miscalibrated,
    underWay: miscalibrated,
    rules: 'MA-195',
  },
  {
    title: 'the anchor has another checksum',
    change: anchors('checksum', otherHash),
    start: miscalibrated,
    underWay: miscalibrated,
    rules: 'MA-153, MA-161, MA-167, MA-195',
  },
  {
    title: 'the anchor is licensed for something else',
    change: anchors('licenseScope', 'other'),
    start: miscalibrated,
    underWay: miscalibrated,
    rules: 'MA-195',
  },
  {
    title: 'the anchor is not licensed',
    change: anchors('licenseScope', null),
    start: miscalibrated,
    underWay: miscalibrated,
    rules: 'MA-195',
  },
  {
    title: 'the anchor is not verified',
    change: anchors('sourceRef', null),
    start: '201 in_progress anchor_unavailable',
    underWay: unanchored,
    rules: 'MA-032, MA-194',
  },
  {
    title: 'the anchor table has another version',
    change: () => ({ entity: 'extmap.anchor_table', id: 'r90', changes: set('/tableVersion', 'other') }),
    start: miscalibrated,
    underWay: unanchored,
    rules: 'MA-032, MA-194',
  },
  {
    title: 'the anchor table has no source point',
    change: () => ({ entity: 'extmap.anchor_table', id: 'r90', changes: set('/sourcePoints', []) }),
    start: miscalibrated,
    underWay: unanchored,
    rules: 'MA-032, MA-194',
  },
];

describe.each([
  { what: 'Content', drifts: content },
  { what: 'Bank and QTI', drifts: pool },
  { what: 'CASE and the anchor', drifts: calibration },
])('$what', ({ drifts }) => {
  for (const { title, change, start, underWay, rules } of drifts) {
    it(`${title}: ${start}; under way ${underWay} [${rules}]`, async () => {
      const { mastery } = stack.seededTenants.get('tenant-aurora')!.fixtures;
      const { entities } = await runs.state();
      const { kcGuids } = mastery.banks.find(({ name }) => name === 'fraction-subtraction-short')!;
      const undo = await runs.change(change({ pins: offered.body.executionPins, entities, kcGuids }));
      const beginning = runs.start();
      const inspecting = runs.inspect(played.body.continuationToken);
      const advancing = runs.advance(offered.body.continuationToken, played.etag);
      await runs.takeCalls();
      try {
        const replies = [await beginning.send(), await inspecting.send(), await advancing.send()];
        expect(replies.map(sentenceOf)).toEqual([start, underWay, underWay]);
        for (const reply of replies) if (reply.kind === 'run') expect(reply.body.scale === null).toBe(true);
        // Nothing is offered where a fact is missing.
        const written = (await runs.takeCalls()).some(({ method }) => method === 'POST');
        expect(written && replies.every(({ kind }) => kind === 'problem')).toBe(false);
      } finally {
        await undo();
      }
      // Nothing is spoilt by it: once the owner is as before, the same requests go through.
      expect(sentenceOf(await inspecting.send())).toBe(running);
      expect((await advancing.sendForRun()).body.offeredItem).toMatchObject({ sequence: 3 });
      if (start !== started) expect(sentenceOf(await beginning.send())).toBe(started);
    });
  }
});
