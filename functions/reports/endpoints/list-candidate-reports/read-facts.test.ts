import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Result } from '#shared/kernel/result.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { anExampleOf, attemptFacts, rowOf } from '#test/support/report-facts.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { Script, Scripted, ScriptedOwners } from '#test/support/scripted-owners.ts';
import { MOST_INDEX_READS, readCandidatePage } from './read-facts.ts';
import type { CandidatePage, PageRequest } from './read-facts.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';

// What a wrong fact or a fault of an owner makes of a page: test/lemmas/contradictions, test/lemmas/faults-reports.

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
  it('has a receipt for everything that it stands on, and each row those of its own [RP-069, RP-137]', async () => {
    const { sources, data } = factsOf(await page({}));
    expect(sources.map(({ service, resourceId, version }) => [service, resourceId, version])).toEqual([
      ['results', CANDIDATE, 'index-1'],
      ['content', 'spec-1', '1'],
      ['oneroster', CANDIDATE, null],
    ]);
    for (const row of data) expect(row.sources.slice(1)).toEqual(sources.slice(1));
  });

  it('asks the index for what Results owns of the filters, and nothing else [RP-030, RP-306]', async () => {
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
    const bare = await page({ listCandidateAttempts: index([]) });
    expect(queriesOf(bare)).toEqual([{ limit: '100' }]);
    const ofIndex = bare.owners.asked.find(({ name }) => name === 'listCandidateAttempts');
    expect(ofIndex?.call.path).toEqual({ candidateSourcedId: CANDIDATE });
    // There is no row of which Content could say anything.
    expect(bare.owners.names()).toEqual(['listCandidateAttempts', 'readUser']);
    expect(factsOf(bare)).toMatchObject({ data: [], next: undefined });
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
    const rows = [row(1), row(2, { status: 'submitted' }), row(3), row(4), row(5, submitted), row(6)];
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

  it('that goes back when it is read on makes no page [RP-028]', async () => {
    const read = await page({
      listCandidateAttempts: [index([row(6, submitted)], true), index([row(4)])],
    });
    expect(said(read)).toBe('503 dependency-incomplete results');
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
