import { beforeAll, describe, expect, it } from 'vitest';
import { sentenceOf, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { OwnerChange, RunGiven } from '#test/support/adaptive-run.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { asBuilt, useTestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

const { conflict, drift, invalid, miscalibrated, refusedBy } = kinds;

const stack = useTestStack({ bundled: asBuilt });
const runs = useAdaptiveRuns(stack);
/** One answer consumed, the second item offered and played. */
let offered: RunGiven;
let played: RunGiven;
beforeAll(async () => {
  offered = (await runs.underWay()).second;
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
/** What an owner holds from now on, made of the run's pins and the owners' entities, and the answers to a start and to a run under way. */
type Drift = readonly [
  title: string,
  change: (held: Held) => OwnerChange,
  start: string,
  underWay: string,
  rules: string,
];

const set = (pointer: string, value: unknown): Changes => [{ pointer, value }];
/** Changes of one entity, which the pins or the scope name. */
const of =
  (entity: string, idOf: (held: Held) => string) =>
  (changes: Changes) =>
  (held: Held): OwnerChange => ({ entity, id: idOf(held), changes });
const spec = of('content.blueprint', ({ pins }) => pins.testSpecId);
const bank = of('content.bank_members', ({ pins }) => pins.testBankId);
const manifest = of('bank.manifest', ({ pins }) => pins.bankOperationId);
const root = of('qti.artifact', ({ pins }) => pins.qtiPoolArtifactVersionId);
const kc = of('case.item', ({ kcGuids }) => kcGuids[0]!);
const anchorTable = of('extmap.anchor_table', () => 'r90');
/** Every source point of the anchor table, the calibration's own among them. */
const anchors =
  (member: string, value: unknown) =>
  (held: Held): OwnerChange => {
    const { sourcePoints } = held.entities['extmap.anchor_table']!['r90'] as { sourcePoints: object[] };
    const changes = sourcePoints.map((_, at) => ({ pointer: `/sourcePoints/${at}/${member}`, value }));
    return anchorTable(changes)(held);
  };

const otherHash = 'f'.repeat(64);

const content: readonly Drift[] = [
  [
    'the blueprint has another title',
    spec(set('/title', 'Another title')),
    started,
    conflict,
    'MA-022, MA-067',
  ],
  [
    'the blueprint has a member that nobody knows',
    spec(set('/addedTomorrow', true)),
    started,
    conflict,
    'MA-022, MA-067',
  ],
  [
    'the blueprint is no test spec any more',
    spec(set('/role', 'draft')),
    refusedBy('content'),
    conflict,
    'MA-022, MA-053',
  ],
  [
    'the bank has another membership rule',
    bank(set('/membershipRule', 'fixed')),
    refusedBy('content'),
    conflict,
    'MA-023, MA-054, MA-068',
  ],
  [
    'the bank has a Content member',
    bank(set('/data', [{ itemId: 'item-1' }])),
    refusedBy('content'),
    conflict,
    'MA-023, MA-054, MA-068',
  ],
];

const pool: readonly Drift[] = [
  [
    'a member has another knowledge component',
    (held) => manifest(set('/members/0/kcGuids', [held.kcGuids.at(-1)]))(held),
    miscalibrated,
    drift,
    'MA-071, MA-153, MA-217',
  ],
  [
    'a member has another standard',
    manifest(set('/members/0/caseGuids', ['00000000-0000-4000-8000-000000000000'])),
    started,
    drift,
    'MA-071, MA-217',
  ],
  ['the root has another ETag', root(set('/title', 'retitled')), started, drift, 'MA-066, MA-070, MA-217'],
  [
    'the root has another package hash',
    root(set('/packageHash', otherHash)),
    invalid('qti'),
    drift,
    'MA-155, MA-217, MA-221',
  ],
  [
    'a member lies outside the root’s graph',
    root([{ pointer: '/itemRefs/0' }]),
    invalid('qti'),
    drift,
    'MA-027, MA-221, MA-222',
  ],
  [
    'a reference of the root resolves to no member',
    manifest([{ pointer: '/members/0' }]),
    invalid('qti'),
    invalid('qti'),
    'MA-027, MA-163, MA-171, MA-221',
  ],
  [
    'a member has no knowledge component',
    manifest(set('/members/0/kcGuids', [])),
    invalid('bank'),
    invalid('bank'),
    'MA-026, MA-221, MA-223',
  ],
  [
    'Bank’s operation has failed',
    manifest(set('/state', 'failed')),
    refusedBy('bank'),
    refusedBy('bank'),
    'MA-025, MA-055, MA-218',
  ],
];

const calibration: readonly Drift[] = [
  [
    'a knowledge component has another URI in CASE',
    kc(set('/uri', 'https://case.platform.example/uri/other')),
    miscalibrated,
    miscalibrated,
    'MA-031, MA-153, MA-161, MA-167',
  ],
  [
    'a knowledge component belongs to another CASE framework',
    kc(set('/CFDocumentURI/identifier', '00000000-0000-4000-8000-000000000000')),
    miscalibrated,
    miscalibrated,
    'MA-195',
  ],
  [
    'the anchor has another checksum',
    anchors('checksum', otherHash),
    miscalibrated,
    miscalibrated,
    'MA-153, MA-161, MA-167, MA-195',
  ],
  [
    'the anchor is licensed for something else',
    anchors('licenseScope', 'other'),
    miscalibrated,
    miscalibrated,
    'MA-195',
  ],
  [
    'the anchor is not verified',
    anchors('sourceRef', null),
    '201 in_progress anchor_unavailable',
    unanchored,
    'MA-032, MA-194',
  ],
  [
    'the anchor table has another version',
    anchorTable(set('/tableVersion', 'other')),
    miscalibrated,
    unanchored,
    'MA-032, MA-194',
  ],
  [
    'the anchor table has no source point',
    anchorTable(set('/sourcePoints', [])),
    miscalibrated,
    unanchored,
    'MA-032, MA-194',
  ],
];

describe.each([
  { what: 'Content', drifts: content },
  { what: 'Bank and QTI', drifts: pool },
  { what: 'CASE and the anchor', drifts: calibration },
])('$what', ({ drifts }) => {
  for (const [title, change, start, underWay, rules] of drifts) {
    it(`${title}: ${start}; under way ${underWay} [${rules}]`, async () => {
      const { mastery } = stack.seededTenants.get('tenant-aurora')!.fixtures;
      const { entities } = await runs.state();
      const { kcGuids } = mastery.banks.find(({ name }) => name === 'fraction-subtraction-short')!;
      const undo = await runs.change(change({ pins: offered.body.executionPins, entities, kcGuids }));
      const beginning = runs.start();
      const inspecting = runs.inspect(played.body.continuationToken);
      const advancing = runs.advance(offered.body.continuationToken, played.etag);
      try {
        const { result: replies, calls } = await callsDuring(stack, async () => [
          await beginning.send(),
          await inspecting.send(),
          await advancing.send(),
        ]);
        expect(replies.map(sentenceOf)).toEqual([start, underWay, underWay]);
        for (const reply of replies) if (reply.kind === 'run') expect(reply.body.scale === null).toBe(true);
        // Nothing is offered where a fact is missing.
        if (replies.every(({ kind }) => kind === 'problem'))
          expect(calls.every(({ method }) => method === 'GET')).toBe(true);
      } finally {
        await undo();
      }
      // Nothing is lost: once the owner is as before, the same requests succeed.
      expect(sentenceOf(await inspecting.send())).toBe(running);
      expect((await advancing.sendForRun()).body.offeredItem).toMatchObject({ sequence: 3 });
      if (start !== started) expect(sentenceOf(await beginning.send())).toBe(started);
    });
  }
});
