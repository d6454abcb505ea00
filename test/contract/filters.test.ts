import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Filter } from '#shared/contract/filters.ts';
import type { Route } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { sandboxIds, sandboxRoutes } from '#shared/contract/sandbox.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { callRaw } from '#test/support/raw-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// Every filter of every row, tried over HTTP: one that is declared and then forgotten on the way fails here. The cases derive from the rows.

const tenantId = 'tenant-aurora';

const stack = useTestStack();
const runs = lazily(() => openImprovementRuns(stack, tenantId));
let improvementRunId: string;
beforeAll(async () => {
  ({ improvementRunId } = await runs.analyze(runs.administration('autumn-gate')));
  await stack.improvement.settled();
});

type Query = Readonly<Record<string, string>>;

/** Some list with rows, of a route that has filters. */
interface List {
  readonly route: Route;
  readonly ask: (query: Query) => Promise<GatewayReply>;
}

const queryOf = (query: Query): string => `?${new URLSearchParams(query).toString()}`;

const hasFilters = ({ request }: Route): boolean => Object.keys(request.filters).length > 0;

/** The path parameters of a list with rows, by the operation id of its route. */
const paths: Readonly<Record<string, () => Query>> = {
  listCandidateReports: () => ({
    candidateSourcedId: runs.caller.fixtures(tenantId).candidates.withHistory,
  }),
  listRevisionOrders: () => ({ improvementRunId }),
};

const lists: readonly (readonly [name: string, list: List])[] = [
  ...routes.filter(hasFilters).map((route): [string, List] => [
    route.operationId,
    {
      route,
      ask: (query) => {
        const path = paths[route.operationId];
        if (path === undefined) throw new Error(`${route.operationId}: name a list with rows in "paths"`);
        return runs.caller.call(route, { tenantId, path: path(), query: queryOf(query) });
      },
    },
  ]),
  ...Object.values<Route>(sandboxRoutes)
    .filter(hasFilters)
    .map((route): [string, List] => [
      `${route.operationId} of the sandbox`,
      {
        route,
        ask: (query) =>
          callRaw(
            stack.urls.sandboxUrl,
            `${route.path.replace('{candidateSourcedId}', sandboxIds.candidate)}${queryOf(query)}`,
          ),
      },
    ]),
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
  return page.parse(JSON.parse(reply.text));
}

/** Every row of a list. */
async function rowsOf(list: List, query: Query = {}): Promise<Page['data']> {
  const rows: Page['data'] = [];
  for (let cursor: string | null | undefined = undefined; cursor !== null;) {
    const next: Page = await pageOf(list, {
      ...query,
      limit: '100',
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...next.data);
    cursor = next.nextCursor;
  }
  return rows;
}

/** What a filter is tried with, within the rows that `narrowed` leaves. */
interface Trial {
  readonly narrowed: Query;
  /** A value that more than one row has, if the list has two alike; else one that a row has. */
  readonly common: string;
  /** A legal value that no row has. */
  readonly absent: string;
}

/** Instants are lower bounds. */
const isInstant = (schema: Filter['schema']): boolean => schema.meta()?.['format'] === 'date-time';

/** Values for a filter, chosen by its schema and by the rows as the list shows them unfiltered. */
function trialOf({ request }: Route, name: string, { schema, fact }: Filter, rows: Page['data']): Trial {
  const { enum: options } = z.toJSONSchema(schema);
  if (isInstant(schema))
    return { narrowed: {}, common: '1970-01-01T00:00:00Z', absent: '9999-12-31T23:59:59Z' };
  const narrowings = Object.entries(request.filters).flatMap(([other, filter]) =>
    other === name
      ? []
      : [...new Set(rows.map((row) => row[filter.fact]))].map((value) => ({ other, filter, value })),
  );
  const candidates = [
    { narrowed: {}, left: rows },
    ...narrowings.flatMap(({ other, filter, value }) =>
      typeof value === 'string'
        ? [{ narrowed: { [other]: value }, left: rows.filter((row) => row[filter.fact] === value) }]
        : [],
    ),
  ];
  const trials = candidates.flatMap(({ narrowed, left }) => {
    const values = left.map((row) => row[fact]).filter((value) => typeof value === 'string');
    const common = values.find((value, at) => values.indexOf(value) < at) ?? values[0];
    const absent = (options ?? ['of-no-row-of-this-list']).find((value) => !values.includes(String(value)));
    return common === undefined || absent === undefined ? [] : [{ narrowed, common, absent: String(absent) }];
  });
  const [trial] = trials;
  if (trial === undefined)
    throw new Error(`${name}: the fixtures have a row of every value, or show no ${fact}`);
  expect(schema.safeParse(trial.absent).success).toBe(true);
  return trial;
}

it('every route with filters is tried', () => {
  expect(
    routes
      .filter(hasFilters)
      .map(({ operationId }) => operationId)
      .toSorted(),
  ).toEqual(Object.keys(paths).toSorted());
});

describe.each(lists)('the list of %s', (_, list) => {
  const { route } = list;
  let rows: Page['data'];
  beforeAll(async () => {
    rows = await rowsOf(list);
    expect(rows.length).toBeGreaterThan(1);
  });

  describe.each(Object.entries(route.request.filters))('under %s', (name, filter) => {
    const trial = (): Trial => trialOf(route, name, filter, rows);

    it('is empty for a legal value that no row has [RP-305, RP-306]', async () => {
      const { narrowed, absent } = trial();
      expect(await pageOf(list, { ...narrowed, [name]: absent })).toEqual({
        data: [],
        nextCursor: null,
        hasMore: false,
      });
    });

    it('holds every row of a value, and no other [RP-305]', async () => {
      const { narrowed, common } = trial();
      const within = (row: Page['data'][number]): boolean =>
        Object.entries(narrowed).every(([other, value]) => row[route.request.filters[other]!.fact] === value);
      const expected = rows.filter(
        (row) => within(row) && (isInstant(filter.schema) || row[filter.fact] === common),
      );
      expect(expected.length).toBeGreaterThan(0);
      const uncorrelated = (some: Page['data']) =>
        some.map(({ attemptId, revisionOrderId }) => ({ attemptId, revisionOrderId }));
      expect(uncorrelated(await rowsOf(list, { ...narrowed, [name]: common }))).toEqual(
        uncorrelated(expected),
      );
    });

    it('opens no cursor that was given out under another value, or without one [RP-303]', async () => {
      const { common, absent } = trial();
      const refused = async (query: Query, cursor: string): Promise<void> => {
        const reply = await list.ask({ ...query, limit: '1', cursor });
        expect([query, reply.status]).toEqual([query, 400]);
        expect(reportsProblemOf(reply).fieldErrors?.map(({ pointer }) => pointer)).toEqual(['/query/cursor']);
      };
      const without = (await pageOf(list, { limit: '1' })).nextCursor!;
      await pageOf(list, { limit: '1', cursor: without });
      for (const value of [common, absent]) await refused({ [name]: value }, without);
      const { nextCursor } = await pageOf(list, { [name]: common, limit: '1' });
      // The sandbox has no two rows alike.
      if (nextCursor === null) return;
      await pageOf(list, { [name]: common, limit: '1', cursor: nextCursor });
      // One instant has many spellings.
      if (isInstant(filter.schema))
        await pageOf(list, { [name]: common.replace('Z', '.000Z'), limit: '1', cursor: nextCursor });
      for (const query of [{}, { [name]: absent }]) await refused(query, nextCursor);
    });
  });
});
