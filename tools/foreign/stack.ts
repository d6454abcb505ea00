import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import { addressOf, headersOf } from '#local/call/curl.ts';
import { exampleRequest } from '#local/call/example-request.ts';
import { withAnswer } from '#local/call/saved-runs.ts';
import type { SavedRuns } from '#local/call/saved-runs.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import { startStack } from '#local/stack/stack.ts';
import type { Stack } from '#local/stack/stack.ts';
import { backgroundFunctions } from '#shared/contract/background.ts';
import { provable } from '#shared/contract/gates.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import type { Route } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import type { TenantFixtures } from '#shared/stage/description.ts';
import { createIssuerKey } from '#shared/stage/local-issuer.ts';
import { buildFunctions } from '../bundling/build.ts';

type Options = Parameters<typeof startStack>[0];

/** Returns the functions as they are deployed. */
export async function bundledFunctions(): Promise<Options['bundles']> {
  const built = await buildFunctions();
  if (!built.ok) throw new Error(built.error.join('\n'));
  return built.value;
}

/**
 * Starts the product as `npm start` does, on a free port.
 * @param options what is to be otherwise
 */
export async function startProduct(options: Partial<Options> = {}): Promise<Stack> {
  const [bundles, seed] = await Promise.all([
    options.bundles ?? bundledFunctions(),
    loadSeed(DEFAULT_SEED_DIRECTORY),
  ]);
  if (!seed.ok) throw new Error(renderDefects(seed.error));
  return startStack({
    ...{
      port: 0,
      seed: seed.value,
      routes,
      proved: new Set(provable),
      background: backgroundFunctions,
      bundles,
    },
    issuerKey: await createIssuerKey(),
    ...options,
  });
}

export interface Tenant {
  readonly tenantId: string;
  /** For everything of its own. */
  readonly token: string;
  readonly fixtures: TenantFixtures;
}

const tokens = z.array(z.object({ tenantId: z.string(), token: z.string() }));

/** Every tenant of the stack. */
export async function tenantsOf({ urls, seededTenants }: Stack): Promise<readonly Tenant[]> {
  const served = await fetch(new URL('/docs/tokens.json', urls.docsUrl));
  return tokens.parse(await served.json()).map(({ tenantId, token }) => {
    const fixtures = seededTenants.get(tenantId)?.fixtures;
    if (fixtures === undefined) throw new Error(`no fixtures of ${tenantId}`);
    return { tenantId, token, fixtures };
  });
}

/**
 * Returns the example request of a route, ready to be sent.
 * @returns what the example lacks, in `missing`
 */
export function requestOf(
  { urls }: Stack,
  route: Route,
  { token, fixtures }: Tenant,
  saved: SavedRuns,
  key: string,
): Readonly<{
  address: string;
  missing: readonly string[];
  method: string;
  headers: Record<string, string>;
  body?: string;
}> {
  const request = exampleRequest(route, fixtures, saved);
  return {
    missing: request.missing,
    address: addressOf(request, urls),
    method: route.method,
    headers: { Authorization: `Bearer ${token}`, ...headersOf(request, key) },
    ...(request.body !== undefined && { body: request.body }),
  };
}

/**
 * Starts a run of a tenant for each operation, `startAdaptiveRun` or `analyzeAdministration`.
 * @param key begins the idempotency keys: with another one the runs are others
 */
export async function startRuns(
  stack: Stack,
  tenant: Tenant,
  key: string,
  operations: readonly Route[] = [startAdaptiveRun, analyzeAdministration],
): Promise<SavedRuns> {
  let saved: SavedRuns = {};
  for (const route of operations) {
    const { address, ...request } = requestOf(stack, route, tenant, saved, `${key}-${route.operationId}`);
    const response = await fetch(address, request);
    if (!response.ok) throw new Error(`${route.operationId} returned ${response.status}`);
    saved = withAnswer(saved, tenant.tenantId, await response.json(), response.headers.get('etag'));
  }
  return saved;
}

const MAX_TRIES = 300;

/** An improvement run that has come to its end. */
export async function analyzed(stack: Stack, tenant: Tenant): Promise<SavedRuns> {
  const saved = await startRuns(stack, tenant, 'clients', [analyzeAdministration]);
  const url = `${stack.urls.reportsUrl}/v1/improvement-runs/${saved.improvement?.improvementRunId ?? ''}`;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${tenant.token}` } });
    const { completedAt } = (await response.json()) as { readonly completedAt: string | null };
    if (completedAt !== null) return saved;
    await setTimeout(200);
  }
  throw new Error('the improvement run has not come to its end');
}
