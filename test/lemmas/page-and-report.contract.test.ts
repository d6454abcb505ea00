import { expect, it } from 'vitest';
import { changeEntity, type EntityName } from '#local/platform/entities.ts';
import { matchRoute } from '#local/platform/routes.ts';
import { openTenant, type TenantState } from '#local/platform/tenant-state.ts';
import { instantiateSeed } from '#local/seeds/instantiate.ts';
import { CALLS_AT_ONCE } from '#functions/reports/endpoints/support/owners.ts';
import { listCandidateReportsOperation } from '#functions/reports/endpoints/list-candidate-reports/operation.ts';
import { readAttemptReportOperation } from '#functions/reports/endpoints/read-attempt-report/operation.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { principalWith } from '#test/support/principal.ts';
import { dependenciesOver, requestOf, sentenceOf } from '#test/support/scripted-owners.ts';
import { soundSeed } from '#test/support/sound-seed.ts';
import { tenantId } from './sound-reads.ts';

// A page and the single report never say different things of an attempt. For every settled attempt of the seed, and for every member of what
// the owners hold of it, changed in every way that its owner's contract allows: the row of the page is the report in the view `summary`, or
// the page counts the attempt in `withheld`. What cannot be so is listed here by name, no more and no less.

const { platform } = instantiateSeed(await soundSeed(), tenantId);
const { reports } = platform;

/** Both routes over the owners of one tenant, without a network. */
function openRoutes(tenant: TenantState, candidateSourcedId: string) {
  const fetch = (url: string): Promise<Response> => {
    const { pathname, searchParams } = new URL(url);
    const match = matchRoute('GET', pathname);
    if (match.kind !== 'found') throw new Error(`no owner has ${pathname}`);
    const query = Object.fromEntries(searchParams);
    const now = '2026-11-01T00:00:00.000Z';
    const asked = { tenant, path: match.path, query, body: undefined, idempotencyKey: '', now };
    const answer = match.route.handle(asked);
    return Promise.resolve(
      'refused' in answer ? Response.json({}, { status: answer.refused }) : Response.json(answer.body),
    );
  };
  const sleep = (_: number, signal?: AbortSignal): Promise<void> =>
    signal === undefined ? Promise.resolve() : new Promise(() => undefined);
  const ports = { fetch, sleep, now: () => 0, random: () => new Uint8Array(4) };
  const dependencies = dependenciesOver(
    (profile, request) =>
      createPlatform(ports, { maxConcurrency: CALLS_AT_ONCE })({ ...profile, tenantId }, request),
    { now: () => 0 },
  );
  const list = listCandidateReportsOperation({ ...dependencies, keys: createMemoryKeyRing() });
  const read = readAttemptReportOperation(dependencies);
  const principal = principalWith({ tenantId, studentIds: [candidateSourcedId] });
  return {
    page: (cursor?: string) => {
      const query = listCandidateReports.request.query.parse({
        limit: '100',
        ...(cursor === undefined ? {} : { cursor }),
      });
      return list(
        requestOf<typeof listCandidateReports>(0, { principal, path: { candidateSourcedId }, query }),
      );
    },
    report: (attemptId: string) =>
      read(
        requestOf<typeof readAttemptReport>(0, {
          principal,
          path: { attemptId },
          query: { view: 'summary' },
        }),
      ),
  };
}

type Attempt = (typeof reports.attempts)[number];

/** In what page and report differ on an attempt; undefined where its row is the summary, or the attempt is counted. */
async function differenceAt(
  tenant: TenantState,
  { attemptId, candidateSourcedId }: Attempt,
): Promise<string | undefined> {
  const routes = openRoutes(tenant, candidateSourcedId);
  const [page, report] = [await routes.page(), await routes.report(attemptId)];
  if (!page.ok) {
    expect(report).toMatchObject({ ok: false });
    return 'no page';
  }
  const { data, withheld = [] } = listCandidateReports.success.schema.parse(page.value.body);
  const row = data.find((one) => one.attemptId === attemptId);
  if (row === undefined) {
    const scored = reports.attempts.filter(
      (other) => other.candidateSourcedId === candidateSourcedId && other.status === 'scored',
    );
    // Whoever is not on the page is counted, each once.
    const counted = withheld.reduce((sum, { count }) => sum + count, 0);
    return data.length + counted === scored.length ? undefined : 'no row';
  }
  if (!report.ok) return 'a row, no report';
  expect(factsOf(row)).toEqual(factsOf(readAttemptReport.success.schema.parse(report.value.body)));
  return undefined;
}

/** Without what says when and from whom it was heard, and what a page does not ask about. */
function factsOf({
  sources,
  incompleteSections,
  observedAt,
  requestId,
  traceId,
  ...facts
}: object & Record<string, unknown>): object {
  expect([sources, incompleteSections, observedAt, requestId, traceId]).not.toContain(undefined);
  return facts;
}

/** A change of one member of an entity. */
interface Fault {
  readonly entity: EntityName;
  readonly id: string;
  readonly pointer: string;
  readonly name: string;
  readonly value: unknown;
}

/** Words that owners have for a member, by its name. */
const words: Readonly<Record<string, readonly string[]>> = {
  freshness: ['stale'],
  status: ['pass', 'fail', 'indeterminate', 'submitted', 'maybe'],
  state: ['gap', 'mastered', 'not_yet'],
  testKind: ['mastery_gate', 'formative', 'adaptive_diagnostic', 'quiz'],
  unit: ['percent', 'mastery_scale', 'owls'],
  modifiedAt: ['1999-01-01T00:00:00Z'],
  caseFrameworkChangedAt: ['2999-01-01T00:00:00Z'],
  lastChangeDateTime: ['1999-01-01T00:00:00Z'],
};

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Other values of a member. What its owner's contract does not allow, the emulator refuses. */
function othersOf(name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (isList(value))
    return {
      empty: [],
      'without the first': value.slice(1),
      'the first twice': [...value, value[0]],
      'with one more': [...value, 'nowhere'],
    };
  switch (typeof value) {
    case 'number':
      return { null: null, less: value - 1, more: value + 1, 'far less': -1e6, 'far more': 1e6 };
    case 'boolean':
      return { not: !value };
    case 'string':
      return { null: null, ...Object.fromEntries((words[name] ?? ['another']).map((word) => [word, word])) };
    default:
      return { null: null };
  }
}

/** Every member of an entity with what stands there; of a list the first three elements. Evidence is looked at as a whole. */
function* membersOf(value: unknown, pointer = ''): Generator<readonly [pointer: string, value: unknown]> {
  if (pointer !== '') yield [pointer, value];
  if (
    typeof value !== 'object' ||
    value === null ||
    /\/(?:evidence|outcomes|CFItems|CFAssociations)$/.test(pointer)
  )
    return;
  for (const [name, member] of Object.entries(Array.isArray(value) ? value.slice(0, 3) : value))
    if (typeof member === 'object' || !Array.isArray(value)) yield* membersOf(member, `${pointer}/${name}`);
}

/** Every fault of what the owners hold of an attempt. */
function faultsOf(attempt: Attempt): readonly Fault[] {
  const record = reports.records.find(({ resultRecordId }) => resultRecordId === attempt.resultRecordId)!;
  const criteria = reports.criteria.find(({ testSpecId }) => testSpecId === attempt.contentTestSpecId)!;
  const framework = reports.packages.find(
    ({ CFDocument }) => CFDocument.identifier === criteria.caseFrameworkGuid,
  )!;
  const entities: readonly (readonly [EntityName, string, object])[] = [
    ['qti.attempt_evidence', attempt.attemptId, attempt],
    ['results.settled_record', record.resultRecordId, record],
    ['content.report_criteria', criteria.testSpecId, criteria],
    ['case.package', framework.CFDocument.identifier, framework],
  ];
  return entities.flatMap(([entity, id, held]) =>
    [...membersOf(held)].flatMap(([pointer, value]) =>
      Object.entries(othersOf(pointer.split('/').at(-1) ?? '', value)).map(([name, other]): Fault => ({
        entity,
        id,
        pointer,
        name: `${entity} ${pointer.replaceAll(/\d+/g, 'n')} ${name}`,
        value: other,
      })),
    ),
  );
}

/** The attempts of learners who are on the roster, and of which the owners hold everything one by one. */
const settled = reports.attempts.filter(
  ({ attemptId, status, resultRecordId, candidateSourcedId }) =>
    status === 'scored' &&
    reports.records.some(
      (record) => record.resultRecordId === resultRecordId && record.attemptId === attemptId,
    ) &&
    reports.users.some(({ user }) => user.sourcedId === candidateSourcedId && user.status === 'active'),
);

const evidence = (...faults: readonly string[]) => faults.map((fault) => `qti.attempt_evidence ${fault}`);
const record = (...faults: readonly string[]) => faults.map((fault) => `results.settled_record ${fault}`);
const criteria = (...faults: readonly string[]) => faults.map((fault) => `content.report_criteria ${fault}`);
const framework = (...faults: readonly string[]) => faults.map((fault) => `case.package ${fault}`);
const anyNumber = ['less', 'more', 'far less', 'far more'];

/** A row on the page where there is no report. */
const beyondThePage = [
  // Only the report asks QTI itself, and Results for the record itself.
  ...evidence(
    '/tenantId another',
    '/freshness stale',
    '/resultRecordVersion null',
    '/resultRecordVersion another',
  ),
  ...evidence(
    '/administeredItemCount less',
    '/outcomes empty',
    '/outcomes without the first',
    '/outcomes the first twice',
  ),
  ...record('/tenantId another', '/resultRecordId another', '/version another'),
  // Of the mastery rows the index has the GUIDs of those in state gap.
  ...record('/mastery the first twice', '/mastery/n/state gap', '/mastery/n/state mastered'),
  ...record(
    '/mastery/n/caseGuid another',
    '/mastery/n/parentCaseGuid null',
    '/mastery/n/parentCaseGuid another',
  ),
  ...record('/mastery/n/estimate null', '/mastery/n/threshold null'),
  ...record('/mastery/n/estimate less', '/mastery/n/estimate far less', '/mastery/n/estimate far more'),
  ...record('/mastery/n/threshold more', '/mastery/n/threshold far less', '/mastery/n/threshold far more'),
  ...record(
    '/mastery/n/evidence empty',
    '/mastery/n/evidence without the first',
    '/mastery/n/evidence the first twice',
  ),
  // CASE is asked about gates, and for their gaps.
  ...framework('/CFItems empty', '/CFItems without the first', '/CFAssociations empty'),
  ...framework('/CFDocument/identifier another', '/CFDocument/lastChangeDateTime 1999-01-01T00:00:00Z'),
  ...criteria('/caseFrameworkGuid another', '/caseFrameworkChangedAt 2999-01-01T00:00:00Z'),
];

/** No row, and none that is counted: QTI has not scored the attempt, or it is somebody else’s. */
const notOfTheList = evidence(
  ...['pass', 'fail', 'indeterminate', 'submitted', 'maybe'].map((status) => `/status ${status}`),
  '/candidateSourcedId another',
);

/** No page: an owner answers about something else, or owners do not converge. */
const noPage = [
  ...evidence('/attemptId another', '/contentTestSpecId another'),
  ...record('/attemptId another', '/candidateSourcedId another'),
  ...record('/contentTestSpecId another', '/contentTestSpecVersion another'),
  ...record('/gate/criteriaVersion another', ...anyNumber.map((name) => `/gate/required ${name}`)),
  ...criteria('/tenantId another', '/testSpecId another'),
  ...criteria('/criteria/criteriaVersion another', ...anyNumber.map((name) => `/criteria/required ${name}`)),
  ...framework('/CFDocument/identifier another'),
];

it('a row of a page is the summary of the report, or the attempt is counted, whatever is wrong with what the page reads of it [RP-028, RP-075, RP-133]', async () => {
  const found = new Set<string>();
  let compared = 0;
  for (const attempt of settled)
    for (const { name, ...fault } of faultsOf(attempt)) {
      const { entity, id, pointer, value } = fault;
      const tenant = openTenant(platform);
      if (!changeEntity(tenant, { tenantId, entity, id, changes: [{ pointer, value }] }).ok) continue;
      compared += 1;
      const difference = await differenceAt(tenant, attempt);
      if (difference !== undefined) found.add(`${difference}: ${name}`);
    }
  expect(settled.length).toBeGreaterThanOrEqual(10);
  expect(compared).toBeGreaterThan(1_500);
  expect([...found].toSorted()).toEqual(
    [
      ...beyondThePage.map((name) => `a row, no report: ${name}`),
      ...notOfTheList.map((name) => `no row: ${name}`),
      ...noPage.map((name) => `no page: ${name}`),
    ].toSorted(),
  );
}, 300_000);

it('every row of a whole history is the summary of its report [RP-003, RP-075, RP-133]', async () => {
  const [[candidateSourcedId, ids] = ['', []]] = reports.generated.attemptIds;
  const attempts = ids.map((id) => reports.generated.attempts.get(id)!());
  const routes = openRoutes(openTenant(platform), candidateSourcedId);
  let rows = 0;
  for (let cursor: string | undefined | null; cursor !== null;) {
    const page = await routes.page(cursor);
    if (!page.ok) throw new Error(sentenceOf(page));
    const { data, nextCursor, withheld } = listCandidateReports.success.schema.parse(page.value.body);
    expect(withheld).toBeUndefined();
    for (const row of data) {
      const report = await routes.report(row.attemptId);
      if (!report.ok) throw new Error(sentenceOf(report));
      expect(factsOf(row)).toEqual(factsOf(readAttemptReport.success.schema.parse(report.value.body)));
    }
    rows += data.length;
    cursor = nextCursor;
  }
  expect(rows).toBe(attempts.filter(({ status }) => status === 'scored').length);
}, 60_000);
