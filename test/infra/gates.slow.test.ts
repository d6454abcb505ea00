import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { offlineRelease, parseGates } from '#shared/release/read-release.ts';
import { backgroundFunctions } from '#shared/contract/background.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { isReleased } from '#shared/release/release-state.ts';
import type { ReleaseState } from '#shared/release/release-state.ts';
import { matchRoute } from '#local/gateway/route-match.ts';
import { renderOpenApi } from '#shared/openapi/openapi.ts';
import { deployed, gateSets, ofType } from './deployed.ts';

const api = z.object({
  Name: z.string(),
  Body: z.object({
    // The one method of an API with nothing open has no id.
    paths: z.record(z.string(), z.record(z.string(), z.looseObject({ operationId: z.string().optional() }))),
  }),
});

const reference = z.object({ Ref: z.string() });

/** What stands in the templates of the reports service and the operations, by what names it. */
interface Present {
  /** `METHOD path operationId` of the reports API. */
  readonly operations: readonly string[];
  /** Logical ids of the functions by operation id. */
  readonly functions: ReadonlyMap<string, string>;
  /** The function behind the alias that each permission is for, as a logical id; the APIs' alone. */
  readonly permitted: readonly string[];
  readonly text: string;
}

const reports = routesOf('reports');
const synthesized = new Map<string, Present>();

/** Sets of gates that release the same rows have the same templates. */
function presentUnder(release: ReleaseState): Present {
  const key = [...reports, ...backgroundFunctions]
    .filter((row) => isReleased(row, release))
    .map(({ operationId }) => operationId)
    .join();
  const known = synthesized.get(key);
  if (known !== undefined) return known;
  const of = deployed({ routes: reports, release });
  const stack = of.services.get('reports');
  const functions = stack === undefined ? [] : ofType(stack, 'AWS::Lambda::Function');
  const apis = stack === undefined ? [] : ofType(stack, 'AWS::ApiGateway::RestApi');
  const permissions = stack === undefined ? [] : ofType(stack, 'AWS::Lambda::Permission');
  const aliased = new Map(
    (stack === undefined ? [] : ofType(stack, 'AWS::Lambda::Alias')).map(([id, { Properties }]) => [
      id,
      reference.parse(Properties['FunctionName']).Ref,
    ]),
  );
  const present: Present = {
    operations: apis
      .map(([, { Properties }]) => api.parse(Properties))
      .filter(({ Name }) => Name.endsWith('-reports'))
      .flatMap(({ Body }) =>
        Object.entries(Body.paths).flatMap(([path, methods]) =>
          Object.entries(methods).flatMap(([method, { operationId }]) =>
            operationId === undefined ? [] : `${method.toUpperCase()} ${path} ${operationId}`,
          ),
        ),
      )
      .toSorted(),
    functions: new Map(
      functions
        .map(([id, { Properties }]) => [String(Properties['FunctionName']), id] as const)
        // It checks new versions of the others, whichever there are.
        .filter(([name]) => name !== 'mastery-reports-prod-reports-checkVersion')
        .map(([name, id]) => [name.replace('mastery-reports-prod-', ''), id]),
    ),
    permitted: permissions
      .filter(([, { Properties }]) => Properties['Principal'] === 'apigateway.amazonaws.com')
      .map(([, { Properties }]) => aliased.get(reference.parse(Properties['FunctionName']).Ref) ?? '')
      .toSorted(),
    text: JSON.stringify([stack?.template.toJSON() ?? {}, of.operations.template.toJSON()]),
  };
  synthesized.set(key, present);
  return present;
}

function offline(text: string): ReleaseState {
  const open = parseGates(text);
  if (!open.ok) throw new Error(open.error);
  return offlineRelease(open.value);
}

// Every template is made before the tests, none of which has to wait for one.
for (const set of gateSets) presentUnder(offlineRelease(new Set(set)));

const idsOf = ({ operations }: Present): readonly string[] =>
  operations.map((line) => line.split(' ')[2] ?? '').toSorted();

describe('-c gates=', () => {
  it.each<[string, readonly string[]]>([
    ['', []],
    ['A', []],
    ['E', []],
    ['A,D', ['readClassCohort', 'readEquivalence', 'readSchoolGradeCohort']],
    ['C,D', ['listCandidateReports', 'readAttemptReport', 'readReadiness']],
    ['B,D', []],
    ['B,C,D', ['listCandidateReports', 'materializeAttemptReport', 'readAttemptReport', 'readReadiness']],
    ['D,F', ['analyzeAdministration', 'listRevisionOrders', 'readAlignmentReport', 'readImprovementRun']],
    ['A,B,C,F', []],
    ['A,B,C,D,F', reports.map(({ operationId }) => operationId).toSorted()],
  ])(
    '%j opens exactly these routes [RP-016, RP-019, RP-020, RP-021, RP-024, RP-279]',
    (text, operationIds) => {
      expect(idsOf(presentUnder(offline(text)))).toStrictEqual(operationIds);
    },
  );

  it.each(['X', 'a', 'A,X'])('%j fails with what would have been right', (text) => {
    expect(parseGates(text)).toStrictEqual({
      ok: false,
      error: expect.stringMatching(/unknown gate .*: expected A to F, as in A,D/) as string,
    });
  });
});

describe('under every set of gates', () => {
  it('functions, permissions and alarms are those of released rows and of no other [RP-024, RP-279]', () => {
    for (const set of gateSets) {
      const release = offlineRelease(new Set(set));
      const present = presentUnder(release);
      const rows = [...reports, ...backgroundFunctions];
      const released = rows.filter((row) => isReleased(row, release));
      expect([...present.functions.keys()].toSorted(), set.join()).toStrictEqual(
        released.map(({ operationId }) => operationId).toSorted(),
      );
      const behindApi = released.filter((row) => !('trigger' in row) || row.trigger === 'link');
      expect(present.permitted, set.join()).toStrictEqual(
        behindApi.map(({ operationId }) => present.functions.get(operationId)).toSorted(),
      );
      for (const { operationId } of rows.filter((row) => !isReleased(row, release)))
        expect(
          present.text.includes(`-prod-${operationId}`) || present.text.includes(`"${operationId}"`),
          `${operationId} under ${set.join()}`,
        ).toBe(false);
    }
  });

  it('template, published document and local gateway serve the same routes', () => {
    for (const set of gateSets) {
      const release = offlineRelease(new Set(set));
      const present = presentUnder(release);
      const published = Object.entries(renderOpenApi('reports', release).paths ?? {}).flatMap(
        ([path, item]) =>
          Object.entries(item as Record<string, { operationId: string }>).map(
            ([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`,
          ),
      );
      expect(published.toSorted(), set.join()).toStrictEqual(present.operations);
      const gateway = {
        service: 'reports',
        basePath: '/reports',
        routes: routesOf('reports').filter((route) => isReleased(route, release)),
      } as const;
      const served = reports.filter(
        ({ method, path }) =>
          matchRoute(gateway, method, `/reports${path.replaceAll(/\{\w+\}/g, 'x')}`) !== undefined,
      );
      expect(served.map(({ operationId }) => operationId).toSorted(), set.join()).toStrictEqual(
        idsOf(present),
      );
    }
  });

  it('keeps the candidate list away under C and D without the index [RP-023]', () => {
    const index = { open: new Set(['C', 'D'] as const), proved: new Set(['C', 'D'] as const) };
    expect(idsOf(presentUnder(index))).toStrictEqual(['readAttemptReport', 'readReadiness']);
  }, 120_000);
});
