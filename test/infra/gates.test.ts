import { describe, expect, it } from 'vitest';
import { deployedFunctions, deploymentOf, isRoute } from '#shared/contract/functions.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { renderOpenApi } from '#shared/openapi/openapi.ts';
import { offlineRelease } from '#shared/release/read-release.ts';
import { isReleased, type ReleaseState } from '#shared/release/release-state.ts';
import { matchRoute } from '#local/gateway/route-match.ts';
import type { StackTemplate } from './template.ts';
import { deployed, gateSets, propertiesOf, templateOf } from './deployed.ts';

type Stacks = readonly StackTemplate[];

const PREFIX = 'mastery-reports-prod-';
const closed = (api: string) => `${api} X-AMAZON-APIGATEWAY-ANY-METHOD /{proxy+} `;

/** What a deployment serves, and by which functions. */
interface Surface {
  readonly functions: readonly string[];
  /** `<API> <METHOD> <path> <operation id>`. */
  readonly methods: readonly string[];
}

function surfaceOf(stacks: Stacks): Surface {
  return {
    functions: propertiesOf(stacks, 'AWS::Lambda::Function')
      .map(({ FunctionName }) => String(FunctionName))
      .filter((name) => name.startsWith(PREFIX))
      .map((name) => name.slice(PREFIX.length))
      .toSorted(),
    methods: propertiesOf(stacks, 'AWS::ApiGateway::RestApi')
      .flatMap(({ Name, Body }) =>
        Object.entries((Body as { paths: Record<string, Record<string, { operationId?: string }>> }).paths)
          .flatMap(([path, methods]) =>
            Object.entries(methods).map(
              ([method, { operationId = '' }]) => `${method.toUpperCase()} ${path} ${operationId}`,
            ),
          )
          .map((line) => `${String(Name).slice(PREFIX.length)} ${line}`),
      )
      .toSorted(),
  };
}

/** What the rows of the functions derive to. */
function surfaceUnder(release: ReleaseState): Surface {
  const rows = deployedFunctions.filter((row) => isReleased(row, release));
  const methods = rows.flatMap((row) => {
    if (isRoute(row)) return `${row.service} ${row.method} ${row.path} ${row.operationId}`;
    if (row.trigger === 'link') return `receipts GET /{sha256} ${row.operationId}`;
    return row.trigger === 'sandbox'
      ? Object.values(sandboxRoutes).map((each) => `sandbox ${each.method} ${each.path} ${each.operationId}`)
      : [];
  });
  return {
    functions: [
      ...rows.map(({ operationId }) => operationId),
      ...new Set(rows.map((row) => `${deploymentOf(row)}-checkVersion`)),
    ].toSorted(),
    methods: [
      ...methods,
      ...['mastery', 'reports', 'receipts', 'sandbox']
        .filter((api) => methods.every((line) => !line.startsWith(`${api} `)))
        .map(closed),
    ].toSorted(),
  };
}

/** The operation ids of the reports API. */
const reportsRoutes = (stacks: Stacks): readonly string[] =>
  surfaceOf(stacks)
    .methods.filter((line) => line.startsWith('reports ') && line !== closed('reports'))
    .map((line) => line.split(' ')[3] ?? '')
    .toSorted();

describe('under every set of gates', () => {
  const all = deployed();

  it.each(gateSets.map((gates) => [gates.join('') || 'no gate', gates] as const))(
    '%s: the deployment is what its released rows derive to, and stores and sandbox are the same [RP-016, RP-024, RP-032, RP-279]',
    (_, gates) => {
      const stacks = deployed({ gates });
      const release = offlineRelease(new Set(gates));
      const surface = surfaceOf(stacks);
      expect(surface).toStrictEqual(surfaceUnder(release));
      const unreleased = deployedFunctions.filter((row) => !isReleased(row, release));
      const text = JSON.stringify(stacks);
      for (const { operationId } of unreleased)
        expect(text).not.toMatch(new RegExp(`-prod-${operationId}\\b`));
      for (const id of ['records-and-keys', 'sandbox'] as const)
        expect(templateOf(stacks, id)).toStrictEqual(templateOf(all, id));

      const published = Object.entries(renderOpenApi('reports', release).paths ?? {}).flatMap(
        ([path, item]) =>
          Object.entries(item as Record<string, { operationId: string }>).map(
            ([method, { operationId }]) => `reports ${method.toUpperCase()} ${path} ${operationId}`,
          ),
      );
      expect(published.length === 0 ? [closed('reports')] : published.toSorted()).toStrictEqual(
        surface.methods.filter((line) => line.startsWith('reports ')),
      );
      const reports = routesOf('reports');
      const gateway = {
        service: 'reports',
        basePath: '/reports',
        routes: reports.filter((route) => isReleased(route, release)),
      } as const;
      const served = reports.filter(
        ({ method, path }) =>
          matchRoute(gateway, method, `/reports${path.replaceAll(/\{\w+\}/g, 'x')}`) !== undefined,
      );
      expect(served.map(({ operationId }) => operationId).toSorted()).toStrictEqual(reportsRoutes(stacks));
    },
  );

  it('keeps the candidate list away under C and D without the index [RP-023]', () => {
    const index = { open: new Set(['C', 'D'] as const), proved: new Set(['C', 'D'] as const) };
    expect(reportsRoutes(deployed({ release: index }))).toStrictEqual(['readAttemptReport', 'readReadiness']);
  });
});
