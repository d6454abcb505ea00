import { describe, expect, it } from 'vitest';
import { reportsRoutes } from '../routes.ts';
import { mergeReceipts } from '../source-ref.ts';
import { areDistinct, type ListKey } from './invariant.ts';
import { shownLists } from './lists.ts';

/** Lists that no schema holds to their key, since a table of invariants does. */
const heldByInvariants: ReadonlySet<string> = new Set([
  'mastery/evidence',
  'data/mastery/evidence',
  'report/mastery/evidence',
  'measures',
]);

interface Found {
  readonly place: string;
  readonly list: ListKey<unknown>;
  /** The list in an answer, and the answer with its first row twice. */
  readonly rows: readonly unknown[];
  readonly doubled: unknown;
}

/** Every list with a key that an answer has rows of. */
function* listsOf(answer: unknown, lists: object, place: readonly string[] = []): Generator<Found> {
  if (typeof answer !== 'object' || answer === null) return;
  for (const [name, keys] of Object.entries(lists) as [string, object][]) {
    const held = (answer as Record<string, unknown>)[name];
    const within = (changed: unknown): unknown => ({ ...answer, [name]: changed });
    const here = [...place, name];
    if (!Array.isArray(held)) {
      for (const found of listsOf(held, keys, here)) yield { ...found, doubled: within(found.doubled) };
      continue;
    }
    const rows: readonly unknown[] = held;
    if ('key' in keys && rows.length > 0)
      // SAFETY: the compiler has held the keys to the rows of this list.
      yield {
        place: here.join('/'),
        list: keys as ListKey<unknown>,
        rows,
        doubled: within([rows[0], ...rows]),
      };
    if ('rows' in keys && rows.length > 0)
      for (const found of listsOf(rows[0], keys.rows as object, here))
        yield { ...found, doubled: within([found.doubled, ...rows.slice(1)]) };
  }
}

const shown = Object.values(reportsRoutes).flatMap(({ operationId, success: { schema, example } }) =>
  // SAFETY: the row of an operation is the one of its name.
  [...listsOf(example, shownLists[operationId as keyof typeof shownLists])].map((found) => ({
    ...found,
    operationId,
    schema,
  })),
);

it.each(shown)(
  '$operationId refuses a row twice: $place [RP-064, RP-070, RP-105, RP-109, RP-110, RP-121, RP-148, RP-152, RP-157, RP-167, RP-177, RP-196, RP-197]',
  ({ schema, place, list, rows, doubled }) => {
    expect([areDistinct(rows, list), areDistinct([rows[0], ...rows], list)]).toEqual([true, false]);
    expect(schema.safeParse(doubled).success).toBe(heldByInvariants.has(place));
  },
);

describe('mergeReceipts', () => {
  const receipt = {
    service: 'results',
    resourceId: 'record-1',
    observedAt: '2026-03-02T10:15:30.000Z',
    version: '4',
    status: 'current',
  } as const;

  it('gives each version of what an owner was read for once, in the order of the first reading', () => {
    const others = [
      { ...receipt, version: '5' },
      { ...receipt, version: null },
      { ...receipt, resourceId: 'record-2' },
      { ...receipt, service: 'content' },
    ] as const;
    expect(
      mergeReceipts([receipt, ...others, { ...receipt, observedAt: '2026-03-02T10:15:31.000Z' }]),
    ).toEqual([receipt, ...others]);
  });

  it.each(['stale', 'unavailable', 'unknown'] as const)('keeps that an owner called it %s', (status) => {
    const outdated = { ...receipt, status };
    expect(mergeReceipts([receipt, outdated])).toEqual([outdated]);
    expect(mergeReceipts([outdated, receipt])).toEqual([outdated]);
  });
});
