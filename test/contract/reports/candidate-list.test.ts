import { describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import type { AttemptReport, AttemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { candidatePages, openReportsCaller, queryOf, reportsAnswerOf } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// A candidate's list over whole functions, held against what the owners' own entities say and against the single reports.

const stack = useTestStack();
const caller = lazily(() => openReportsCaller(stack));

/** A scored attempt as its owners hold it. */
interface Listed {
  readonly attemptId: string;
  readonly qtiTestId: string;
  readonly testKind: string;
  readonly status: string;
  readonly modifiedAt: string;
}

/** What the list of a candidate must be: every settled, scored attempt, newest modification first, ties by attempt id. */
function historyOf(tenantId: string, candidateSourcedId: string): readonly Listed[] {
  const { generated, criteria } = stack.seededTenants.get(tenantId)!.platform.reports;
  const listed = (generated.attemptIds.get(candidateSourcedId) ?? []).flatMap((id): readonly Listed[] => {
    const attempt = generated.attempts.get(id)!();
    if (attempt.status !== 'scored') return [];
    const record = generated.records.get(attempt.resultRecordId!)!();
    const blueprint = criteria.find(({ testSpecId }) => testSpecId === attempt.contentTestSpecId)!;
    const undecided =
      record.gate !== null &&
      (record.gate.status === 'indeterminate' ||
        record.gate.coverageEvidenceId === null ||
        blueprint.criteria === null);
    return [
      {
        attemptId: id,
        qtiTestId: attempt.qtiTestId,
        testKind: blueprint.testKind,
        status: undecided ? 'indeterminate' : 'scored',
        modifiedAt: record.modifiedAt,
      },
    ];
  });
  return listed.toSorted((a, b) => {
    const [one, other] = [nanoseconds(a.modifiedAt), nanoseconds(b.modifiedAt)];
    if (one !== other) return one > other ? -1 : 1;
    return a.attemptId < b.attemptId ? -1 : 1;
  });
}

/** Since the epoch. */
function nanoseconds(instant: string): bigint {
  const [seconds = '', fraction = ''] = instant.slice(0, -1).split('.');
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/** The instant of some nanoseconds, with all nine digits. */
function instantOf(time: bigint): string {
  const seconds = new Date(Number(time / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${seconds}.${String(time % 1_000_000_000n).padStart(9, '0')}Z`;
}

const pages = (call: GatewayCall, parameters: Readonly<Record<string, string>> = {}) =>
  candidatePages(caller, call, parameters);

/** The attempts of a list, in its order. */
async function walk(
  call: GatewayCall,
  parameters: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  return (await pages(call, { limit: '100', ...parameters })).flatMap(({ data }) =>
    data.map(({ attemptId }) => attemptId),
  );
}

/** The first page of a list. */
async function page(call: GatewayCall): Promise<AttemptReportPage> {
  const reply = await caller.call(listCandidateReports, call);
  expect(reportsAnswerOf(reply)).toBe('200');
  return listCandidateReports.success.schema.parse(JSON.parse(reply.text));
}

const idsOf = (rows: readonly Listed[]): readonly string[] => rows.map(({ attemptId }) => attemptId);

describe.each(localTenantIds)('the list of %s', (tenantId) => {
  const withHistory = () => {
    const { withHistory: candidateSourcedId } = caller.fixtures(tenantId).candidates;
    const call = { tenantId, path: { candidateSourcedId } } satisfies GatewayCall;
    return { candidateSourcedId, call, rows: historyOf(tenantId, candidateSourcedId) };
  };

  it('stands on a history with ties in every digit and every kind of row', () => {
    const { rows } = withHistory();
    expect(rows.length).toBeGreaterThan(200);
    expect(new Set(rows.map(({ modifiedAt }) => nanoseconds(modifiedAt))).size).toBeLessThan(rows.length);
    expect(new Set(rows.map(({ testKind, status }) => `${testKind} ${status}`)).size).toBe(4);
    expect(rows.filter(({ modifiedAt }) => /\.\d{4,}Z$/.test(modifiedAt)).length).toBeGreaterThan(50);
  });

  it('gives every scored attempt once, newest modification first, ties by attempt id, all at once and row by row [RP-063, RP-133, RP-301, RP-302]', async () => {
    const { call, rows, candidateSourcedId } = withHistory();
    const newest = rows.filter((row) => nanoseconds(row.modifiedAt) >= nanoseconds(rows[39]!.modifiedAt));
    expect(new Set(newest.map((row) => nanoseconds(row.modifiedAt))).size).toBeLessThan(newest.length);
    for (const [some, limit] of [
      [rows, 100],
      [newest, 1],
    ] as const) {
      const modifiedSince = some.at(-1)!.modifiedAt;
      const all = await pages(call, { limit: String(limit), modifiedSince });
      expect(all.flatMap(({ data }) => data.map(({ attemptId }) => attemptId))).toEqual(idsOf(some));
      for (const { data } of all)
        expect(data.filter((row) => row.candidateSourcedId !== candidateSourcedId)).toEqual([]);
      expect(all.length).toBeLessThanOrEqual(Math.ceil(some.length / limit) + 2);
    }
  }, 60_000);

  it('takes 25 rows and its one order when nothing else is said, and a cursor goes with what is said or not [RP-301, RP-302, RP-303]', async () => {
    const { call, rows } = withHistory();
    const first = await page(call);
    expect(first.data.map(({ attemptId }) => attemptId)).toEqual(idsOf(rows.slice(0, 25)));
    const cursor = first.nextCursor!;
    for (const same of [{}, { limit: '25' }, { sort: '-modifiedAt' }, { sort: '-modifiedAt', limit: '25' }]) {
      const { data } = await page({ ...call, query: queryOf({ cursor, ...same }) });
      expect(data.map(({ attemptId }) => attemptId)).toEqual(idsOf(rows.slice(25, 50)));
    }
  });

  it('since an instant begins with what was modified at that very instant, to every digit of its fraction, beside other filters too, and takes no offset [RP-051, RP-300, RP-305]', async () => {
    const { call, rows } = withHistory();
    // The newest of each way in which the history writes its times.
    const forms = new Map(rows.toReversed().map(({ modifiedAt }) => [modifiedAt.slice(19), modifiedAt]));
    expect(forms.size).toBe(5);
    for (const modifiedAt of forms.values()) {
      const time = nanoseconds(modifiedAt);
      const nines = instantOf(time).slice(0, -1);
      const [at, after] = [time, time + 1n].map((since) =>
        idsOf(rows.filter((row) => nanoseconds(row.modifiedAt) >= since)),
      );
      expect(at).not.toEqual(after);
      for (const [modifiedSince, selected] of [
        ...[modifiedAt, `${nines}Z`, `${nines.replace(/\.?0*$/, '')}Z`, `${nines}${'0'.repeat(40)}Z`].map(
          (spelling) => [spelling, at] as const,
        ),
        [instantOf(time + 1n), after],
        [`${nines}0000000001Z`, after],
      ] as const)
        expect([modifiedSince, await walk(call, { modifiedSince })]).toEqual([modifiedSince, selected]);
    }
    const { modifiedAt: modifiedSince } = rows[99]!;
    for (const [name, value] of [
      ['testKind', 'formative'],
      ['status', 'indeterminate'],
      ['qtiTestId', rows[0]!.qtiTestId],
    ] as const) {
      const since = rows.filter((row) => nanoseconds(row.modifiedAt) >= nanoseconds(modifiedSince));
      const selected = idsOf(since.filter((row) => row[name] === value));
      expect([name, await walk(call, { modifiedSince, [name]: value })]).toEqual([name, selected]);
    }
    const offset = queryOf({ modifiedSince: '2026-01-01T00:00:00+00:00' });
    expect(reportsAnswerOf(await caller.call(listCandidateReports, { ...call, query: offset }))).toBe(
      '400 validation',
    );
  }, 60_000);

  it('of a candidate without attempts is an empty last page [RP-306]', async () => {
    const path = { candidateSourcedId: caller.fixtures(tenantId).candidates.empty };
    expect(await page({ tenantId, path })).toMatchObject({ data: [], nextCursor: null, hasMore: false });
  });

  it('shows of each attempt what its own summary shows [RP-003, RP-075, RP-133]', async () => {
    const { call, rows } = withHistory();
    // One of each template that the history is made of, and two more of their copies.
    const some = rows.slice(0, 24);
    expect(new Set(some.map(({ testKind, status }) => `${testKind} ${status}`)).size).toBe(4);
    const { data } = await page({ ...call, query: '?limit=24' });
    for (const row of data) {
      const alone = await caller.call(readAttemptReport, { tenantId, path: { attemptId: row.attemptId } });
      expect(reportsAnswerOf(alone)).toBe('200');
      const report = readAttemptReport.success.schema.parse(JSON.parse(alone.text));
      expect(factsOf(row)).toEqual(factsOf(report));
    }
  });
});

/** What a report says of its attempt, without what says when and from whom it was heard. */
function factsOf(report: AttemptReport): Partial<AttemptReport> {
  const { sources, observedAt, requestId, traceId, ...facts } = report;
  expect([sources.length > 0, observedAt, requestId, traceId]).not.toContain('');
  return facts;
}
