import { describe, expect, it } from 'vitest';
import { exposureRule } from '#shared/contract/mastery/selection-policy.ts';
import { offlineRelease } from '#shared/release/read-release.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { closed } from '#shared/release/release-state.ts';
import { links } from './links.ts';
import { renderOpenApi } from './openapi.ts';

type Json = Readonly<Record<string, unknown>>;

/** A member of a rendered document by its path, through references. */
function at(document: unknown, ...path: readonly string[]): unknown {
  let value = document;
  for (const name of path) {
    value = (resolved(document, value) as Json | undefined)?.[name];
  }
  return resolved(document, value);
}

function resolved(document: unknown, value: unknown): unknown {
  const reference = (value as Json | undefined)?.['$ref'];
  if (typeof reference !== 'string') return value;
  return at(document, ...reference.slice(2).split('/'));
}

const gates = offlineRelease(new Set(['A', 'B', 'C', 'D', 'F']));
const mastery = renderOpenApi('mastery', gates);
const reports = renderOpenApi('reports', gates);

// That each has every route: test/contract/client.test.ts, by the client that is made of them.
describe.each([
  ['mastery', mastery],
  ['reports', reports],
] as const)('the document of %s', (service, document) => {
  it('lists at each 4xx and 5xx of a route exactly the problem types that it may answer, with an example of each', () => {
    for (const route of routesOf(service)) {
      const place = ['paths', route.path, route.method.toLowerCase(), 'responses'];
      const documented = Object.keys(at(document, ...place) as Json)
        .filter((status) => Number(status) >= 400)
        .flatMap((status) => {
          const examples = at(document, ...place, status, 'content', 'application/problem+json', 'examples');
          return Object.entries(examples as Record<string, { value: { status: number; type: string } }>).map(
            ([code, { value }]) => {
              expect([value.type.split('/').at(-1), value.status]).toEqual([code, Number(status)]);
              return `${status} ${code}`;
            },
          );
        });
      expect(documented.toSorted()).toEqual([...problemKeysOf(route)].toSorted());
    }
  });

  it('tells the scope, the key and the precondition of each operation', () => {
    for (const route of routesOf(service)) {
      const operation = at(document, 'paths', route.path, route.method.toLowerCase()) as {
        parameters: readonly { in: string; name: string; required?: boolean }[];
      };
      expect(operation).toMatchObject({ security: [{ bearer: [] }], 'x-scope': route.scope });
      const required = operation.parameters.filter((one) => one.required === true).map(({ name }) => name);
      expect(required.includes('Idempotency-Key')).toBe(route.request.idempotencyKey);
      expect(required.includes('If-Match')).toBe(route.request.ifMatch);
    }
  });
});

describe('the document of reports', () => {
  it('has the page size as a whole number from 1 to 100, 25 when it is left out [RP-302]', () => {
    const { parameters } = at(reports, 'paths', listCandidateReports.path, 'get') as {
      parameters: readonly { name: string; required?: boolean; schema: unknown }[];
    };
    const limit = parameters.find(({ name }) => name === 'limit');
    expect(limit).toMatchObject({ in: 'query', schema: { type: 'integer' } });
    expect(limit?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 100, default: 25 });
    expect(limit?.required ?? false).toBe(false);
  });

  it('names every claim of its tokens', () => {
    const text = String(at(reports, 'components', 'securitySchemes', 'bearer', 'description'));
    for (const claim of ['sub', 'tenantId', 'iat', 'exp', 'role', 'scope', 'studentIds', 'classSourcedIds'])
      expect(text).toContain(`\`${claim}\``);
  });
});

describe('the links of the documents', () => {
  it.each(
    links.flatMap((link) =>
      link.from.map((from) => [from.operationId, link.to.operationId, from, link] as const),
    ),
  )(
    'lead from %s to %s with values that the response has and the request takes',
    (_source, target, { path, method, success }, { to, values: { parameters = {}, requestBody = {} } }) => {
      const document = to.service === 'mastery' ? mastery : reports;
      const operation = at(document, 'paths', path, method.toLowerCase());
      const response = at(operation, 'responses', String(success.status)) as Json;
      expect(at(response, 'links', target)).toMatchObject({ operationId: target });

      const taken = at(document, 'paths', to.path, to.method.toLowerCase(), 'parameters') as readonly {
        name: string;
      }[];
      expect(taken.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(parameters)));
      for (const name of Object.keys(requestBody)) expect(to.requestExample).toHaveProperty(name);

      for (const expression of [...Object.values(parameters), ...Object.values(requestBody)]) {
        const [, pointer, header, parameter] =
          /^\$(?:response\.body#\/(.+)|response\.header\.(.+)|request\.path\.(.+))$/.exec(expression) ?? [];
        if (pointer !== undefined) expect(at(success.example, ...pointer.split('/'))).not.toBeUndefined();
        else if (header !== undefined) expect(response['headers']).toHaveProperty(header);
        else expect(path).toContain(`{${parameter}}`);
      }
    },
  );

  it('lead to no route that the document does not have', () => {
    expect(JSON.stringify(renderOpenApi('mastery', closed, [startAdaptiveRun]))).not.toContain('"links"');
    const some = renderOpenApi('mastery', closed, [startAdaptiveRun, inspectAdaptiveRun]);
    expect(
      Object.keys(at(some, 'paths', startAdaptiveRun.path, 'post', 'responses', '201', 'links') as Json),
    ).toEqual(['inspectAdaptiveRun']);
  });

  it('lead to advance from inspect alone: a new score changes the entity tag of every earlier answer', () => {
    const advance = links.filter(({ to }) => to.operationId === 'advanceAdaptiveRun');
    expect(advance.flatMap(({ from }) => from.map(({ operationId }) => operationId))).toEqual([
      'inspectAdaptiveRun',
    ]);
  });
});

describe('renderOpenApi', () => {
  it('opens answers to new members and values, and keeps requests closed [MA-187]', () => {
    const schemas = mastery.components?.schemas ?? {};
    expect(at(mastery, 'components', 'schemas', 'AdaptiveRun')).not.toHaveProperty('additionalProperties');
    const status = ['in_progress', 'finalizing', 'completed'];
    expect(at(mastery, 'components', 'schemas', 'AdaptiveRun', 'properties', 'status')).toMatchObject({
      enum: status,
      'x-extensible-enum': status,
    });
    const exposure = ['components', 'schemas', 'EligibilityRules', 'properties', 'exposure'] as const;
    expect(at(mastery, ...exposure)).not.toHaveProperty('oneOf');
    expect(at(mastery, ...exposure)).not.toHaveProperty('discriminator');
    expect(at(mastery, ...exposure, 'anyOf')).toHaveLength(exposureRule.options.length);
    expect(schemas['ContinuationRequest']).toHaveProperty('additionalProperties', false);
    expect(JSON.stringify(schemas['StartAdaptiveRunRequest'])).toContain('"const":"production_learner"');
    expect(JSON.stringify(schemas['StartAdaptiveRunRequest'])).not.toContain('x-extensible-enum');
  });

  it('says when a run has a scale [MA-082]', () => {
    expect(at(mastery, 'components', 'schemas', 'AdaptiveRun', 'allOf')).toMatchObject([
      {
        if: { properties: { scaleReportability: { const: 'reportable' } } },
        then: { properties: { scale: { type: 'object' } } },
        else: { properties: { scale: { type: 'null' } } },
      },
    ]);
  });

  it('is a valid document for a service without an open route', () => {
    expect(renderOpenApi('reports', closed, [])).toMatchObject({ openapi: '3.1.1', paths: {} });
  });

  it('describes the envelope of the service: problems of reports are told apart by type', () => {
    const route = ['paths', listCandidateReports.path, 'get', 'responses', '404'] as const;
    expect(at(reports, ...route, 'content', 'application/problem+json', 'schema')).toMatchObject({
      allOf: [
        { $ref: '#/components/schemas/ReportsProblem' },
        { properties: { type: { pattern: '\\/(?:not-found)$' } } },
      ],
    });
  });
});
