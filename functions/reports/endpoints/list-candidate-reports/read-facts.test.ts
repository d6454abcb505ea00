import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Result } from '#shared/kernel/result.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { anExampleOf, attemptFacts, rowOf } from '#test/support/report-facts.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { Script, Scripted, ScriptedOwners } from '#test/support/scripted-owners.ts';
import { readCandidatePage } from './read-facts.ts';
import { MOST_INDEX_READS } from './read-facts.ts';
import type { CandidatePage, PageRequest } from './read-facts.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';
import { notFound } from '#functions/reports/sources/problems.ts';

const CANDIDATE = 'student-1';
const facts = anExampleOf(attemptFacts(fc.constant('formative')));
const example = rowOf(facts).row;

type Row = CandidateAttempts['rows'][number];

interface RowSays {
  readonly status?: string;
  readonly spec?: string;
  readonly version?: string;
  /** The version that the record names. */
  readonly settledUnder?: string;
  readonly record?: null;
}

/** The n-th row: a minute older than the one before. */
function row(
  n: number,
  { status = 'scored', spec = 'spec-1', version = '1', settledUnder, record }: RowSays = {},
): Row {
  const modifiedAt = new Date(Date.UTC(2026, 0, 1) - n * 60_000).toISOString();
  const attemptId = `attempt-${n}`;
  const place = { attemptId, contentTestSpecId: spec, modifiedAt };
  return {
    ...example,
    ...place,
    attemptStatus: status,
    contentTestSpecVersion: version,
    record:
      record === null
        ? null
        : {
            ...example.record,
            ...place,
            candidateSourcedId: CANDIDATE,
            contentTestSpecVersion: settledUnder ?? version,
          },
  };
}

function index(rows: readonly Row[], hasMore = false, changes: object = {}): Scripted {
  return {
    value: {
      tenantId: 'tenant-1',
      candidateSourcedId: CANDIDATE,
      version: 'index-1',
      freshness: 'current',
      rows,
      hasMore,
      ...changes,
    },
  };
}

const criteria = (testSpecId: string, version: string): Scripted => ({
  value: { ...facts.criteria.value, testSpecId, version },
});

const script = {
  readUser: { value: { user: { sourcedId: CANDIDATE, status: 'active' } } },
  listCandidateAttempts: index([row(1), row(2)]),
  readReportCriteria: criteria('spec-1', '1'),
} satisfies Script;

interface Read {
  readonly owners: ScriptedOwners;
  readonly result: Result<CandidatePage, Problem>;
}

async function page(changes: Script, request: Partial<PageRequest> = {}): Promise<Read> {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader(owners, () => 1);
  const asked = {
    candidateSourcedId: CANDIDATE,
    filters: {},
    limit: 3,
    proved: new Set<never>(),
    ...request,
  };
  return { owners, result: await readCandidatePage(reader, asked) };
}

function factsOf({ result }: Read): CandidatePage {
  if (!result.ok) throw new Error(`${result.error.code} ${result.error.dependency}`);
  return result.value;
}

function said({ result }: Read): string {
  if (result.ok) return 'facts';
  return [result.error.status, result.error.code, result.error.dependency ?? '-'].join(' ');
}

const attemptsOf = (read: Read): readonly string[] =>
  factsOf(read).data.map(({ identity }) => identity.attemptId);
const queriesOf = ({ owners }: Read) =>
  owners.asked.filter(({ name }) => name === 'listCandidateAttempts').map(({ call }) => call.query);

describe('a page', () => {
  it('is read in two waves: roster beside index, then the criteria of its specs [RP-030]', async () => {
    const read = await page({});
    expect(read.owners.asked.map(({ name }) => name)).toEqual([
      'readUser',
      'listCandidateAttempts',
      'readReportCriteria',
    ]);
    expect(attemptsOf(read)).toEqual(['attempt-1', 'attempt-2']);
    expect(factsOf(read).next).toBeUndefined();
  });

  it('has a receipt for everything that it stands on, and each row those of its own [RP-069, RP-137]', async () => {
    const { sources, data } = factsOf(await page({}));
    expect(sources.map(({ service, resourceId, version }) => [service, resourceId, version])).toEqual([
      ['results', CANDIDATE, 'index-1'],
      ['content', 'spec-1', '1'],
      ['oneroster', CANDIDATE, null],
    ]);
    for (const row of data) expect(row.sources.slice(1)).toEqual(sources.slice(1));
  });

  it('asks the index for what Results owns of the filters, and nothing else', async () => {
    const filters = {
      qtiTestId: 'form & 1',
      testKind: 'formative',
      status: 'scored',
      modifiedSince: '2025-01-01T00:00:00.5Z',
    } as const;
    const after = { modifiedAt: '2026-06-01T00:00:00Z', attemptId: 'attempt-0' };
    const read = await page({ listCandidateAttempts: index([]) }, { filters, after, limit: 7 });
    expect(queriesOf(read)).toEqual([
      {
        limit: '100',
        qtiTestId: filters.qtiTestId,
        modifiedSince: filters.modifiedSince,
        afterModifiedAt: after.modifiedAt,
        afterAttemptId: after.attemptId,
      },
    ]);
    expect(queriesOf(await page({ listCandidateAttempts: index([]) }))).toEqual([{ limit: '100' }]);
  });

  it('without a row is empty and asks Content nothing [RP-306]', async () => {
    const read = await page({ listCandidateAttempts: index([]) });
    expect(factsOf(read)).toMatchObject({ data: [], next: undefined });
    expect(read.owners.names()).not.toContain('readReportCriteria');
  });

  it('reads the criteria of each spec and version once, side by side', async () => {
    const rows = [
      row(1),
      row(2, { spec: 'spec-2' }),
      row(3),
      row(4, { version: '2' }),
      row(5, { spec: 'spec-2' }),
    ];
    const read = await page(
      {
        listCandidateAttempts: index(rows),
        readReportCriteria: [criteria('spec-1', '1'), criteria('spec-2', '1'), criteria('spec-1', '2')],
      },
      { limit: 5 },
    );
    expect(attemptsOf(read)).toHaveLength(5);
    expect(read.owners.asked).toHaveLength(5);
  });
});

describe('a page of the index', () => {
  const submitted = { status: 'submitted', record: null } as const;
  const many = (from: number, count: number, says?: RowSays): readonly Row[] =>
    Array.from({ length: count }, (_, at) => row(from + at, says));

  it('gives the rows that there is room for, and the page ends before the next one [RP-063]', async () => {
    const rows = [row(1), row(2, submitted), row(3), row(4), row(5, submitted), row(6)];
    const read = await page({ listCandidateAttempts: index(rows) });
    expect(attemptsOf(read)).toEqual(['attempt-1', 'attempt-3', 'attempt-4']);
    expect(factsOf(read).next).toMatchObject({ attemptId: 'attempt-5' });
    expect(queriesOf(read)).toHaveLength(1);
  });

  it('ends the list where only what is no report follows', async () => {
    const read = await page({ listCandidateAttempts: index([row(1), row(2), row(3), row(4, submitted)]) });
    expect(attemptsOf(read)).toHaveLength(3);
    expect(factsOf(read).next).toBeUndefined();
  });

  it('has only the test specs read of the rows that can fill the page', async () => {
    const rows = [row(1), row(2, { spec: 'spec-2' }), row(3, { spec: 'spec-3' })];
    const read = await page({ listCandidateAttempts: index(rows) }, { limit: 1 });
    expect(attemptsOf(read)).toEqual(['attempt-1']);
    expect(read.owners.asked).toHaveLength(3);
  });

  it('without a row of the list is followed by the next one, beside the test specs of the one before', async () => {
    const read = await page({
      listCandidateAttempts: [
        index(many(1, 100, submitted), true),
        index(many(101, 100, submitted), true),
        index([row(201), row(202)], true),
        index(many(301, 2), true),
      ],
    });
    expect(attemptsOf(read)).toEqual(['attempt-201', 'attempt-202']);
    expect(queriesOf(read)[1]).toEqual({
      limit: '100',
      afterModifiedAt: row(100).modifiedAt,
      afterAttemptId: 'attempt-100',
    });
    expect(factsOf(read).next).toMatchObject({ attemptId: 'attempt-202', modifiedAt: row(202).modifiedAt });
    expect(factsOf(read).sources.filter(({ service }) => service === 'results')).toHaveLength(3);
  });

  it('is one of 50 at most: beyond, there is no page rather than an empty one', async () => {
    const pages = Array.from({ length: MOST_INDEX_READS }, (_, at) =>
      index(many(at * 100, 100, submitted), true),
    );
    const read = await page({ listCandidateAttempts: pages });
    expect(said(read)).toBe('503 dependency-unavailable results');
    expect(queriesOf(read)).toHaveLength(50);
    const last = await page({ listCandidateAttempts: [...pages.slice(1), index([row(9_000)])] });
    expect(attemptsOf(last)).toEqual(['attempt-9000']);
  });

  it('passes over what cannot be a report yet, and counts it', async () => {
    const unsettled = row(2, { record: null });
    const stale = row(3);
    const rows = [row(1), unsettled, { ...stale, record: { ...stale.record!, freshness: 'stale' as const } }];
    const read = await page({ listCandidateAttempts: index(rows) });
    expect(attemptsOf(read)).toEqual(['attempt-1']);
    expect(factsOf(read).withheld).toEqual([
      { reason: 'unsettled', count: 1 },
      { reason: 'stale', count: 1 },
    ]);
  });

  it('counts a record that Results shows and has not settled, which Content is not asked about', async () => {
    const open = row(1);
    const rows = [{ ...open, record: { ...open.record!, settled: false } }];
    const read = await page({ listCandidateAttempts: index(rows) });
    expect(factsOf(read)).toMatchObject({ data: [], withheld: [{ reason: 'unsettled', count: 1 }] });
    expect(read.owners.names()).not.toContain('readReportCriteria');
  });

  it('is asked for what is wrong with a row only by the page that covers it', async () => {
    const foreign = row(2);
    const rows = [row(1), { ...foreign, record: { ...foreign.record!, attemptId: 'attempt-9' } }];
    const first = await page({ listCandidateAttempts: index(rows) }, { limit: 1 });
    expect(factsOf(first).next).toMatchObject({ attemptId: 'attempt-1' });
    const second = await page({ listCandidateAttempts: index(rows) }, { limit: 2 });
    expect(said(second)).toBe('503 dependency-unavailable results');
  });
});

describe('a page that cannot be trusted', () => {
  it.each<[string, Script, string]>([
    ['a candidate who is not on the roster', { readUser: { kind: 'not-found' } }, '404 not-found -'],
    [
      'a candidate who is leaving it',
      { readUser: { value: { user: { sourcedId: CANDIDATE, status: 'tobedeleted' } } } },
      '404 not-found -',
    ],
    [
      'another user than was asked for',
      { readUser: { value: { user: { sourcedId: 'student-2', status: 'active' } } } },
      '503 dependency-unavailable oneroster',
    ],
    ['no index', { listCandidateAttempts: { kind: 'not-found' } }, '503 dependency-incomplete results'],
    [
      'a foreign index',
      { listCandidateAttempts: { kind: 'wrong-tenant' } },
      '503 dependency-unavailable results',
    ],
    [
      'another candidate’s index',
      { listCandidateAttempts: index([], false, { candidateSourcedId: 'student-2' }) },
      '503 dependency-unavailable results',
    ],
    [
      'a stale index',
      { listCandidateAttempts: index([], false, { freshness: 'stale' }) },
      '503 dependency-incomplete results',
    ],
    [
      'an index out of order',
      { listCandidateAttempts: index([row(2), row(1)]) },
      '503 dependency-incomplete results',
    ],
    [
      'an index that goes back when it is read on',
      { listCandidateAttempts: [index([row(6, { status: 'open', record: null })], true), index([row(4)])] },
      '503 dependency-incomplete results',
    ],
    [
      'more rows than asked for',
      { listCandidateAttempts: index(Array.from({ length: 101 }, (_, n) => row(n))) },
      '503 dependency-incomplete results',
    ],
    ['no criteria', { readReportCriteria: { kind: 'not-found' } }, '503 dependency-incomplete content'],
    [
      'criteria of another spec',
      { readReportCriteria: criteria('spec-2', '1') },
      '503 dependency-unavailable content',
    ],
  ])('for %s is none [RP-017, RP-028, RP-133]', async (_, changes, expected) => {
    expect(said(await page(changes))).toBe(expected);
  });

  it.each<Scripted>([{ kind: 'unavailable' }, { kind: 'not-found' }, index([row(2), row(1)])])(
    'for a candidate who is not on the roster is a 404 whatever the index says: %j [RP-316]',
    async (listCandidateAttempts) => {
      const { result } = await page({ readUser: { kind: 'not-found' }, listCandidateAttempts });
      expect(result).toEqual({ ok: false, error: notFound() });
    },
  );

  it('for a candidate whom the index alone does not know is no 404', async () => {
    expect(said(await page({ listCandidateAttempts: { kind: 'rejected', status: 403 } }))).toBe(
      '503 dependency-unavailable results',
    );
  });
});

describe('rows that do not agree with Content', () => {
  const settledLater = row(1, { settledUnder: '2' });

  it('are read once more with their criteria [RP-028]', async () => {
    const read = await page({
      listCandidateAttempts: [index([settledLater, row(2)]), index([row(1, { version: '2' }), row(2)])],
      readReportCriteria: [criteria('spec-1', '1'), criteria('spec-1', '2'), criteria('spec-1', '1')],
    });
    expect(attemptsOf(read)).toEqual(['attempt-1', 'attempt-2']);
    expect(read.owners.asked.map(({ name, call }) => [name, call.query?.['version']]).slice(0, 5)).toEqual([
      ['readUser', undefined],
      ['listCandidateAttempts', undefined],
      ['readReportCriteria', '1'],
      ['listCandidateAttempts', undefined],
      ['readReportCriteria', '2'],
    ]);
  });

  it('are read no third time, and make no page: the owner that did not converge is named [RP-017]', async () => {
    const read = await page({ listCandidateAttempts: [index([settledLater]), index([settledLater])] });
    expect(said(read)).toBe('503 dependency-unavailable results');
    expect(queriesOf(read)).toHaveLength(2);
  });

  it('and are of a new spec by then have it read [RP-238]', async () => {
    const read = await page({
      listCandidateAttempts: [index([settledLater]), index([row(0, { spec: 'spec-9' }), row(1)])],
      readReportCriteria: [criteria('spec-1', '1'), criteria('spec-9', '1'), criteria('spec-1', '1')],
    });
    expect(attemptsOf(read)).toEqual(['attempt-0', 'attempt-1']);
  });

  it('are read again on a later page of the index too, where that page begins', async () => {
    const open = row(1, { status: 'open', record: null });
    const later = row(2, { settledUnder: '2' });
    const read = await page({
      listCandidateAttempts: [index([open], true), index([later]), index([row(2, { version: '2' })])],
      readReportCriteria: [criteria('spec-1', '1'), criteria('spec-1', '2')],
    });
    expect(attemptsOf(read)).toEqual(['attempt-2']);
    expect(
      queriesOf(read)
        .slice(1)
        .map((query) => query?.['afterAttemptId']),
    ).toEqual(['attempt-1', 'attempt-1']);
  });

  it('fail as any read when the second one fails', async () => {
    const read = await page({
      listCandidateAttempts: [index([settledLater]), { kind: 'unavailable' }],
    });
    expect(said(read)).toBe('503 dependency-unavailable results');
  });
});
