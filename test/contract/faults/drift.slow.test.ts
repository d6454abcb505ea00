import { beforeAll, describe, expect, it } from 'vitest';
import { sentenceOf, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { OwnerChange, RunGiven, RunReply } from '#test/support/adaptive-run.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

const { conflict, drift, invalid, miscalibrated, refusedBy } = kinds;

const stack = useTestStack({ bundled: true });
const runs = useAdaptiveRuns(stack);
/** One answer consumed, the second item offered and played. */
let offered: RunGiven;
let played: RunGiven;
beforeAll(async () => {
  ({ second: offered } = await runs.underWay());
  played = await runs.playAndInspect(offered.body);
});

const started = '201 in_progress pending';
const running = '200 in_progress reportable';
const unanchored = '200 in_progress anchor_unavailable';

interface Held {
  readonly pins: RunGiven['body']['executionPins'];
  readonly entities: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly kcGuids: readonly string[];
}
type Changes = OwnerChange['changes'];
type Change = (held: Held) => OwnerChange;

const set = (pointer: string, value: unknown): Changes => [{ pointer, value }];
/** Changes of one entity, which the pins or the scope name. */
const of =
  (entity: string, idOf: (held: Held) => string) =>
  (changes: Changes): Change =>
  (held) => ({ entity, id: idOf(held), changes });
const spec = of('content.blueprint', ({ pins }) => pins.testSpecId);
const bank = of('content.bank_members', ({ pins }) => pins.testBankId);
const manifest = of('bank.manifest', ({ pins }) => pins.bankOperationId);
const root = of('qti.artifact', ({ pins }) => pins.qtiPoolArtifactVersionId);
const kc = of('case.item', ({ kcGuids }) => kcGuids[0]!);
const anchorTable = of('extmap.anchor_table', () => 'r90');
/** Every source point of the anchor table, the calibration's own among them. */
const anchors =
  (member: string, value: unknown): Change =>
  (held) => {
    const { sourcePoints } = held.entities['extmap.anchor_table']!['r90'] as { sourcePoints: object[] };
    const changes = sourcePoints.map((_, at) => ({ pointer: `/sourcePoints/${at}/${member}`, value }));
    return anchorTable(changes)(held);
  };

const OTHER_HASH = 'f'.repeat(64);
const OTHER_GUID = '00000000-0000-4000-8000-000000000000';
const OTHER_URI = 'https://case.platform.example/uri/other';

/** What an owner holds from now on, made of the run's pins and the owners' entities, and the answers to a start and to a run under way. */
const drifts: Readonly<Record<string, readonly [change: Change, start: string, underWay: string]>> = {
  'the blueprint has another title': [spec(set('/title', 'Another title')), started, conflict],
  'the blueprint has an unknown member': [spec(set('/addedTomorrow', true)), started, conflict],
  'the blueprint is no test spec any more': [spec(set('/role', 'draft')), refusedBy('content'), conflict],
  'the bank’s membership is fixed': [bank(set('/membershipRule', 'fixed')), refusedBy('content'), conflict],
  'the bank has a Content member': [bank(set('/data', [{ itemId: 'i' }])), refusedBy('content'), conflict],
  'a member has another knowledge component': [
    (held) => manifest(set('/members/0/kcGuids', [held.kcGuids.at(-1)]))(held),
    miscalibrated,
    drift,
  ],
  'a member has another standard': [manifest(set('/members/0/caseGuids', [OTHER_GUID])), started, drift],
  'the root has another ETag': [root(set('/title', 'retitled')), started, drift],
  'a member has no knowledge component': [manifest(set('/members/0/kcGuids', [])), invalid('bank'), drift],
  'Bank’s operation has failed': [manifest(set('/state', 'failed')), refusedBy('bank'), refusedBy('bank')],
  'a component has another URI in CASE': [kc(set('/uri', OTHER_URI)), miscalibrated, miscalibrated],
  'a component belongs to another framework': [
    kc(set('/CFDocumentURI/identifier', OTHER_GUID)),
    miscalibrated,
    miscalibrated,
  ],
  'the anchor has another checksum': [anchors('checksum', OTHER_HASH), miscalibrated, miscalibrated],
  'the anchor has another licence': [anchors('licenseScope', 'other'), miscalibrated, miscalibrated],
  'the anchor is not verified': [
    anchors('sourceRef', null),
    '201 in_progress anchor_unavailable',
    unanchored,
  ],
  'the anchor table has another version': [
    anchorTable(set('/tableVersion', 'other')),
    miscalibrated,
    unanchored,
  ],
  'the anchor table has its points twice': [
    (held) => {
      const { sourcePoints } = held.entities['extmap.anchor_table']!['r90'] as { sourcePoints: object[] };
      return anchorTable(set('/sourcePoints', [...sourcePoints, ...sourcePoints]))(held);
    },
    '201 in_progress anchor_unavailable',
    unanchored,
  ],
  'the anchor table has no point of the source': [anchors('source', 'other'), miscalibrated, unanchored],
  'the anchor table is empty': [anchorTable(set('/sourcePoints', [])), miscalibrated, unanchored],
  'an item has another maximum score': [root(set('/itemRefs/1/normalMaximum', 2)), miscalibrated, drift],
  'an item names the maximum score that it had': [root(set('/itemRefs/1/normalMaximum', 1)), started, drift],
};

describe('what a run is pinned to has changed', () => {
  it.each(Object.entries(drifts))(
    '%s [MA-022, MA-023, MA-025, MA-026, MA-027, MA-031, MA-032, MA-053, MA-054, MA-055, MA-066, MA-067, MA-068, MA-070, MA-071, MA-153, MA-155, MA-160, MA-161, MA-162, MA-163, MA-165, MA-167, MA-168, MA-171, MA-194, MA-195, MA-217, MA-218, MA-221, MA-222, MA-223]',
    async (_, [change, start, underWay]) => {
      const { mastery } = stack.seededTenants.get('tenant-aurora')!.fixtures;
      const { entities } = await runs.state();
      const { kcGuids } = mastery.banks.find(({ name }) => name === 'fraction-subtraction-short')!;
      const undo = await runs.change(change({ pins: offered.body.executionPins, entities, kcGuids }));
      const beginning = runs.start();
      const inspecting = runs.inspect(played.body.continuationToken);
      const advancing = runs.advance(offered.body.continuationToken, played.etag);
      try {
        const replies: RunReply[] = [];
        for (const request of [beginning, inspecting, advancing]) {
          const { result, calls } = await callsDuring(stack, () => request.send());
          replies.push(result);
          if (result.kind === 'run') expect(result.body.scale).toBeNull();
          // Nothing is offered where a fact is missing.
          else expect(calls.every(({ method }) => method === 'GET')).toBe(true);
        }
        expect(replies.map(sentenceOf)).toEqual([start, underWay, underWay]);
      } finally {
        await undo();
      }
      // Nothing is lost: once the owner is as before, the same requests succeed.
      expect(sentenceOf(await inspecting.send())).toBe(running);
      expect((await advancing.sendForRun()).body.offeredItem).toMatchObject({ sequence: 3 });
      if (start !== started) expect(sentenceOf(await beginning.send())).toBe(started);
    },
  );
});
