import { describe, expect, it } from 'vitest';
import { localTenant, localTenantIds } from '#local/seeds/tenants.ts';
import type { AttemptReport, AttemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports, readAttemptReport } from '#shared/contract/reports/routes.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import {
  candidatePages,
  openReportsCaller,
  queryOf,
  reportsAnswerOf,
  reportsProblemOf,
} from '#test/support/reports-call.ts';
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

type Filters = Readonly<Partial<Record<'qtiTestId' | 'testKind' | 'status' | 'modifiedSince', string>>>;

function selects({ qtiTestId, testKind, status, modifiedSince }: Filters, row: Listed): boolean {
  return (
    (qtiTestId === undefined || row.qtiTestId === qtiTestId) &&
    (testKind === undefined || row.testKind === testKind) &&
    (status === undefined || row.status === status) &&
    (modifiedSince === undefined || nanoseconds(row.modifiedAt) >= nanoseconds(modifiedSince))
  );
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

  it.each([1, 7, 25, 100])(
    'in pages of %i gives every scored attempt once, newest modification first, ties by attempt id [RP-063, RP-133, RP-136, RP-301, RP-302]',
    async (limit) => {
      const { call, rows, candidateSourcedId } = withHistory();
      const all = await pages(call, { limit: String(limit) });
      expect(all.flatMap(({ data }) => data.map(({ attemptId }) => attemptId))).toEqual(idsOf(rows));
      for (const { data } of all) {
        expect(data.length).toBeLessThanOrEqual(limit);
        expect(data.filter((row) => row.candidateSourcedId !== candidateSourcedId)).toEqual([]);
      }
      expect(all.length).toBeLessThanOrEqual(Math.ceil(rows.length / limit) + 2);
    },
    60_000,
  );

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

  it('under any filters is the whole list without what they leave out [RP-008, RP-305, RP-306]', async () => {
    const { call, rows } = withHistory();
    const forms = [...new Set(rows.map(({ qtiTestId }) => qtiTestId))];
    expect(forms.length).toBeGreaterThan(5);
    const without = undefined;
    const choices = {
      testKind: [without, 'mastery_gate', 'adaptive_diagnostic', 'formative'],
      status: [without, 'scored', 'indeterminate'],
      qtiTestId: [without, forms[0], forms.at(-1)],
      modifiedSince: [without, rows[40]!.modifiedAt],
    };
    const alone: Filters[] = [
      ...forms.map((qtiTestId) => ({ qtiTestId })),
      ...[0, 1, 99, 150, rows.length - 1].map((at) => ({ modifiedSince: rows[at]!.modifiedAt })),
    ];
    const combined = choices.testKind.flatMap((testKind) =>
      choices.status.flatMap((status) =>
        choices.qtiTestId.flatMap((qtiTestId) =>
          choices.modifiedSince.map((modifiedSince) => ({ testKind, status, qtiTestId, modifiedSince })),
        ),
      ),
    );
    let empty = 0;
    for (const filters of [...alone, ...combined]) {
      const given = Object.fromEntries(
        Object.entries(filters).filter((filter): filter is [string, string] => filter[1] !== undefined),
      );
      const selected = rows.filter((row) => selects(given, row));
      expect([given, await walk(call, given)]).toEqual([given, idsOf(selected)]);
      if (selected.length === 0) empty += 1;
    }
    expect(empty).toBeGreaterThan(0);
  }, 60_000);

  it('since an instant begins with what was modified at that very instant, to every digit of its fraction, and takes no offset [RP-051, RP-300]', async () => {
    const { call, rows } = withHistory();
    // One of each way in which the history writes its times.
    const forms = new Map(rows.map(({ modifiedAt }) => [modifiedAt.slice(19), modifiedAt]));
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
    const offset = queryOf({ modifiedSince: '2026-01-01T00:00:00+00:00' });
    expect(reportsAnswerOf(await caller.call(listCandidateReports, { ...call, query: offset }))).toBe(
      '400 validation',
    );
  }, 60_000);

  it('of a candidate without attempts, or without a match, is an empty last page [RP-306]', async () => {
    const { call, candidateSourcedId, rows } = withHistory();
    const { empty } = caller.fixtures(tenantId).candidates;
    const none = { data: [], nextCursor: null, hasMore: false };
    expect(await page({ ...call, path: { candidateSourcedId: empty } })).toMatchObject(none);
    const later = instantOf(nanoseconds(rows[0]!.modifiedAt) + 1n);
    for (const filter of [
      { modifiedSince: later },
      { qtiTestId: rows[0]!.qtiTestId.toUpperCase() },
      { qtiTestId: candidateSourcedId },
    ])
      expect(await page({ ...call, query: queryOf(filter) })).toMatchObject(none);
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

describe('a cursor', () => {
  const tenantId = 'tenant-aurora';
  const otherTenant = 'tenant-borealis';
  const filters = { testKind: 'mastery_gate', modifiedSince: '2025-06-03T07:00:00Z', limit: '3' };
  const candidate = (of = tenantId): string => caller.fixtures(of).candidates.withHistory;
  const claims = (): { readonly studentIds: readonly string[] } => ({
    studentIds: [candidate(), caller.fixtures(tenantId).candidates.empty],
  });
  const ask = (parameters: Readonly<Record<string, string>>, call: GatewayCall = {}): Promise<GatewayReply> =>
    caller.call(listCandidateReports, {
      tenantId,
      claims: claims(),
      path: { candidateSourcedId: candidate() },
      query: queryOf(parameters),
      ...call,
    });
  const given = async (parameters: Readonly<Record<string, string>> = filters): Promise<string> => {
    const { nextCursor } = JSON.parse((await ask(parameters)).text) as AttemptReportPage;
    expect(nextCursor).not.toBeNull();
    return nextCursor!;
  };
  /** The one way in which a cursor is refused, whatever is wrong with it; no owner hears of it. */
  const refused = async (what: string, request: () => Promise<GatewayReply>): Promise<void> => {
    const { result, calls } = await callsDuring(stack, request);
    expect([what, reportsAnswerOf(result)]).toEqual([what, '400 validation']);
    const { fieldErrors, retryable } = reportsProblemOf(result);
    expect([what, fieldErrors, retryable]).toEqual([
      what,
      [
        {
          pointer: '/query/cursor',
          code: 'not-allowed',
          message: 'must be an unexpired cursor of this very list',
        },
      ],
      false,
    ]);
    expect(calls).toEqual([]);
  };
  const accepted = async (what: string, reply: Promise<GatewayReply>): Promise<void> =>
    expect([what, reportsAnswerOf(await reply)]).toEqual([what, '200']);

  it('is opaque, fits a query as it is, and continues as often as it is sent [RP-134, RP-303]', async () => {
    const cursor = await given();
    expect(cursor).toMatch(/^[\w.-]{1,2048}$/);
    const texts = cursor.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    for (const known of [candidate(), tenantId, 'mastery_gate', '2025-06', '2026-'])
      expect(texts.join('|')).not.toContain(known);
    const [one, two] = [await ask({ ...filters, cursor }), await ask({ ...filters, cursor })].map(
      ({ text }) => listCandidateReports.success.schema.parse(JSON.parse(text)),
    );
    expect(one!.data).toHaveLength(3);
    expect(one!.data.map(factsOf)).toEqual(two!.data.map(factsOf));
  });

  it('goes with its own filters, limit and candidate alone [RP-135, RP-303]', async () => {
    const cursor = await given();
    const others: Readonly<Record<keyof Filters | 'limit', string>> = {
      qtiTestId: caller.fixtures(tenantId).forms.equivalent,
      testKind: 'formative',
      status: 'scored',
      modifiedSince: '2025-06-03T07:00:00.000000001Z',
      limit: '4',
    };
    for (const [name, value] of Object.entries(others)) {
      const without = Object.fromEntries(Object.entries(filters).filter(([own]) => own !== name));
      for (const parameters of [{ ...without, [name]: value }, ...(name in filters ? [without] : [])])
        await refused(queryOf(parameters), () => ask({ ...parameters, cursor }));
    }
    const { empty } = caller.fixtures(tenantId).candidates;
    await refused('another candidate', () =>
      ask({ ...filters, cursor }, { path: { candidateSourcedId: empty } }),
    );
    for (const changed of [`${cursor}A`, cursor.slice(0, -1), 'x'])
      await refused(changed, () => ask({ ...filters, cursor: changed }));
    await accepted('its own', ask({ cursor, ...filters }));
  });

  // Every claim alone: functions/reports/cursor.
  it('goes with its own caller alone, under however new a token [RP-024, RP-135, RP-303]', async () => {
    const cursor = await given();
    const own = { ...filters, cursor };
    const [studentId = '', other = ''] = claims().studentIds;
    const callers: [string, NonNullable<GatewayCall['claims']>][] = [
      ['another subject', { ...claims(), sub: 'somebody-else' }],
      ['a candidate less', { studentIds: [studentId] }],
      ['no candidate, whose list would be hidden', { studentIds: [] }],
    ];
    for (const [what, others] of callers) await refused(what, () => ask(own, { claims: others }));
    await refused('a scope more', () => ask(own, { scopes: ['reports:read', 'reports:write'] }));
    const { sub, role } = localTenant(tenantId);
    await refused('another tenant, by the same names', () =>
      ask(own, { tenantId: otherTenant, claims: { ...claims(), sub, role } }),
    );
    await refused('another tenant, on its own list', () =>
      ask(own, { tenantId: otherTenant, path: { candidateSourcedId: candidate(otherTenant) } }),
    );

    await accepted('a refreshed token', ask(own, { claims: { ...claims(), expiresInSeconds: 120 } }));
    const respelt = filters.modifiedSince.replace('Z', '.000000000Z');
    await accepted('the same instant in another spelling', ask({ ...own, modifiedSince: respelt }));
    const reordered = [other, studentId, studentId];
    await accepted('the same claims in another order', ask(own, { claims: { studentIds: reordered } }));
  });
});
