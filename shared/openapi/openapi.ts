import * as schema from 'zod';
import { createDocument, createSchema } from 'zod-openapi';
import type {
  CreateDocumentOptions,
  ZodOpenApiMediaTypeObject,
  ZodOpenApiObject,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import { CACHE_CONTROL } from '#shared/contract/cache-control.ts';
import { conditionsOf } from '#shared/contract/conditions.ts';
import { requestHeaderTexts, responseHeaderTexts } from '#shared/contract/descriptions/common.ts';
import { descriptions } from '#shared/contract/descriptions/descriptions.ts';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import { routes as allRoutes } from '#shared/contract/routes.ts';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import { masteryProblem } from '#shared/contract/mastery/problem.ts';
import { problemRow, type ProblemRow } from '#shared/problems/registry.ts';
import { isReleased, type ReleaseState } from '#shared/release/release-state.ts';
import { describeDocument, extensible, nameComponents } from './describe.ts';
import { linksOf } from './links.ts';
import { documentationUrl, documentedProblemsUrl, problemExample } from './problem-examples.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** One document: its subject, and how its operations differ from those of others. */
export interface Edition {
  readonly service: ServiceName;
  readonly title: string;
  readonly introduction: string;
  /** First label of the documented host. */
  readonly host: string;
  readonly routes: readonly Route[];
  /** What a caller needs; the scope is an extension, since `security` names only scopes of OAuth flows. */
  readonly security: (
    route: Route,
  ) => Pick<ZodOpenApiOperationObject, 'security'> & { readonly 'x-scope'?: string };
  /** The description of the token. */
  readonly securityDescription: string;
  /** Returns the text that follows the route's own description. */
  readonly note: (route: Route) => string;
  /** Keys of the problem registry. */
  readonly problemKeys: (route: Route) => readonly string[];
  /** Returns the example or examples of a success. */
  readonly examples: (route: Route) => Pick<ZodOpenApiMediaTypeObject, 'example' | 'examples'>;
}

/** The document's texts about each service, and the claims that its tokens must have, including those that open resources. */
const texts: Readonly<Record<ServiceName, { title: string; introduction: string; claims: string }>> = {
  mastery: {
    title: 'Adaptive mastery engine',
    introduction:
      'Runs adaptive tests without storing learner data. A test diagnoses knowledge components and reports a score on a vertical scale; both come from the same posterior. To resume a run, send its encrypted continuation token.\n\nFailures are problem documents (RFC 9457): branch on `code`.',
    claims: '`iss`, `aud`, `sub`, `exp`, `role` and `tenantId`.',
  },
  reports: {
    title: 'Reports service',
    introduction:
      'Reports on scored attempts. The service composes each report at request time from the sources that own the facts, and stores none of them.\n\nWhere the sandbox serves a route too, the example of the response is what it returns: request the same ids there.\n\nFailures are problem documents (RFC 9457): branch on `type`.',
    claims:
      '`iss`, `aud`, `sub`, `iat`, `exp`, `role` and `tenantId`. The arrays `studentIds`, `classSourcedIds` and `schoolSourcedIds` list the candidates, classes and schools that the token gives access to. Without the array there is no access.',
  },
};

const tolerance =
  'Within `/v1`, responses may gain fields and enum values; ignore the ones you do not know. An enumeration that may gain values has the extension `x-extensible-enum`: if you generate a client, configure it to accept unknown values. Unknown request fields and query parameters are rejected.\n\nThe schemas of requests are as strict as the service. The extension `x-max-bytes` limits a text in bytes of UTF-8, where `maxLength` counts characters; what no schema can express is in the descriptions.';

for (const { components } of Object.values(descriptions)) nameComponents(components);

const problemSchemas = { mastery: masteryProblem, reports: reportsProblem } as const;

/**
 * Renders the OpenAPI 3.1 document of one service with the released routes, from the route and problem registries. It is deterministic: the same
 * registries give the same bytes. The document of a service without a released route has no paths, and is valid.
 * @param routes the registry; tests pass their own
 */
export function renderOpenApi(
  service: ServiceName,
  release: ReleaseState,
  routes: readonly Route[] = allRoutes,
): OpenApiDocument {
  const { claims, ...about } = texts[service];
  return renderEdition({
    service,
    ...about,
    host: service,
    routes: routes.filter((route) => route.service === service && isReleased(route, release)),
    security: ({ scope }) => ({ security: [{ bearer: [] }], 'x-scope': scope }),
    securityDescription: `A JWT of the platform’s issuer with ${claims} \`scope\` is a space-separated string and must contain the scope that the operation names. Only the token determines the tenant.`,
    note: ({ scope }) => `Scope: \`${scope}\`.`,
    problemKeys: problemKeysOf,
    examples: ({ success }) => ({ example: success.example }),
  });
}

interface Server {
  readonly url: string;
  readonly description: string;
}

/** Returns the server at an address of the service, without `/v1`; none without an address. */
export function serversAt(url: string | undefined): readonly Server[] {
  return url === undefined ? [] : [{ url, description: 'The service' }];
}

/** Returns the document with these servers. With none it keeps its own, a placeholder. */
export function withServers(document: object, servers: readonly Server[]): object {
  return servers.length === 0 ? document : { ...document, servers };
}

export function renderEdition(edition: Edition): OpenApiDocument {
  const { title, introduction, host, routes } = edition;
  const document: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: {
      title,
      version: '1.0.0',
      description: `${introduction}\n\n${tolerance}`,
      contact: { name: 'mastery-reports', url: documentationUrl },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: '{baseUrl}',
        description: 'The base address of the service in your deployment, without `/v1`.',
        variables: { baseUrl: { default: `https://${host}.api.mastery-reports.example` } },
      },
    ],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({
      name,
      description: tagText(edition.service, name),
    })),
    paths: pathsOf(edition),
    ...(routes.length === 0
      ? {}
      : {
          components: {
            securitySchemes: {
              bearer: {
                type: 'http',
                scheme: 'bearer',
                bearerFormat: 'JWT',
                description: edition.securityDescription,
              },
            },
          },
        }),
  };
  const rendered = createDocument(document, options);
  describeDocument(rendered, descriptions[edition.service]);
  return rendered;
}

function pathsOf(edition: Edition): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const shared: SharedResponses = new Map();
  for (const route of edition.routes) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route, edition, shared);
  }
  return paths;
}

function tagOf({ path }: Route): string {
  return /^\/v1\/([^/:]+)/.exec(path)?.[1] ?? path;
}

function tagText(service: ServiceName, tag: string): string {
  const text = descriptions[service].tags[tag];
  // Rows of the registry without it do not compile.
  if (text === undefined) throw new Error(`the resource ${tag} of ${service} has no text`);
  return text;
}

function operationOf(route: Route, edition: Edition, shared: SharedResponses): ZodOpenApiOperationObject {
  const { request, success } = route;
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: `${route.description}\n\n${edition.note(route)}`,
    tags: [tagOf(route)],
    ...edition.security(route),
    requestParams: { path: request.path, query: request.query, header: requestHeaders(route) },
    ...(request.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            description: `A JSON object in UTF-8, at most ${request.maxBodyBytes} bytes.`,
            content: {
              'application/json': {
                schema: request.body,
                ...(route.requestExample === undefined ? {} : { example: route.requestExample as unknown }),
              },
            },
          },
        }),
    responses: {
      [`${success.status}`]: {
        description: success.status === 201 ? 'Created. A retry with the same key returns 201 again.' : 'OK.',
        headers: headersOf(success.headers),
        content: { 'application/json': { schema: success.schema, ...edition.examples(route) } },
        ...linksOf(route, edition.routes),
      },
      ...problemResponses(route, edition.problemKeys(route), shared),
    },
    ...(route.gates.length === 0 ? {} : { 'x-gates': [...route.gates] }),
    ...((route.receipts ?? []).length === 0 ? {} : { 'x-receipts': [...(route.receipts ?? [])] }),
  };
}

/** Responses with the same text in every operation, by their component's name: one object each, which makes them one component. */
type SharedResponses = Map<string, ZodOpenApiResponseObject>;

/** Returns every 4xx and 5xx with the problem types that it can be. */
function problemResponses(
  route: Route,
  problemKeys: readonly string[],
  shared: SharedResponses,
): Record<`${4 | 5}${string}`, ZodOpenApiResponseObject> {
  const problems = problemKeys.map((key) => problemRow(route.service, key));
  const byStatus = Map.groupBy(problems, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, rows]) => {
      const deprecation =
        status === 422
          ? route.success.headers.filter((name) => ['Deprecation', 'Sunset', 'Link'].includes(name))
          : [];
      const id = `${[...rows.map((row) => pascal(row.code)), ...deprecation].join('')}${status}`;
      const response = shared.get(id) ?? { id, ...problemResponse(status, rows, deprecation) };
      shared.set(id, response);
      return [String(status), response];
    }),
  );
}

function problemResponse(
  status: number,
  rows: readonly ProblemRow[],
  deprecation: readonly AnswerHeader[],
): ZodOpenApiResponseObject {
  return {
    description: rows
      .map((row) => `[\`${row.code}\`](${documentedProblemsUrl}/${row.code}): ${row.title}. ${row.meaning}`)
      .join('\n\n'),
    headers: headersOf([
      ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
      ...(rows.some((row) => row.retryable !== false) ? (['Retry-After'] as const) : []),
      ...deprecation,
    ]),
    content: {
      'application/problem+json': {
        schema: problemSchemaOf(rows),
        examples: Object.fromEntries(
          rows.map((row) => [row.code, { summary: row.title, value: problemExample(row) }]),
        ),
      },
    },
  };
}

function pascal(code: string): string {
  return code.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the service's envelope, narrowed to the problems of this status: by `code` for mastery, by the end of `type` for reports. */
function problemSchemaOf(rows: readonly ProblemRow[]): schema.ZodType {
  const [first] = rows;
  if (first === undefined) throw new TypeError('a problem response without a problem');
  const envelope = problemSchemas[first.service];
  const codes = rows.map((row) => row.code);
  return schema.intersection(
    envelope,
    first.service === 'mastery'
      ? schema.looseObject({ status: schema.literal(first.status), code: schema.enum(codes).meta(known) })
      : schema.looseObject({
          status: schema.literal(first.status),
          type: schema.string().regex(new RegExp(`/(?:${codes.join('|')})$`)),
        }),
  );
}

const visibleAscii = schema
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/);

function requestHeaders({ request }: Route): schema.ZodObject {
  const header = (name: keyof typeof requestHeaderTexts, value: schema.ZodType, example: string) => ({
    [name]: value.meta({ description: requestHeaderTexts[name], examples: [example] }),
  });
  return schema.object({
    ...(request.idempotencyKey &&
      header('Idempotency-Key', visibleAscii, '0c1f6a4e-6f0b-4f0e-a8a1-1d3a52a0c9b7')),
    ...(request.ifMatch && header('If-Match', schema.string(), '"5f3a1c0b9d2e4f60"')),
    ...header(
      'traceparent',
      schema.string().optional(),
      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    ),
  });
}

type AnswerHeader =
  | 'X-Request-Id'
  | 'Cache-Control'
  | 'WWW-Authenticate'
  | 'Retry-After'
  | Route['success']['headers'][number];

/** Headers of responses, with an example of each. A constant is no `literal`: an enumeration of responses could gain values. */
const answerHeaders: Readonly<Record<AnswerHeader, readonly [schema.ZodType, example: string | number]>> = {
  'X-Request-Id': [schema.string(), '0f9b8a52-6c1e-4d3a-9b57-2f8e0c4d71aa'],
  'Cache-Control': [schema.string().meta({ const: CACHE_CONTROL }), CACHE_CONTROL],
  'WWW-Authenticate': [schema.string().optional(), 'Bearer'],
  'Retry-After': [schema.int().min(0).optional(), 5],
  ETag: [schema.string(), '"5f3a1c0b9d2e4f60"'],
  Deprecation: [schema.string().meta({ pattern: '^@-?\\d+$' }).optional(), '@1788220800'],
  Sunset: [schema.string().optional(), 'Tue, 01 Dec 2026 00:00:00 GMT'],
  Link: [
    schema.string().optional(),
    `<${documentedProblemsUrl}/deprecation>; rel="deprecation"; type="text/html"`,
  ],
  'Idempotent-Replayed': [schema.string().meta({ const: 'true' }).optional(), 'true'],
};

const everyAnswer = ['X-Request-Id', 'Cache-Control'] as const;

/** Returns each header as a component, once. */
function headersOf(names: readonly AnswerHeader[]): schema.ZodObject {
  return schema.object(
    Object.fromEntries(
      [...everyAnswer, ...names].map((id) => {
        const [value, example] = answerHeaders[id];
        return [id, value.meta({ header: { id, description: responseHeaderTexts[id], example } })];
      }),
    ),
  );
}

/** Marks an enumeration of a response that stays closed: it narrows only this response and promises nothing about later versions. */
const known = { 'x-closed': true } as const;

/**
 * Responses are open although our own check of them is strict: they may gain members, and values if an enumeration has the extension. The enumeration
 * itself stays an `enum`, so that generated types know its values. Requests stay as strict as they are.
 */
const options: CreateDocumentOptions = {
  override: ({ jsonSchema, zodSchema, path, io }) => {
    const conditions = conditionsOf(zodSchema).map((condition) =>
      Object.fromEntries(
        Object.entries(condition).map(([part, members]) => [
          part,
          createSchema(schema.looseObject(members)).schema,
        ]),
      ),
    );
    if (conditions.length > 0) jsonSchema.allOf = conditions;
    if (io !== 'output') return;
    if (jsonSchema.additionalProperties !== undefined && zodSchema._zod.def.type === 'object') {
      delete jsonSchema.additionalProperties;
    }
    // With open values and members a response may match several of its alternatives.
    if (jsonSchema.oneOf !== undefined) {
      jsonSchema.anyOf = jsonSchema.oneOf;
      delete jsonSchema.oneOf;
      // It would list all alternatives, including future ones.
      delete (jsonSchema as { discriminator?: unknown }).discriminator;
    }
    const closed = 'x-closed' in jsonSchema;
    if (closed) delete (jsonSchema as Record<string, unknown>)['x-closed'];
    // The name of a kind of resource stays the same in every later version [RP-054].
    if (path.at(-1) === 'object') return;
    const { type } = zodSchema._zod.def;
    const literal = type === 'literal' ? [jsonSchema.const] : undefined;
    const values = type === 'enum' ? jsonSchema.enum : literal;
    if (closed || values === undefined || !values.every((value) => typeof value === 'string')) return;
    delete jsonSchema.const;
    Object.assign(jsonSchema, { type: 'string', enum: values, [extensible]: values });
  },
};
