import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import { attemptEvidence } from '#shared/platform/owners/qti.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import type { SeededTenant } from '#local/seeds/instantiate.ts';
import { startTestPlatform } from '#test/support/platform.ts';
import type { TestPlatform } from '#test/support/platform.ts';

let platform: TestPlatform;
let aurora: SeededTenant;
beforeAll(async () => {
  platform = await startTestPlatform();
  ({ aurora } = platform);
});
afterAll(() => platform.close());
beforeEach(() => platform.reset());

interface Asked {
  readonly path: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

function get(
  row: UpstreamOperation,
  { path, query = {} }: Asked,
  {
    seeded = aurora,
    headers = {},
  }: { seeded?: SeededTenant; headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const values: Readonly<Record<string, string>> = { tenantId: seeded.tenantId, ...path };
  const url = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));
  const search = new URLSearchParams(query).toString();
  return fetch(`${platform.url}${url}${search === '' ? '' : `?${search}`}`, {
    headers: { authorization: `Bearer ${seeded.platform.credentials.platformJwt}`, ...headers },
  });
}

type Answer = Readonly<Record<string, unknown>>;
async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Answer;
}

/** One good call of every read that reports are composed of, with ids that the owner does not have in place of the last one. */
const reads: readonly {
  readonly row: UpstreamOperation;
  readonly good: (seeded: SeededTenant) => Asked;
  /** The entity that the answer is, for the control API, with a change of it. */
  readonly entity: readonly [kind: string, idOf: (asked: Asked) => string, pointer: string, value: unknown];
}[] = [
  {
    row: operations.readAttemptEvidence,
    good: ({ fixtures }) => ({ path: { attemptId: fixtures.reports.attempts.gatePass } }),
    entity: ['qti.attempt_evidence', ({ path }) => path['attemptId']!, '/version', 'v2'],
  },
  {
    row: operations.readForm,
    good: ({ fixtures }) => ({ path: { qtiTestId: fixtures.reports.forms.equivalent } }),
    entity: ['qti.form', ({ path }) => path['qtiTestId']!, '/version', 'v2'],
  },
  {
    row: operations.readSettledRecord,
    good: (seeded) => ({ path: { resultRecordId: evidenceOf(seeded, 'gatePass').resultRecordId! } }),
    entity: ['results.settled_record', ({ path }) => path['resultRecordId']!, '/gate/status', 'fail'],
  },
  {
    row: operations.readReportCriteria,
    good: (seeded) => specOf(seeded),
    entity: ['content.report_criteria', ({ path }) => path['testSpecId']!, '/criteria/required', 90],
  },
  {
    row: operations.readReadinessCrosswalks,
    good: (seeded) => specOf(seeded),
    entity: ['content.crosswalks', ({ path }) => path['testSpecId']!, '/entries/0/coverageFraction', 0.5],
  },
  {
    row: operations.readFormEvidence,
    good: (seeded) => {
      const { path, query } = specOf(seeded);
      return { path: { ...path, qtiTestId: seeded.fixtures.reports.forms.equivalent }, query };
    },
    entity: ['content.form_evidence', ({ path }) => path['qtiTestId']!, '/dokMatch', false],
  },
  {
    row: operations.readPackage,
    good: ({ platform: { reports } }) => ({
      path: { sourcedId: reports.packages[0]!.CFDocument.identifier },
    }),
    entity: ['case.package', ({ path }) => path['sourcedId']!, '/CFItems/0', undefined],
  },
  {
    row: operations.readUser,
    good: ({ fixtures }) => ({ path: { sourcedId: fixtures.reports.candidates.empty } }),
    entity: ['oneroster.user', ({ path }) => path['sourcedId']!, '/user/status', 'tobedeleted'],
  },
  {
    row: operations.readClass,
    good: ({ fixtures }) => ({ path: { sourcedId: fixtures.reports.classes[0]! } }),
    entity: ['oneroster.class', ({ path }) => path['sourcedId']!, '/class/status', 'tobedeleted'],
  },
  {
    row: operations.readSchool,
    good: ({ fixtures }) => ({ path: { sourcedId: fixtures.reports.schools[0]!.schoolSourcedId } }),
    entity: ['oneroster.school', ({ path }) => path['sourcedId']!, '/org/status', 'tobedeleted'],
  },
  {
    row: operations.readClassRollup,
    good: ({ fixtures }) => ({ path: { classSourcedId: fixtures.reports.classes[0]! } }),
    entity: ['analytics.rollup', ({ path }) => path['classSourcedId']!, '/populationCount', null],
  },
  {
    row: operations.readSchoolGradeRollup,
    good: ({ fixtures }) => ({ path: { ...fixtures.reports.schools[0]! } }),
    entity: [
      'analytics.rollup',
      ({ path }) => `${path['schoolSourcedId']!}/${path['grade']!}`,
      '/suppression/status',
      'suppressed',
    ],
  },
  {
    row: operations.readFormEquivalence,
    good: ({ fixtures }) => ({ path: { qtiTestId: fixtures.reports.forms.equivalent } }),
    entity: ['analytics.form_equivalence', ({ path }) => path['qtiTestId']!, '/statistic', 0.1],
  },
  {
    row: operations.readAdministration,
    good: ({ fixtures }) => ({ path: { administrationId: fixtures.reports.administrations[0]! } }),
    entity: ['administration.administration', ({ path }) => path['administrationId']!, '/status', 'open'],
  },
  {
    row: operations.readAdministrationAnalysis,
    good: ({ fixtures }) => ({ path: { administrationId: fixtures.reports.administrations[0]! } }),
    entity: [
      'analytics.administration_analysis',
      ({ path }) => path['administrationId']!,
      '/metrics/0/artifact',
      null,
    ],
  },
  {
    row: operations.listCandidateAttempts,
    good: ({ fixtures }) => ({
      path: { candidateSourcedId: fixtures.reports.students[0]! },
      query: { limit: '10' },
    }),
    // The index is what attempts and records say.
    entity: ['qti.attempt_evidence', () => aurora.fixtures.reports.attempts.gatePass, '/status', 'rescored'],
  },
];

function evidenceOf(
  { platform: { reports }, fixtures }: SeededTenant,
  role: keyof SeededTenant['fixtures']['reports']['attempts'],
) {
  return reports.attempts.find(({ attemptId }) => attemptId === fixtures.reports.attempts[role])!;
}

function specOf(seeded: SeededTenant) {
  const { contentTestSpecId: testSpecId, contentTestSpecVersion: version } = evidenceOf(seeded, 'gatePass');
  return { path: { testSpecId }, query: { version } };
}

describe.each(reads.map((read) => [read.row.id, read] as const))('%s', (_, { row, good, entity }) => {
  it('answers by its own schema, with a strong ETag that a conditional read confirms', async () => {
    const asked = good(aurora);
    const response = await get(row, asked);
    const etag = response.headers.get('etag')!;
    expect(isStrongEntityTag(etag)).toBe(true);
    const answer = await answerOf(response);
    row.answer.parse(answer);
    if (row.tenantInAnswer) expect(answer).toMatchObject({ tenantId: 'tenant-aurora', freshness: 'current' });
    const confirmed = await get(row, asked, { headers: { 'if-none-match': etag } });
    expect([confirmed.status, await confirmed.text()]).toEqual([304, '']);
    expect((await get(row, asked, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('has nothing of another tenant, and nothing under an unknown id', async () => {
    const foreign = await get(row, good(aurora), { seeded: platform.borealis });
    expect(foreign.status).toBe(404);
    const asked = good(aurora);
    const [name = ''] = Object.keys(asked.path).slice(-1);
    expect((await get(row, { ...asked, path: { ...asked.path, [name]: 'unknown' } })).status).toBe(404);
  });

  it('answers another ETag once the entity is another, and refuses what the owner could not hold', async () => {
    const asked = good(aurora);
    const before = (await get(row, asked)).headers.get('etag')!;
    const [kind, idOf, pointer, value] = entity;
    const change = { pointer, ...(value === undefined ? {} : { value }) };
    const request = { tenantId: 'tenant-aurora', entity: kind, id: idOf(asked) };
    await platform.control('PATCH', 'entities', { ...request, changes: [change] });
    const after = await get(row, asked, { headers: { 'if-none-match': before } });
    expect(after.status).toBe(200);
    expect(after.headers.get('etag')).not.toBe(before);
    const wrong = { pointer: pointer.replace(/\/0$/, ''), value: { no: 'value' } };
    await expect(platform.control('PATCH', 'entities', { ...request, changes: [wrong] })).rejects.toThrow(
      /400 .*would be invalid/,
    );
  });

  it('drifts to another version once', async () => {
    const asked = good(aurora);
    const before = await get(row, asked);
    const etag = before.headers.get('etag')!;
    await platform.fault({ operation: row.id, kind: 'version_drift', times: 1 });
    const drifted = await get(row, asked, { headers: { 'if-none-match': etag } });
    const answer = await answerOf(drifted);
    row.answer.parse(answer);
    expect(drifted.headers.get('etag')).not.toBe(etag);
    if (row.tenantInAnswer) expect(answer['version']).not.toBe((await answerOf(before))['version']);
    expect((await get(row, asked)).headers.get('etag')).toBe(etag);
  });

  it('is about another tenant under a fault', async () => {
    const asked = good(aurora);
    await platform.fault({ operation: row.id, kind: 'wrong_tenant', times: 1 });
    const text = await (await get(row, asked)).text();
    const answer = row.answer.parse(JSON.parse(text)) as Answer;
    if (row.tenantInAnswer) expect(answer['tenantId']).toBe('tenant-borealis');
    else expect(text).not.toContain(Object.values(asked.path)[0]);
  });
});

describe.each(reads.filter(({ row }) => row.tenantInAnswer).map((read) => [read.row.id, read] as const))(
  '%s',
  (_, { row, good }) => {
    it('answers an earlier version as stale under a fault', async () => {
      const asked = good(aurora);
      const { version } = await answerOf(await get(row, asked));
      await platform.fault({ operation: row.id, kind: 'stale', times: 1 });
      const answer = await answerOf(await get(row, asked));
      row.answer.parse(answer);
      expect(answer).toMatchObject({ freshness: 'stale' });
      expect(answer['version']).not.toBe(version);
    });
  },
);

describe('what only one owner does', () => {
  it('a stale package is older than the test specs know', async () => {
    const asked = reads.find(({ row }) => row === operations.readPackage)!.good(aurora);
    await platform.fault({ operation: 'case.read_package', kind: 'stale', times: 1 });
    const read = async () =>
      operations.readPackage.answer.parse(await answerOf(await get(operations.readPackage, asked)));
    const [stale, current] = [await read(), await read()];
    expect(
      compareInstants(stale.CFDocument.lastChangeDateTime, current.CFDocument.lastChangeDateTime),
    ).toBeLessThan(0);
    expect(stale.CFItems).toEqual(current.CFItems);
  });

  it('Content has a spec in the version that it has, and in no other', async () => {
    const path = { ...specOf(aurora).path, qtiTestId: aurora.fixtures.reports.forms.equivalent };
    for (const row of [
      operations.readReportCriteria,
      operations.readReadinessCrosswalks,
      operations.readFormEvidence,
    ]) {
      expect((await get(row, { path, query: { version: 'another' } })).status).toBe(404);
      expect((await get(row, { path })).status).toBe(400);
    }
  });

  it('Content has the evidence of a form under its own test spec only', async () => {
    const qtiTestId = aurora.fixtures.reports.forms.insufficient;
    const { path, query } = specOf(aurora);
    const asked = { path: { ...path, qtiTestId }, query };
    expect((await get(operations.readFormEvidence, asked)).status).toBe(404);
  });

  it('OneRoster still answers what is to be deleted', async () => {
    const { studentsDeleted, classesDeleted } = aurora.fixtures.reports.special;
    const user = await get(operations.readUser, { path: { sourcedId: studentsDeleted[0]! } });
    expect(await answerOf(user)).toMatchObject({ user: { status: 'tobedeleted' } });
    const deleted = await get(operations.readClass, { path: { sourcedId: classesDeleted[0]! } });
    expect(await answerOf(deleted)).toMatchObject({ class: { status: 'tobedeleted' } });
  });

  it('Caliper has the event that a record names, and confirms it', async () => {
    const asked = reads.find(({ row }) => row === operations.readSettledRecord)!.good(aurora);
    const record = await answerOf(await get(operations.readSettledRecord, asked));
    const event = { path: {}, query: { eventIri: String(record['completionEventIri']) } };
    const response = await get(operations.readEvidenceAck, event);
    const etag = response.headers.get('etag')!;
    operations.readEvidenceAck.answer.parse(await answerOf(response));
    const confirmed = await get(operations.readEvidenceAck, event, { headers: { 'if-none-match': etag } });
    expect(confirmed.status).toBe(304);
  });

  it('QTI and Results have every role’s attempt, the large one too', async () => {
    for (const attemptId of Object.values(aurora.fixtures.reports.attempts)) {
      const evidence = attemptEvidence.parse(
        await answerOf(await get(operations.readAttemptEvidence, { path: { attemptId } })),
      );
      if (evidence.resultRecordId === null) continue;
      const { resultRecordId } = evidence;
      const record = operations.readSettledRecord.answer.parse(
        await answerOf(await get(operations.readSettledRecord, { path: { resultRecordId } })),
      );
      expect(record).toMatchObject({ attemptId, version: evidence.resultRecordVersion });
    }
  });
});

describe('the index of a candidate’s attempts', () => {
  const index = async (
    query: Readonly<Record<string, string>>,
    candidate: 'withHistory' | 'empty' = 'withHistory',
  ): Promise<CandidateAttempts> => {
    const path = { candidateSourcedId: aurora.fixtures.reports.candidates[candidate] };
    const response = await get(operations.listCandidateAttempts, { path, query: { limit: '250', ...query } });
    return operations.listCandidateAttempts.answer.parse(await answerOf(response));
  };
  /** All rows, so many at a time. */
  const walk = async (limit: number, filters: Readonly<Record<string, string>> = {}) => {
    const rows: CandidateAttempts['rows'] = [];
    let place: Record<string, string> = {};
    for (;;) {
      const page = await index({ ...filters, ...place, limit: String(limit) });
      rows.push(...page.rows);
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      const last = page.rows.at(-1);
      if (!page.hasMore || last === undefined) return rows;
      place = { afterModifiedAt: last.modifiedAt, afterAttemptId: last.attemptId };
    }
  };

  it.each([1, 7, 100, 250])('shows every attempt once and in order, %i at a time', async (limit) => {
    const all = aurora.platform.reports.generated.attemptIds.get(
      aurora.fixtures.reports.candidates.withHistory,
    )!;
    const rows = await walk(limit);
    expect(rows.map(({ attemptId }) => attemptId).sort()).toEqual([...all].sort());
    for (const [at, row] of rows.entries()) {
      const next = rows[at + 1];
      if (next === undefined) continue;
      const order = compareInstants(next.modifiedAt, row.modifiedAt);
      expect(order < 0 || (order === 0 && row.attemptId < next.attemptId)).toBe(true);
    }
  });

  it('filters by form and modification, and by nothing that Results does not own', async () => {
    const rows = await walk(250);
    const settled = rows.filter(({ record }) => record !== null);
    const idsOf = (some: readonly { readonly attemptId: string }[]): string[] =>
      some.map(({ attemptId }) => attemptId).sort();
    const { modifiedAt } = settled.find((row) => row.modifiedAt.endsWith('.000000001Z'))!;
    const since = rows.filter((row) => compareInstants(row.modifiedAt, modifiedAt) >= 0);
    expect(since.length).toBeLessThan(rows.length);
    expect(idsOf(await walk(100, { modifiedSince: modifiedAt }))).toEqual(idsOf(since));
    const { qtiTestId } = settled[0]!;
    expect(idsOf(await walk(100, { qtiTestId }))).toEqual(
      idsOf(rows.filter((row) => row.qtiTestId === qtiTestId)),
    );
    expect(await walk(100, { qtiTestId: 'unknown' })).toEqual([]);
  });

  it('is empty for a candidate without attempts', async () => {
    expect(await index({}, 'empty')).toMatchObject({ rows: [], hasMore: false });
  });

  it.each([
    ['limit', '0'],
    ['limit', '251'],
    ['limit', '1.5'],
    ['limit', '+5'],
    ['limit', '05'],
    ['testKind', 'formative'],
    ['status', 'scored'],
    ['modifiedSince', '2026-05-12'],
    ['afterModifiedAt', '2026-05-12T09:00:00Z'],
    ['afterAttemptId', 'a'],
    ['sort', 'modifiedAt'],
  ])('refuses %s=%s', async (name, value) => {
    const path = { candidateSourcedId: aurora.fixtures.reports.candidates.withHistory };
    const query = { limit: '10', [name]: value };
    expect((await get(operations.listCandidateAttempts, { path, query })).status).toBe(400);
  });

  it('has another version once one of its records has', async () => {
    const before = await index({ limit: '1' });
    const resultRecordId = before.rows[0]!.record!.resultRecordId;
    await platform.change('tenant-aurora', 'results.settled_record', resultRecordId, '/version', 'v2');
    const after = await index({ limit: '1' });
    expect(after.version).not.toBe(before.version);
    expect(after.rows[0]!.record!.version).toBe('v2');
  });
});

describe('what a seed generates', () => {
  it('is not listed by the control API before it has been changed', async () => {
    const listed = async () => (await platform.state()).tenants['tenant-aurora']!;
    const { counts, entities } = await listed();
    expect(counts['caliper.event']).toBe(0);
    expect(counts['qti.attempt_evidence']).toBe(aurora.platform.reports.attempts.length);
    expect(JSON.stringify(entities['results.settled_record']).length).toBeLessThan(100_000);
    const [attemptId = ''] = aurora.platform.reports.generated.attempts.keys();
    expect(entities['qti.attempt_evidence']).not.toHaveProperty([attemptId]);
    await platform.change('tenant-aurora', 'qti.attempt_evidence', attemptId, '/status', 'rescored');
    const after = await listed();
    expect(after.entities['qti.attempt_evidence']).toHaveProperty([attemptId, 'status'], 'rescored');
    await platform.reset();
    expect((await listed()).entities['qti.attempt_evidence']).not.toHaveProperty([attemptId]);
  });
});
