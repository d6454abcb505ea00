import * as z from 'zod';
import { manifest, type Fixture } from '#functions/sandbox/manifest.ts';
import type { ProblemKey } from '#shared/contract/problems.ts';
import { correlation } from '#shared/contract/reports/examples.ts';
import type { Route } from '#shared/contract/route.ts';
import { sandboxRoutes, serveSandbox } from '#shared/contract/sandbox.ts';
import { renderEdition, type OpenApiDocument } from '#shared/openapi/openapi.ts';

const introduction = [
  'Try the reports service without an account: the sandbox has the paths, parameters and schemas of production, and a few fixed synthetic resources. It contains no tenant’s data, calls no other service, and opens no release gate.',
  'The examples of the path parameters are the ids of its resources. For any other id the sandbox returns 404 `not-found`. A query that production rejects with 400 is rejected here too. There are no other failures, no writes and no replays.',
  'You can send the `Authorization` header as in production; the sandbox ignores it.',
].join('\n\n');

type Queries = Readonly<Record<string, Readonly<Record<string, string>>>>;
/** What some routes have, by operation. */
type ByOperation<T> = Partial<Record<keyof typeof sandboxRoutes, T>>;

/** Queries that the examples of a route show, by name; every other route is shown without one. */
const shownQueries: Readonly<Record<string, Queries>> = {
  readAttemptReport: {
    evidence: { view: 'evidence' },
    standards: { view: 'standards' },
    summary: {},
  },
  listCandidateReports: {
    '': {},
    'first-of-two-pages': { limit: '1' },
    'without-match': { testKind: 'formative' },
  },
} satisfies ByOperation<Queries>;

/** The OpenAPI 3.1 document of the sandbox. What its examples show are its own answers. */
export function renderSandboxOpenApi(): OpenApiDocument {
  return renderEdition({
    service: serveSandbox.service,
    title: 'Reports service: sandbox',
    introduction,
    host: 'sandbox',
    routes: Object.values(sandboxRoutes).map(withKnownIds),
    security: () => ({ security: [{}, { bearer: [] }] }),
    securityDescription:
      'The token that production requires. The sandbox ignores it: the response is the same with any value, and without one.',
    note: ({ operationId }) => notes[operationId] ?? 'The sandbox has it for the ids in the examples.',
    problemKeys: problemKeysOf,
    examples: (route) => ({ examples: answersOf(route) }),
  });
}

const notes: Readonly<Record<string, string>> = {
  materializeAttemptReport:
    'In the sandbox every request returns the same fixed operation, and nothing is written. The sandbox ignores key and body; they are documented as production requires them.',
  listCandidateReports:
    'The sandbox has two attempts of one candidate. Filters, sort, limit and cursor work as in production; a cursor does not expire.',
} satisfies ByOperation<string>;

/** What the gateway or the function may answer instead of a fixture. */
function problemKeysOf({ method, request }: Route): readonly ProblemKey<'reports'>[] {
  return [
    ...(method === 'GET' ? (['400 unsupported-parameter', '400 validation', '404 not-found'] as const) : []),
    ...(request.body === undefined ? [] : ['413 payload-too-large' as const]),
    '429 rate-limited',
    '500 internal-error',
  ];
}

function fixturesOf(operationId: string): readonly Fixture[] {
  return manifest.filter(({ route }) => route.operationId === operationId);
}

/** The row with the ids of its fixtures as the examples of its path parameters. */
function withKnownIds(route: Route): Route {
  const fixtures = fixturesOf(route.operationId);
  const shape = Object.entries(route.request.path.shape).map(([name, schema]): [string, z.ZodType] => {
    const ids = fixtures.map(({ path }) => path[name] ?? '');
    // SAFETY: the shapes of the registry hold only classic schemas.
    return [name, (schema as z.ZodType).meta({ examples: ids })];
  });
  return { ...route, request: { ...route.request, path: z.strictObject(Object.fromEntries(shape)) } };
}

/** What the sandbox answers for each of its fixtures of a route, under a name for each. */
function answersOf({ operationId, request }: Route): Record<string, { summary: string; value: unknown }> {
  const shown = fixturesOf(operationId).flatMap((fixture) =>
    Object.entries(shownQueries[operationId] ?? { '': {} }).map(([name, query]) => {
      const value = fixture.answer(request.query.parse(query), correlation);
      const [id = operationId] = Object.values(fixture.path);
      const asked = new URLSearchParams(query).toString();
      return [
        name === '' ? id : `${id}-${name}`,
        { summary: asked === '' ? id : `${id}?${asked}`, value },
      ] as const;
    }),
  );
  return Object.fromEntries(shown);
}
