import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { localTenant } from '#local/seeds/tenants.ts';
import type { Filter } from '#shared/contract/filters.ts';
import type { Route } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { queryOf, reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { callRaw } from '#test/support/raw-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// Every list by its row, tried over HTTP: its filters, of which one that is declared and then forgotten on the way fails here, its pages, and
// with what its cursors go.

const tenantId = 'tenant-aurora';
const otherTenant = 'tenant-borealis';

const stack = useTestStack();
const runs = lazily(() => openImprovementRuns(stack, tenantId));
let improvementRunIds: readonly string[];
beforeAll(async () => {
  const given = [];
  for (const name of ['refused-by-bank', 'spring-gate'])
    given.push(await runs.analyze(runs.administration(name)));
  await stack.improvement.settled();
  improvementRunIds = given.map(({ improvementRunId }) => improvementRunId);
});

type Query = Readonly<Record<string, string>>;

/** Some list with rows, of a route that has filters. */
interface List {
  readonly route: Route;
  /** What its path names: the list itself, then others that its caller may or may not see; undefined: it has no caller, and there is no other. */
  readonly paths?: () => readonly [Query, ...Query[]];
  readonly ask: (query: Query, call?: GatewayCall) => Promise<GatewayReply>;
}

const hasFilters = ({ request }: Route): boolean => Object.keys(request.filters).length > 0;

const candidatesOf = (of: string) => runs.caller.fixtures(of).candidates;

/** `paths` of a list by the operation id of its route. */
const paths: Readonly<Record<string, NonNullable<List['paths']>>> = {
  listCandidateReports() {
    const candidates = [candidatesOf(tenantId).withHistory, candidatesOf(tenantId).empty] as const;
    const [own, other] = candidates.map((candidateSourcedId) => ({ candidateSourcedId }));
    return [own!, other!];
  },
  listRevisionOrders() {
    const [own, ...others] = [...improvementRunIds, 'run_of-nobody'].map((id) => ({ improvementRunId: id }));
    return [own!, ...others];
  },
};

/** Claims that open the lists, and two of a kind. */
const claims = () => ({
  studentIds: Object.values(candidatesOf(tenantId)),
  administrationIds: ['refused-by-bank', 'spring-gate'].map((name) => runs.administration(name)),
});

const served = routes.filter(hasFilters).map((route): readonly [name: string, list: List] => {
  const pathsOf = paths[route.operationId];
  if (pathsOf === undefined) throw new Error(`${route.operationId}: name a list with rows in "paths"`);
  const ask: List['ask'] = (query, call) =>
    runs.caller.call(route, {
      tenantId,
      claims: claims(),
      path: pathsOf()[0],
      query: queryOf(query),
      ...call,
    });
  return [route.operationId, { route, paths: pathsOf, ask }];
});
const lists: typeof served = [
  ...served,
  ...Object.values<Route>(sandboxRoutes)
    .filter(hasFilters)
    .map((route): (typeof served)[number] => {
      const path = route.path.replace('{candidateSourcedId}', sandboxIds.candidate);
      const ask: List['ask'] = (query) => callRaw(stack.urls.sandboxUrl, `${path}${queryOf(query)}`);
      return [`${route.operationId} of the sandbox`, { route, ask }];
    }),
];

const page = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  nextCursor: z.string().nullable(),
  hasMore: z.boolean(),
});
type Page = z.infer<typeof page>;

async function pageOf({ ask }: List, query: Query): Promise<Page> {
  const reply = await ask(query);
  expect([query, reportsAnswerOf(reply)]).toEqual([query, '200']);
  const given = page.parse(JSON.parse(reply.text));
  expect(given.hasMore).toBe(given.nextCursor !== null);
  // A page is empty only where nothing follows.
  if (given.hasMore) expect(given.data).not.toEqual([]);
  return given;
}

/** The rows of a list, page by page. */
async function rowsOf(list: List, query: Query): Promise<Page['data']> {
  const rows: Page['data'] = [];
  for (let cursor: Query | undefined = {}; cursor !== undefined;) {
    const { data, nextCursor }: Page = await pageOf(list, { ...query, ...cursor });
    if (query['limit'] !== undefined) expect(data.length).toBeLessThanOrEqual(Number(query['limit']));
    rows.push(...data);
    cursor = nextCursor === null ? undefined : { cursor: nextCursor };
  }
  return rows;
}

const idsOf = (rows: Page['data']): readonly unknown[] =>
  rows.map(({ attemptId, revisionOrderId }) => attemptId ?? revisionOrderId);

/** Instants are lower bounds, by times that no row shows. */
const isInstant = ({ schema }: Filter): boolean => schema.meta()?.['format'] === 'date-time';

const BEFORE_ALL = '1970-01-01T00:00:00Z';

/** Values for a filter, chosen by its schema and by the rows as the list shows them unfiltered: some that rows have, and one that none has. */
function valuesOf(filter: Filter, rows: Page['data']): readonly string[] {
  const { enum: options } = z.toJSONSchema(filter.schema);
  if (options !== undefined) return options.map(String);
  if (isInstant(filter)) return [BEFORE_ALL, '9999-12-31T23:59:59Z'];
  const held = String(rows[rows.length >> 2]![filter.fact]);
  return [held, held.toUpperCase()];
}

/** Whether a row is to be there under filters. */
function isSelected({ request: { filters } }: Route, given: Query, row: Page['data'][number]): boolean {
  return Object.entries(given).every(([name, value]) => {
    const filter = filters[name]!;
    return isInstant(filter) ? value === BEFORE_ALL : row[filter.fact] === value;
  });
}

describe.each(lists)('the list of %s', (_, list) => {
  const { route } = list;
  const filters = Object.entries(route.request.filters);
  let rows: Page['data'];
  beforeAll(async () => {
    rows = await rowsOf(list, { limit: '100' });
    expect(rows.length).toBeGreaterThan(1);
  });
  const selected = (given: Query): Page['data'] => rows.filter((row) => isSelected(route, given, row));
  /** Nothing, and each filter alone with each of its values. */
  const singles = (): readonly Query[] => [
    {},
    ...filters.flatMap(([name, filter]) => valuesOf(filter, rows).map((value) => ({ [name]: value }))),
  ];

  it('in pages of any size has every row once, in one order [RP-039, RP-136, RP-207, RP-208, RP-302]', async () => {
    const { length } = rows;
    expect(new Set(idsOf(rows)).size).toBe(length);
    const sizes = [1, 2, 3, 7, 25, length - 1, length, length + 1].filter(
      (size) => size >= 1 && size <= 100 && length <= 50 * size,
    );
    for (const limit of sizes)
      expect([limit, idsOf(await rowsOf(list, { limit: `${limit}` }))]).toEqual([limit, idsOf(rows)]);
  }, 60_000);

  it('under any filters is the whole list without what they leave out; without a match it is an empty last page [RP-008, RP-038, RP-207, RP-298, RP-299, RP-305, RP-306]', async () => {
    const all = filters.reduce<readonly Query[]>(
      (some, [name, filter]) =>
        some.flatMap((given) => [
          given,
          ...valuesOf(filter, rows).map((value) => ({ ...given, [name]: value })),
        ]),
      [{}],
    );
    for (const given of all)
      expect([given, idsOf(await rowsOf(list, { ...given, limit: '100' }))]).toEqual([
        given,
        idsOf(selected(given)),
      ]);
    // Each filter leaves something out, and some value of it something in.
    for (const [name, filter] of filters) {
      const counts = valuesOf(filter, rows).map((value) => selected({ [name]: value }).length);
      expect([name, Math.max(...counts) > 0, Math.min(...counts) < rows.length]).toEqual([name, true, true]);
    }
  }, 60_000);

  /** The one way in which a cursor is refused, whatever is wrong with it; no owner hears of it. */
  async function expectRefused(what: string, request: () => Promise<GatewayReply>): Promise<void> {
    const { result, calls } = await callsDuring(stack, request);
    expect([what, reportsAnswerOf(result), calls]).toEqual([what, '400 validation', []]);
    const message = 'must be an unexpired cursor of this very list';
    const refused = { pointer: '/query/cursor', code: 'not-allowed', message };
    expect([what, reportsProblemOf(result).fieldErrors]).toEqual([what, [refused]]);
  }
  const cursorOf = async (of: List, given: Query = {}): Promise<string> =>
    (await pageOf(of, { ...given, limit: '1' })).nextCursor!;

  it('gives cursors that go with their own filters and limit alone, in any spelling, as often as they are sent [RP-134, RP-135, RP-208, RP-303]', async () => {
    for (const given of singles().filter((one) => selected(one).length > 1)) {
      const own = { ...given, limit: '1', cursor: await cursorOf(list, given) };
      expect(own.cursor).toMatch(/^[\w.-]{1,2048}$/);
      for (const others of singles().filter((one) => queryOf(one) !== queryOf(given)))
        await expectRefused(queryOf(others), () => list.ask({ ...others, limit: '1', cursor: own.cursor }));
      for (const change of [
        { limit: '2' },
        { cursor: `${own.cursor}A` },
        { cursor: own.cursor.slice(0, -1) },
      ])
        await expectRefused(queryOf(change), () => list.ask({ ...own, ...change }));
      // One instant has many spellings.
      const respelt = Object.entries(given)
        .filter(([name]) => isInstant(route.request.filters[name]!))
        .map(([name, value]) => ({ [name]: value.replace('Z', '.000Z') }));
      for (const same of [{}, ...respelt])
        expect(idsOf((await pageOf(list, { ...own, ...same })).data)).toEqual(
          idsOf(selected(given).slice(1, 2)),
        );
    }
  });

  // Every claim alone: functions/reports/cursor.
  if (list.paths !== undefined)
    it('gives cursors that go with their own list and caller alone, under however new a token [RP-024, RP-135, RP-208, RP-303]', async () => {
      const own = { limit: '1', cursor: await cursorOf(list) };
      const texts = own.cursor.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
      const [path, ...otherPaths] = list.paths!();
      for (const known of [...Object.values(path), tenantId, idsOf(rows)[0]])
        expect(texts.join('|')).not.toContain(known);
      const { sub, role } = localTenant(tenantId);
      const others: readonly GatewayCall[] = [
        ...otherPaths.map((other) => ({ path: other })),
        { claims: { ...claims(), sub: 'somebody-else' } },
        { claims: { ...claims(), studentIds: claims().studentIds.slice(0, 1) } },
        // So that the list would be hidden.
        { claims: {} },
        { scopes: [route.scope, 'reports:write'] },
        { tenantId: otherTenant, claims: { ...claims(), sub, role } },
      ];
      for (const call of others) await expectRefused(JSON.stringify(call), () => list.ask(own, call));
      for (const [name, another] of served)
        if (another.route !== route) {
          const cursor = await cursorOf(another);
          await expectRefused(name, () => list.ask({ ...own, cursor }));
        }
      const { studentIds, administrationIds } = claims();
      for (const same of [
        { ...claims(), expiresInSeconds: 120 },
        { administrationIds, studentIds: [...studentIds.toReversed(), ...studentIds] },
      ])
        expect(reportsAnswerOf(await list.ask(own, { claims: same }))).toBe('200');
    });
});
