import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import type { Filter } from './filters.ts';
import { instant } from './reports/primitives.ts';
import { materializeAttemptReport } from './reports/routes/materialize-attempt-report.ts';
import type { Route } from './route.ts';
import { problemKeysOf } from './route-problems.ts';
import { routes, routesOf } from './routes.ts';

/** Every object schema inside a schema, so that none can let an undeclared field through. */
function objectsIn(schema: z.core.$ZodType, seen = new Set<z.core.$ZodType>()): z.core.$ZodType[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const def = schema._zod.def as unknown as Record<string, unknown>;
  const nested = Object.values(def).flatMap((value): z.core.$ZodType[] => childrenOf(value, seen));
  return def['type'] === 'object' ? [schema, ...nested] : nested;
}

function childrenOf(value: unknown, seen: Set<z.core.$ZodType>): z.core.$ZodType[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('_zod' in value) return objectsIn(value as z.core.$ZodType, seen);
  if (Array.isArray(value)) return value.flatMap((member) => childrenOf(member, seen));
  return Object.getPrototypeOf(value) === Object.prototype
    ? Object.values(value).flatMap((member) => childrenOf(member, seen))
    : [];
}

const isStrict = (schema: z.core.$ZodType): boolean => {
  const { catchall } = schema._zod.def as { catchall?: z.core.$ZodType };
  return catchall?._zod.def.type === 'never';
};

/** The methods and paths of the specification, with scope and what they take: of the reports service with gates, of the mastery engine with status. */
const specified = {
  mastery: [
    'POST /v1/adaptive-runs mastery:run 201 body Idempotency-Key',
    'POST /v1/adaptive-runs:inspect mastery:read 200 body Idempotency-Key',
    'POST /v1/adaptive-runs:advance mastery:run 200 body Idempotency-Key If-Match',
    'GET /v1/selection-policies/{policyId} mastery:read 200',
    'GET /v1/scale-calibrations/{calibrationId} mastery:read 200',
    'POST /v1/score-recovery-simulations mastery:simulate 200 body Idempotency-Key',
  ],
  reports: [
    'GET /v1/attempt-reports/{attemptId} reports:read C+D',
    'GET /v1/candidates/{candidateSourcedId}/attempt-reports reports:read C+D',
    'GET /v1/classes/{classSourcedId}/cohort-report reports:read A+D',
    'GET /v1/schools/{schoolSourcedId}/grades/{grade}/cohort-report reports:read A+D',
    'GET /v1/forms/{qtiTestId}/equivalence reports:read A+D',
    'GET /v1/attempt-reports/{attemptId}/readiness reports:read C+D',
    'POST /v1/attempt-reports:materialize reports:write B+C+D body Idempotency-Key',
    'POST /v1/administrations/{administrationId}/improvement-runs:analyze reports:write D+F Idempotency-Key',
    'GET /v1/improvement-runs/{improvementRunId} reports:read D+F',
    'GET /v1/improvement-runs/{improvementRunId}/alignment-reports/{sourceKey} reports:read D+F',
    'GET /v1/improvement-runs/{improvementRunId}/revision-orders reports:read D+F',
  ],
};

/** The query parameters of the specification, sorted: operation, name and values. */
const specifiedParameters = [
  'listCandidateReports cursor',
  'listCandidateReports limit',
  'listCandidateReports modifiedSince',
  'listCandidateReports qtiTestId',
  'listCandidateReports sort -modifiedAt',
  'listCandidateReports status scored indeterminate',
  'listCandidateReports testKind mastery_gate adaptive_diagnostic formative',
  'listRevisionOrders cursor',
  'listRevisionOrders limit',
  'listRevisionOrders status pending accepted replayed blocked_upstream rejected superseded',
  'listRevisionOrders targetModule bank blueprint',
  'readAttemptReport view summary standards evidence',
];

const routeLine = ({ method, path, scope, success, gates, request }: Route): string =>
  [
    ...[method, path, scope, gates.length > 0 ? gates.join('+') : success.status],
    ...(request.body === undefined ? [] : ['body']),
    ...(request.idempotencyKey ? ['Idempotency-Key'] : []),
    ...(request.ifMatch ? ['If-Match'] : []),
  ].join(' ');

describe('route registry', () => {
  it('serves these methods and paths of the reports service under these scopes and gates and no others, none of them minting a token, and takes an Idempotency-Key where it writes [RP-020, RP-021, RP-029, RP-223, RP-234, RP-253, RP-259, RP-260, RP-266, RP-269, RP-274, RP-279, RP-291, RP-294, RP-315]', () => {
    expect(routesOf('reports').map(routeLine)).toEqual(specified.reports);
  });

  it('takes these query parameters of the reports service with these values, and no others [RP-060, RP-074, RP-285, RP-296, RP-297, RP-298, RP-299, RP-301, RP-309]', () => {
    const taken = routesOf('reports').flatMap(({ operationId, request: { query } }) =>
      Object.entries(query.shape).map(([name, schema]) =>
        [operationId, name, ...(z.toJSONSchema(schema, { io: 'input' }).enum ?? [])].join(' '),
      ),
    );
    expect(taken.toSorted()).toEqual(specifiedParameters);
  });

  it('gives the function of a report no store to keep a fact in [RP-002]', () => {
    const reads = routesOf('reports').filter(({ method, gates }) => method === 'GET' && !gates.includes('F'));
    expect(new Set(reads.flatMap(({ lambda }) => lambda.grants))).toEqual(
      new Set(['profiles:read', 'keys:cursor']),
    );
  });

  it('lets the function that shows an improvement run write nothing at all [RP-002]', () => {
    const reads = routesOf('reports').filter(({ method, gates }) => method === 'GET' && gates.includes('F'));
    expect(reads).toHaveLength(3);
    for (const { operationId, lambda } of reads)
      expect(
        lambda.grants.filter((grant) => /write|queue/.test(grant)),
        operationId,
      ).toEqual([]);
  });

  it('gives the function that materializes no store but that of control records, and a key [RP-029, RP-291]', () => {
    const { grants } = materializeAttemptReport.lambda;
    expect(grants).toEqual(['control:write', 'keys:idempotency', 'profiles:read']);
  });

  it('serves these methods and paths of the mastery engine under these scopes and no others, all of them whatever the gates, and takes an Idempotency-Key on every POST and If-Match on advance only [MA-016, MA-018, MA-045, MA-047, MA-150, MA-156, MA-158, MA-164, MA-173, MA-175, MA-178, MA-179, MA-227]', () => {
    expect(routesOf('mastery').map(routeLine)).toEqual(specified.mastery);
  });

  it('requires every member of the bodies of the mastery engine [MA-051, MA-052, MA-053, MA-054, MA-055, MA-056, MA-059, MA-124]', () => {
    for (const { operationId, request, requestExample } of routesOf('mastery')) {
      const whole: object = requestExample ?? {};
      for (const name of Object.keys(whole)) {
        const without = { ...whole, [name]: undefined };
        expect(request.body?.safeParse(without).success, `${operationId} ${name}`).toBe(false);
      }
    }
  });

  for (const route of routes)
    describe(route.operationId, () => {
      it('has examples that its own schemas accept, unchanged', () => {
        expect(route.success.schema.parse(route.success.example)).toEqual(route.success.example);
        expect(route.requestExample === undefined).toBe(route.request.body === undefined);
        if (route.request.body !== undefined)
          expect(route.request.body.parse(route.requestExample)).toEqual(route.requestExample);
      });

      it('lets no undeclared field in or out: every object schema is strict', () => {
        const objects = [route.success.schema, route.request.path, route.request.query, route.request.body]
          .filter((schema) => schema !== undefined)
          .flatMap((schema) => objectsIn(schema));
        expect(objects.length).toBeGreaterThanOrEqual(3);
        for (const schema of objects)
          expect(isStrict(schema), JSON.stringify(z.toJSONSchema(schema, { io: 'input' }))).toBe(true);
      });

      it('has a path schema for exactly the parameters of its template', () => {
        const names = [...route.path.matchAll(/\{([A-Za-z]+)\}/g)].map((match) => match[1]);
        expect(Object.keys(route.request.path.shape)).toEqual(names);
      });

      it('has a filter for each query parameter that selects rows, under a name that no path parameter has', () => {
        const { path, query, filters } = route.request;
        const parameters = Object.keys(query.shape);
        const others = parameters.filter((name) => ['view', 'sort', 'limit', 'cursor'].includes(name));
        expect([...Object.keys(filters), ...others]).toEqual(parameters);
        for (const name of parameters) expect(Object.keys(path.shape)).not.toContain(name);
        for (const { schema, canonical = (text: string) => text } of Object.values<Filter>(filters))
          if (schema === instant) {
            const [one, respelt, next] = ['00', '00.000', '00.000000001'].map((seconds) =>
              canonical(`2026-01-01T00:00:${seconds}Z`),
            );
            expect([one === respelt, one === next]).toEqual([true, false]);
          }
      });

      it('fits its budget into the time of its function at 400 ms a call', () => {
        expect(route.budget.depth * 400).toBeLessThanOrEqual(route.lambda.timeoutSeconds * 1000 - 1500);
        expect(route.budget.depth).toBeLessThanOrEqual(route.budget.calls);
        expect(route.lambda.timeoutSeconds).toBeLessThanOrEqual(29);
      });

      it('has no strong entity tag for bytes that depend on what its caller accepts', () => {
        if (route.success.transfer === 'stream') expect(route.success.headers).not.toContain('ETag');
      });

      it('may touch what its request needs: the control record and its key exactly with an Idempotency-Key', () => {
        for (const grant of ['control:write', 'keys:idempotency'] as const)
          expect(route.lambda.grants.includes(grant)).toBe(route.request.idempotencyKey);
        expect(route.lambda.impact).toMatch(/^[A-Z].+\.$/);
      });
    });

  it('lists what the tables of the documents list for each operation [MA-152, MA-160, MA-165, MA-181, MA-182]', () => {
    const named = (operationId: string): readonly string[] => {
      const route = routes.find((row) => row.operationId === operationId);
      return route === undefined
        ? []
        : problemKeysOf(route).filter((key) => /^4(09|12|22|24|28)|^413 sim|^502/.test(key));
    };
    const pool = [
      '409 adaptive-pool-version-drift',
      '409 idempotency-key-reused',
      '409 stream-conflict',
      '422 calibration-invalid',
      '424 upstream-unavailable',
      '502 qti-adaptive-pool-invalid',
    ];
    expect(named('startAdaptiveRun')).toEqual(pool);
    expect(named('inspectAdaptiveRun')).toEqual(pool);
    expect(named('advanceAdaptiveRun')).toEqual(
      [...pool, '412 stream-conflict', '424 finalization-incomplete', '428 precondition-required'].sort(),
    );
    expect(named('simulateScoreRecovery')).toEqual(
      [...pool.filter((key) => !key.endsWith('stream-conflict')), '413 simulation-limit-exceeded'].sort(),
    );
    expect(named('readSelectionPolicy')).toEqual(['424 upstream-unavailable']);
    expect(named('readScaleCalibration')).toEqual(['422 calibration-invalid', '424 upstream-unavailable']);
  });
});
