import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxHolders, placeInLineage, type FormerOrder, type LineageHead, type Place } from './lineage.ts';

interface Opening {
  readonly run: { readonly improvementRunId: string; readonly createdAt: number };
  readonly order: string;
}

/** Runs find orders of one lineage in any order, some at the same time, some the same ones; none finds two. */
const openings = fc
  .uniqueArray(
    fc.record({
      run: fc.record({
        improvementRunId: fc.stringMatching(/^run_[a-f]{1,2}$/),
        createdAt: fc.integer({ min: 1, max: 5 }),
      }),
      order: fc.constantFrom('order_1', 'order_2', 'order_3', 'order_4'),
    }),
    { selector: ({ run }) => run.improvementRunId, maxLength: 30 },
  )
  .map((list): readonly Opening[] => list);

interface Recorded {
  readonly opening: Opening;
  readonly place: Place;
  status: Place['status'];
}

/** Plays openings one after the other, as a store does. */
function play(list: readonly Opening[]): {
  readonly records: readonly Recorded[];
  readonly head: LineageHead | undefined;
} {
  const records: Recorded[] = [];
  const former = new Map<string, FormerOrder>();
  let head: LineageHead | undefined;
  for (const opening of list) {
    const place = placeInLineage(head, former.get(opening.order), opening.run, opening.order);
    for (const record of records) {
      if (
        record.opening.order === head?.revisionOrderId &&
        place.supersededIn.includes(record.opening.run.improvementRunId)
      ) {
        record.status = 'superseded';
      }
    }
    records.push({ opening, place, status: place.status });
    if (place.former !== undefined) former.set(place.former.revisionOrderId, place.former);
    head = place.head ?? head;
  }
  return { records, head };
}

function isLater({ run: a }: Opening, { run: b }: Opening): boolean {
  return (
    a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.improvementRunId > b.improvementRunId)
  );
}

describe('a lineage', () => {
  it('is led by the order of its latest run, and only records of that order are not superseded [RP-205]', () => {
    fc.assert(
      fc.property(openings, (list) => {
        const { records, head } = play(list);
        const latest = list.reduce<Opening | undefined>(
          (found, opening) => (found === undefined || isLater(opening, found) ? opening : found),
          undefined,
        );
        expect(head?.revisionOrderId).toBe(latest?.order);
        expect(head?.run).toEqual(latest?.run);
        const live = records.filter(({ status }) => status === 'pending');
        expect(live.every(({ opening }) => opening.order === latest?.order)).toBe(true);
        expect(live.map(({ opening }) => opening.run.improvementRunId)).toEqual(head?.holders ?? []);
      }),
    );
  });

  it('has an order supersede the same one whenever it is opened to be sent, never itself, never in a circle [RP-205]', () => {
    fc.assert(
      fc.property(openings, (list) => {
        const settled = new Map<string, string | null>();
        for (const { opening, place } of play(list).records) {
          if (place.status === 'superseded' && !settled.has(opening.order)) {
            expect(place.supersedesRevisionOrderId).toBeNull();
            continue;
          }
          const earlier = settled.get(opening.order);
          if (earlier !== undefined) expect(place.supersedesRevisionOrderId).toBe(earlier);
          settled.set(opening.order, place.supersedesRevisionOrderId);
        }
        for (const start of settled.keys()) {
          const passed = new Set<string>();
          for (let at: string | null = start; at !== null; at = settled.get(at) ?? null) {
            expect(passed.has(at)).toBe(false);
            passed.add(at);
          }
        }
      }),
    );
  });

  it('remembers no more holders than a transaction can supersede, and those the latest', () => {
    const list = Array.from({ length: maxHolders + 7 }, (_, index) => ({
      run: { improvementRunId: `run_${index}`, createdAt: index },
      order: 'order_1',
    }));
    expect(play(list).head?.holders).toEqual(list.slice(7).map(({ run }) => run.improvementRunId));
  });

  it('lets a second order of one run stand beside its first, and remembers that it superseded none', () => {
    const run = { improvementRunId: 'run_a', createdAt: 1 };
    const first = placeInLineage(undefined, undefined, run, 'order_1');
    const second = placeInLineage(first.head, undefined, run, 'order_2');
    expect(second).toEqual({
      status: 'pending',
      supersedesRevisionOrderId: null,
      head: first.head,
      former: { revisionOrderId: 'order_2', supersedesRevisionOrderId: null },
      supersededIn: [],
    });
    const later = placeInLineage(
      second.head,
      second.former,
      { improvementRunId: 'run_b', createdAt: 2 },
      'order_2',
    );
    expect(later).toMatchObject({
      status: 'pending',
      supersedesRevisionOrderId: null,
      supersededIn: ['run_a'],
    });
  });
});
