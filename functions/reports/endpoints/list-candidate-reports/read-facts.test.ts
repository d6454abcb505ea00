import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IndexRow } from '#functions/reports/facts/facts.ts';
import { createFrameworks, MAX_FRAMEWORKS } from '#functions/reports/sources/case-package.ts';
import { anExampleOf, attemptFacts, indexLike, passedGate, tenantId } from '#test/support/report-facts.ts';
import type { RowSays } from '#test/support/report-facts.ts';
import { scriptedOwners, sentenceOf, type Scripted } from '#test/support/scripted-owners.ts';
import { MOST_INDEX_READS, MOST_SECOND_READINGS, readCandidatePage, type PageRequest } from './read-facts.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';

// What a wrong fact or a fault of an owner makes of a page: test/lemmas/contradictions, test/lemmas/faults-reports.

const like = indexLike(anExampleOf(attemptFacts(fc.constant('formative'))));
const { candidateSourcedId, row } = like;
const index = (rows: readonly IndexRow[], hasMore = false): Scripted => ({ value: like.page(rows, hasMore) });
const many = (from: number, count: number, says?: RowSays): readonly IndexRow[] =>
  Array.from({ length: count }, (_, at) => row(from + at, says));
const submitted = { status: 'submitted', record: null } as const;

type Owners = ReturnType<typeof scriptedOwners>;
/** Reads a page of three rows. */
async function readPage(candidate: string, owners: Owners, request: Partial<PageRequest> = {}) {
  const result = await readCandidatePage(
    createSourceReader(owners, () => 1),
    {
      candidateSourcedId: candidate,
      filters: {},
      limit: 3,
      proved: new Set(),
      frameworks: createFrameworks().of({ tenantId, baseUrl: 'https://platform.example' }),
      ...request,
    },
  );
  const page = result.ok ? result.value : undefined;
  const callsOf = (name: string) => owners.asked.filter((asked) => asked.name === name);
  return {
    page,
    asked: owners.asked,
    said: sentenceOf(result),
    attempts: page?.data.map(({ header }) => header.attemptId),
    next: page?.next?.attemptId,
    withheld: page?.withheld,
    queries: callsOf('listCandidateAttempts').map(({ call }) => call.query),
    packages: callsOf('readPackage').map(({ call }) => call.path?.['sourcedId']),
  };
}

/** @param specs spec and version of the criteria, read by read */
const read = (
  pages: readonly Scripted[],
  specs: readonly string[] = ['spec-1 1'],
  request: Partial<PageRequest> = {},
) =>
  readPage(
    candidateSourcedId,
    scriptedOwners({
      readUser: { value: { user: { sourcedId: candidateSourcedId, status: 'active' } } },
      listCandidateAttempts: pages,
      readReportCriteria: specs.map((spec) => ({
        value: like.criteria(...(spec.split(' ') as [string, string])),
      })),
    }),
    request,
  );

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
    const { attempts, asked } = await read([index(rows)], ['spec-1 1', 'spec-2 1', 'spec-1 2'], { limit: 5 });
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
      ['spec-1 1', 'spec-2 1', 'spec-9 1', 'spec-1 1'],
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
      ['spec-1 1', 'spec-1 1', 'spec-1 2'],
    );
    expect(attempts).toEqual(['attempt-2']);
    expect(queries.slice(2).map((query) => query?.['afterAttemptId'])).toEqual(['attempt-1', 'attempt-1']);
  });
});

describe('rows that contradict themselves', () => {
  const torn = {
    record: { score: { value: 2, minimum: 3, maximum: 4, unit: 'points', scaleVersion: null } },
  };

  it('are read once more, with their criteria, and shown if they are sound then [RP-028]', async () => {
    const { attempts, page, queries } = await read([
      index([row(1, torn), row(2)], true),
      index([row(1), row(2)]),
    ]);
    expect([attempts, page?.withheld, queries.length]).toEqual([['attempt-1', 'attempt-2'], [], 2]);
    expect([...(page?.broken ?? [])]).toEqual([]);
  });

  it('are withheld if they still do, keep no other row from the page, and their owner is named for the log [RP-028]', async () => {
    const { attempts, page, queries } = await read([index([row(1, torn), row(2)])]);
    expect([attempts, page?.withheld, queries.length]).toEqual([
      ['attempt-2'],
      [{ reason: 'unverified', count: 1 }],
      2,
    ]);
    expect([...(page?.broken ?? [])]).toEqual([['score-within-bounds', 'results']]);
  });

  it('do not use up the reads of 4,000 attempts, even if every page of the index has one', async () => {
    // What is read again is read ahead of again, too.
    const onePage = (nth: number) =>
      index([row(100 * nth, torn), ...many(100 * nth + 1, 99, submitted)], true);
    const again = Array.from({ length: MOST_SECOND_READINGS - 1 }, (_, n) => n + 1);
    const pages = [
      onePage(0),
      onePage(0),
      onePage(1),
      ...again.flatMap((nth) => [onePage(nth + 1), onePage(nth), onePage(nth + 1)]),
      ...Array.from({ length: 38 - again.length }, (_, n) => onePage(n + again.length + 2)),
    ];
    const { page, said, queries } = await read([...pages.slice(0, -1), index([row(9_000)])]);
    expect([said, page?.withheld]).toEqual(['facts', [{ reason: 'unverified', count: 39 }]]);
    expect(queries.length).toBeLessThanOrEqual(MOST_INDEX_READS);
  });
});

describe('gates', () => {
  const gates = indexLike(passedGate());
  /** The n-th row, a gate on a framework. */
  const gate = (n: number, framework: number | string, says: RowSays = {}): IndexRow =>
    gates.row(n, { spec: `spec-${framework}`, ...says });
  const packageOf = (framework: number | string) => ({
    value: {
      CFDocument: { identifier: `framework-${framework}`, lastChangeDateTime: '2099-01-01T00:00:00Z' },
      CFItems: [],
      CFAssociations: [],
    },
  });

  /** Reads a page of gates. Content and CASE answer in the order of the frameworks. */
  async function readGates(
    rows: readonly IndexRow[],
    frameworks: readonly (number | string)[],
    {
      packages = frameworks.map(packageOf),
      ...request
    }: Partial<PageRequest> & { packages?: readonly Scripted[] } = {},
  ) {
    const owners = scriptedOwners({
      readUser: { value: { user: { sourcedId: gates.candidateSourcedId, status: 'active' } } },
      listCandidateAttempts: { value: gates.page(rows) },
      readReportCriteria: frameworks.map((framework) =>
        framework === 'lacking'
          ? { kind: 'not-found', status: 404 }
          : {
              value: {
                ...gates.criteria(`spec-${framework}`, '1'),
                caseFrameworkGuid: `framework-${framework}`,
                testKind: framework === 'none' ? 'formative' : 'mastery_gate',
              },
            },
      ),
      readPackage: packages,
    });
    const read = await readPage(gates.candidateSourcedId, owners, { limit: 100, ...request });
    return {
      ...read,
      rowServices: read.page?.data.map(({ sources }) => sources.map(({ service }) => service)),
      services: read.page?.sources.map(({ service }) => service),
    };
  }

  it('are held against their frameworks, each of which is read once and has a receipt [RP-069, RP-089, RP-137]', async () => {
    const rows = [gate(1, 1), gate(2, 2), gate(3, 1), gate(4, 2)];
    const { attempts, packages, services } = await readGates(rows, [1, 2]);
    expect(attempts).toHaveLength(4);
    expect(packages).toEqual(['framework-1', 'framework-2']);
    expect(services).toEqual(['results', 'content', 'case', 'content', 'case', 'oneroster']);
  });

  it('are withheld where CASE does not bear them out, and say that it was asked where it does [RP-087]', async () => {
    const old = packageOf(1);
    old.value.CFDocument.lastChangeDateTime = '1900-01-01T00:00:00Z';
    const { attempts, withheld, rowServices } = await readGates([gate(1, 1), gate(2, 2)], [1, 2], {
      packages: [old, packageOf(2)],
    });
    expect([attempts, withheld]).toEqual([['attempt-2'], [{ reason: 'stale', count: 1 }]]);
    expect(rowServices).toEqual([['results', 'content', 'oneroster', 'case']]);
  });

  it('are withheld, and no other row is, where Content or CASE lacks what they refer to; one that is down makes no page [RP-017, RP-028]', async () => {
    const rows = [gate(1, 1), gate(2, 2)];
    const withheld = [{ reason: 'unverified', count: 1 }];
    const lacking = { kind: 'not-found', status: 404 } as const;
    expect(await readGates(rows, [1, 2], { packages: [packageOf(1), lacking] })).toMatchObject({
      attempts: ['attempt-1'],
      withheld,
    });
    expect(
      await readGates([gate(1, 'lacking'), gate(2, 2)], ['lacking', 2], { packages: [packageOf(2)] }),
    ).toMatchObject({
      attempts: ['attempt-2'],
      withheld,
    });
    const down = await readGates(rows, [1, 2], { packages: [packageOf(1), { kind: 'unavailable' }] });
    expect(down.said).toBe('503 dependency-unavailable case');
    // What the page does not cover does not concern it.
    const first = await readGates(rows, [1, 2], {
      packages: [packageOf(1), { kind: 'unavailable' }],
      limit: 1,
    });
    expect([first.attempts, first.next]).toEqual([['attempt-1'], 'attempt-1']);
  });

  it('end the page before the first one on a ninth framework, which is the first one of the next page [RP-301]', async () => {
    const on = Array.from({ length: MAX_FRAMEWORKS + 2 }, (_, n) => n + 1);
    const rows = on.map((n) => gate(n, n));
    const first = await readGates(rows, on);
    expect(first.attempts).toEqual(on.slice(0, MAX_FRAMEWORKS).map((n) => `attempt-${n}`));
    expect([first.next, first.packages.length]).toEqual([`attempt-${MAX_FRAMEWORKS}`, MAX_FRAMEWORKS]);
    const second = await readGates(rows.slice(MAX_FRAMEWORKS), on.slice(MAX_FRAMEWORKS), {
      after: rows[MAX_FRAMEWORKS - 1]!,
    });
    expect([second.attempts, second.next]).toEqual([['attempt-9', 'attempt-10'], undefined]);
    // What is no gate stays on the page, and so does a gate on a framework that is read already.
    const mixed = await readGates(
      [...rows.slice(0, MAX_FRAMEWORKS), gate(9, 3), gate(10, 9)],
      on.slice(0, MAX_FRAMEWORKS + 1),
    );
    expect([mixed.attempts?.length, mixed.next]).toEqual([9, 'attempt-9']);
  });

  it('on more frameworks before the first row are a problem, never an empty page with a cursor', async () => {
    const on = Array.from({ length: MAX_FRAMEWORKS + 1 }, (_, n) => n + 1);
    const rows = on.map((n) => gate(n, n));
    expect((await readGates(rows, on, { filters: { status: 'indeterminate' } })).said).toBe(
      '503 dependency-unavailable case',
    );
    const all = await readGates(rows.slice(1), on.slice(1), { filters: { status: 'indeterminate' } });
    expect([all.said, all.attempts, all.next]).toEqual(['facts', [], undefined]);
  });

  it('are counted when they are withheld, whatever is asked for', async () => {
    const rows = [gate(1, 1, { record: { gapRowCaseGuids: undefined } }), gate(2, 1)];
    const { attempts, withheld } = await readGates(rows, [1], { filters: { testKind: 'formative' } });
    expect([attempts, withheld]).toEqual([[], [{ reason: 'unverified', count: 1 }]]);
  });
});
