import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IndexRow } from '#functions/reports/facts/facts.ts';
import { anExampleOf, attemptFacts, indexLike } from '#test/support/report-facts.ts';
import type { RowSays } from '#test/support/report-facts.ts';
import { scriptedOwners, sentenceOf } from '#test/support/scripted-owners.ts';
import type { Scripted } from '#test/support/scripted-owners.ts';
import { MOST_INDEX_READS, readCandidatePage } from './read-facts.ts';
import type { PageRequest } from './read-facts.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';

// What a wrong fact or a fault of an owner makes of a page: test/lemmas/contradictions, test/lemmas/faults-reports.

const like = indexLike(anExampleOf(attemptFacts(fc.constant('formative'))));
const { candidateSourcedId, row } = like;
const index = (rows: readonly IndexRow[], hasMore = false): Scripted => ({ value: like.page(rows, hasMore) });
const many = (from: number, count: number, says?: RowSays): readonly IndexRow[] =>
  Array.from({ length: count }, (_, at) => row(from + at, says));
const submitted = { status: 'submitted', record: null } as const;

/**
 * Reads a page of three rows.
 * @param specs spec and version of the criteria, read by read
 */
async function read(
  pages: readonly Scripted[],
  specs: readonly (readonly [spec: string, version: string])[] = [['spec-1', '1']],
  request: Partial<PageRequest> = {},
) {
  const owners = scriptedOwners({
    readUser: { value: { user: { sourcedId: candidateSourcedId, status: 'active' } } },
    listCandidateAttempts: pages,
    readReportCriteria: specs.map(([spec, version]) => ({ value: like.criteria(spec, version) })),
  });
  const result = await readCandidatePage(
    createSourceReader(owners, () => 1),
    { candidateSourcedId, filters: {}, limit: 3, proved: new Set(), ...request },
  );
  const page = result.ok ? result.value : undefined;
  return {
    page,
    asked: owners.asked,
    said: sentenceOf(result),
    attempts: page?.data.map(({ header }) => header.attemptId),
    queries: owners.asked
      .filter(({ name }) => name === 'listCandidateAttempts')
      .map(({ call }) => call.query),
  };
}

describe('a page', () => {
  it('has a receipt for everything that it stands on, and each row those of its own [RP-069, RP-137]', async () => {
    const { page } = await read([index([row(1), row(2)])]);
    expect(page?.sources.map(({ service, resourceId, version }) => [service, resourceId, version])).toEqual([
      ['results', candidateSourcedId, 'index-1'],
      ['content', 'spec-1', '1'],
      ['oneroster', candidateSourcedId, null],
    ]);
    for (const { sources } of page?.data ?? []) expect(sources.slice(1)).toEqual(page?.sources.slice(1));
  });

  it('reads the criteria of each spec and version once, of the rows that can fill it', async () => {
    const rows = [
      row(1),
      row(2, { spec: 'spec-2' }),
      row(3),
      row(4, { version: '2' }),
      row(5, { spec: 'spec-2' }),
      row(6, { spec: 'spec-3' }),
    ];
    const { attempts, asked } = await read(
      [index(rows)],
      [
        ['spec-1', '1'],
        ['spec-2', '1'],
        ['spec-1', '2'],
      ],
      { limit: 5 },
    );
    expect(attempts).toHaveLength(5);
    expect(asked).toHaveLength(5);
  });
});

describe('a page of the index', () => {
  it('gives the rows that there is room for, and the page ends before the next one [RP-063]', async () => {
    const rows = [row(1), row(2, { status: 'submitted' }), row(3), row(4), row(5, submitted), row(6)];
    const { attempts, page, queries } = await read([index(rows)]);
    expect(attempts).toEqual(['attempt-1', 'attempt-3', 'attempt-4']);
    expect(page?.next).toMatchObject({ attemptId: 'attempt-5' });
    expect(queries).toHaveLength(1);
    // Where only what is no report follows, the list ends.
    const last = await read([index(rows.slice(0, -1))]);
    expect([last.attempts, last.page?.next]).toEqual([attempts, undefined]);
  });

  it('is one of 50 at most: beyond, there is no page rather than an empty one', async () => {
    const pages = Array.from({ length: MOST_INDEX_READS }, (_, at) =>
      index(many(at * 100, 100, submitted), true),
    );
    const { said, asked } = await read(pages);
    expect(said).toBe('503 dependency-unavailable results');
    // The candidate and the index: Content need not be asked about attempts that are not scored.
    expect(asked).toHaveLength(1 + 50);
    expect((await read([...pages.slice(1), index([row(9_000)])])).attempts).toEqual(['attempt-9000']);
  });

  it('that goes back, or gives an attempt again, when it is read on makes no page [RP-028]', async () => {
    for (const next of [row(4), { ...row(7), attemptId: 'attempt-6' }]) {
      const { said } = await read([index([row(6, submitted)], true), index([next])]);
      expect(said).toBe('503 dependency-incomplete results');
    }
  });

  it('is asked for what is wrong with a row only by the page that covers it', async () => {
    const pages = [index([row(1), row(2, { record: { attemptId: 'attempt-9' } })])];
    const first = await read(pages, undefined, { limit: 1 });
    expect(first.page?.next).toMatchObject({ attemptId: 'attempt-1' });
    const second = await read(pages, undefined, { limit: 2 });
    expect(second.said).toBe('503 dependency-unavailable results');
  });
});

describe('rows that do not agree with Content', () => {
  const settledLater = row(1, { settledUnder: '2' });

  it('are read once more, with their criteria and those of a new spec, but no others [RP-028, RP-238]', async () => {
    const agreed = row(2, { spec: 'spec-2' });
    const { attempts, asked } = await read(
      [index([settledLater, agreed]), index([row(0, { spec: 'spec-9' }), row(1), agreed])],
      [
        ['spec-1', '1'],
        ['spec-2', '1'],
        ['spec-9', '1'],
        ['spec-1', '1'],
      ],
    );
    expect(attempts).toEqual(['attempt-0', 'attempt-1', 'attempt-2']);
    expect(asked).toHaveLength(7);
  });

  it('are read again on a later page of the index too, where that page begins', async () => {
    const { attempts, queries } = await read(
      [
        index([settledLater], true),
        index([row(1, { status: 'open', record: null })], true),
        index([row(2, { settledUnder: '2' })]),
        index([row(2, { version: '2' })]),
      ],
      [
        ['spec-1', '1'],
        ['spec-1', '1'],
        ['spec-1', '2'],
      ],
    );
    expect(attempts).toEqual(['attempt-2']);
    expect(queries.slice(2).map((query) => query?.['afterAttemptId'])).toEqual(['attempt-1', 'attempt-1']);
  });

  it('fail as any read when the second one fails', async () => {
    const { said } = await read([index([settledLater]), { kind: 'unavailable' }]);
    expect(said).toBe('503 dependency-unavailable results');
  });
});
