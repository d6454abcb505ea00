import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Result } from '#shared/kernel/result.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { anExampleOf, attemptFacts, rowOf } from '#test/support/report-facts.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { Script, Scripted, ScriptedOwners } from '#test/support/scripted-owners.ts';
import { readCandidatePage } from './read-facts.ts';
import type { PageFacts, PageRequest } from './read-facts.ts';
import { createSourceReader } from '#functions/reports/sources/create-reader.ts';
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
  readonly result: Result<PageFacts, Problem>;
}

async function page(changes: Script, request: Partial<PageRequest> = {}): Promise<Read> {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader({ platform: owners, stamp: String, now: () => 1 });
  const asked = { candidateSourcedId: CANDIDATE, filters: {}, limit: 3, ...request };
  return { owners, result: await readCandidatePage(reader, asked) };
}

function factsOf({ result }: Read): PageFacts {
  if (!result.ok) throw new Error(`${result.error.code} ${result.error.dependency}`);
  return result.value;
}

function said({ result }: Read): string {
  if (result.ok) return 'facts';
  return [result.error.status, result.error.code, result.error.dependency ?? '-'].join(' ');
}

const attemptsOf = (read: Read): readonly string[] => factsOf(read).rows.map((one) => one.row.attemptId);
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

  it('has a receipt for everything that was read, and each row those of its own [RP-069, RP-137]', async () => {
    const { sources, rows, candidate } = factsOf(await page({}));
    expect(sources.map(({ service, resourceId, version }) => [service, resourceId, version])).toEqual([
      ['results', CANDIDATE, 'index-1'],
      ['content', 'spec-1', '1'],
      ['oneroster', CANDIDATE, null],
    ]);
    expect(sources).toContain(candidate);
    for (const { index: receipt, criteria: held } of rows)
      expect(sources).toEqual(expect.arrayContaining([receipt, held.receipt]));
  });

  it('asks the index for exactly what its caller filters by, and nothing else', async () => {
    const filters = {
      qtiTestId: 'form & 1',
      testKind: 'formative',
      status: 'scored',
      modifiedSince: '2025-01-01T00:00:00.5Z',
    } as const;
    const after = { modifiedAt: '2026-06-01T00:00:00Z', attemptId: 'attempt-0' };
    const read = await page({ listCandidateAttempts: index([]) }, { filters, after, limit: 7 });
    expect(queriesOf(read)).toEqual([
      { limit: '7', ...filters, afterModifiedAt: after.modifiedAt, afterAttemptId: after.attemptId },
    ]);
    expect(
      queriesOf(await page({ listCandidateAttempts: index([]) }, { filters: { testKind: undefined } })),
    ).toEqual([{ limit: '3' }]);
  });

  it('without a row is empty and asks Content nothing [RP-306]', async () => {
    const read = await page({ listCandidateAttempts: index([]) });
    expect(factsOf(read)).toMatchObject({ rows: [], next: undefined });
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
    expect(
      factsOf(read).rows.map((one) => [one.criteria.value.testSpecId, one.criteria.value.version]),
    ).toEqual([
      ['spec-1', '1'],
      ['spec-2', '1'],
      ['spec-1', '1'],
      ['spec-1', '2'],
      ['spec-2', '1'],
    ]);
    expect(read.owners.asked).toHaveLength(5);
  });
});

describe('attempts that are not scored', () => {
  const submitted = { status: 'submitted', record: null } as const;

  it('are passed over, and the page is filled up from where the index ended [RP-063]', async () => {
    const read = await page({
      listCandidateAttempts: [
        index([row(1), row(2, submitted), row(3, submitted)], true),
        index([row(4), row(5)], true),
      ],
    });
    expect(attemptsOf(read)).toEqual(['attempt-1', 'attempt-4', 'attempt-5']);
    expect(queriesOf(read)).toEqual([
      { limit: '3' },
      { limit: '2', afterModifiedAt: row(3).modifiedAt, afterAttemptId: 'attempt-3' },
    ]);
    expect(factsOf(read).next).toMatchObject({ attemptId: 'attempt-5', modifiedAt: row(5).modifiedAt });
    expect(factsOf(read).sources.filter(({ service }) => service === 'results')).toHaveLength(2);
  });

  it('may leave a page short, or empty, while more follow: the index is read twice at most', async () => {
    const read = await page({
      listCandidateAttempts: [
        index([row(1, submitted), row(2, submitted), row(3, submitted)], true),
        index([row(4, submitted), row(5, submitted), row(6, submitted)], true),
      ],
    });
    expect(attemptsOf(read)).toEqual([]);
    expect(factsOf(read).next).toMatchObject({ attemptId: 'attempt-6' });
    expect(queriesOf(read)).toHaveLength(2);
  });

  it('at the end of the list are not asked behind', async () => {
    const read = await page({ listCandidateAttempts: index([row(1), row(2, submitted)]) });
    expect(attemptsOf(read)).toEqual(['attempt-1']);
    expect(queriesOf(read)).toHaveLength(1);
  });

  it('do not make a full page read on', async () => {
    const read = await page({ listCandidateAttempts: index([row(1), row(2), row(3)], true) });
    expect(queriesOf(read)).toHaveLength(1);
    expect(factsOf(read).next).toMatchObject({ attemptId: 'attempt-3' });
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
      { listCandidateAttempts: [index([row(5), row(6, { status: 'open' })], true), index([row(4)])] },
      '503 dependency-incomplete results',
    ],
    [
      'more rows than asked for when it is read on',
      {
        listCandidateAttempts: [
          index([row(1), row(2, { status: 'open' }), row(3)], true),
          index([row(4), row(5)]),
        ],
      },
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

  it('are read once more with their criteria, side by side [RP-028]', async () => {
    const read = await page({
      listCandidateAttempts: [index([settledLater, row(2)]), index([row(1, { version: '2' }), row(2)])],
      readReportCriteria: [criteria('spec-1', '1'), criteria('spec-1', '2')],
    });
    expect(factsOf(read).rows.map((one) => one.criteria.value.version)).toEqual(['2', '1']);
    expect(read.owners.asked.map(({ name, call }) => [name, call.query?.['version']])).toEqual([
      ['readUser', undefined],
      ['listCandidateAttempts', undefined],
      ['readReportCriteria', '1'],
      ['listCandidateAttempts', undefined],
      ['readReportCriteria', '2'],
    ]);
  });

  it('are read no third time', async () => {
    const read = await page({
      listCandidateAttempts: index([settledLater]),
      readReportCriteria: [criteria('spec-1', '1'), criteria('spec-1', '2')],
    });
    // Whoever composes the row refuses it.
    expect(factsOf(read).rows.map((one) => one.row.record?.contentTestSpecVersion)).toEqual(['2']);
    expect(queriesOf(read)).toHaveLength(2);
  });

  it('and are of a new spec by then make no page [RP-238]', async () => {
    const read = await page({
      listCandidateAttempts: [index([settledLater]), index([row(0, { spec: 'spec-9' }), row(1)])],
      readReportCriteria: [criteria('spec-1', '1'), criteria('spec-1', '2')],
    });
    expect(said(read)).toBe('503 dependency-incomplete results');
  });

  it('are not read again on a page that was filled up', async () => {
    const read = await page({
      listCandidateAttempts: [
        index([settledLater, row(2, { status: 'open', record: null })], true),
        index([row(3)]),
      ],
    });
    expect(factsOf(read).rows).toHaveLength(2);
    expect(queriesOf(read)).toHaveLength(2);
  });

  it('fail as any read when the second one fails', async () => {
    const read = await page({
      listCandidateAttempts: [index([settledLater]), { kind: 'unavailable' }],
      readReportCriteria: [criteria('spec-1', '1'), { kind: 'unavailable' }],
    });
    expect(said(read)).toBe('503 dependency-unavailable results');
  });
});
