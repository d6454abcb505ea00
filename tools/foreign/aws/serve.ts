import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { withAnswer, type SavedRuns } from '#local/call/saved-runs.ts';
import { startEnvironment } from '#local/gateway/environment.ts';
import { DEFAULT_SEED_DIRECTORY } from '#local/seeds/load.ts';
import { describeStack } from '#local/stack/describe-stack.ts';
import type { Stack } from '#local/stack/stack.ts';
import { checkReceipt } from '#ops/receipts/check-receipt.ts';
import { backgroundFunctions } from '#shared/contract/background.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { readImprovementRun } from '#shared/contract/reports/routes/read-improvement-run.ts';
import type { Route } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { localFiles, writeStackDescription } from '#shared/stage/description.ts';
import { loadIssuerKey } from '#shared/stage/local-issuer.ts';
import { projectRoot } from '../../checks/checks.ts';
import { bundledFunctions, requestOf, startProduct, startRuns, tenantsOf } from '../stack.ts';
import type { Tried } from '../part.ts';
import { buildFolder, runTool } from '../python.ts';
import { stackAwsOf, type Moto } from './moto.ts';
import { assumeRoles } from './roles.ts';

const folder = join(buildFolder, 'aws');

/** The runs that an answer of other routes needs. */
const first: readonly Route[] = [startAdaptiveRun, inspectAdaptiveRun, analyzeAdministration];

/** Takes both journeys, an improvement run with its receipt, and calls every route, with moto in place of our emulator. */
export async function serve(moto: Moto): Promise<Tried> {
  rmSync(folder, { recursive: true, force: true });
  const files = localFiles(folder);
  mkdirSync(dirname(files.functionLog), { recursive: true });
  const issuerKey = await loadIssuerKey(files.issuerKey);
  const bundles = await bundledFunctions();
  const roles = await assumeRoles(moto.url, [...routes, ...backgroundFunctions]);
  const stack = await startProduct({
    ...{ aws: stackAwsOf(moto), issuerKey, bundles },
    startEnvironment: ({ variables, ...definition }, onOutput) =>
      startEnvironment(
        { ...definition, variables: { ...variables, ...roles.variablesOf(definition.name) } },
        onOutput,
      ),
  });
  try {
    await writeStackDescription(files.stack, describeStack(stack, DEFAULT_SEED_DIRECTORY, files.functionLog));
    const differences: string[] = [];
    const journeys = [[], ['--mode', 'owner_conformance'], ['--improve']];
    for (const options of journeys) {
      const args = [join(projectRoot, 'local/journey.ts'), ...options];
      const { code, stdout, stderr } = await runTool(process.execPath, args, 120, { cwd: folder });
      if (code !== 0) differences.push(`journey ${options.join(' ')}: ${stderr}${stdout}`);
    }
    const statuses = await callRoutes(stack);
    const own = await startProduct({ bundles });
    const expected = await callRoutes(own);
    await own.close();
    for (const [call, status] of expected) {
      if (status.startsWith('not called')) differences.push(`${call}: ${status}`);
      if (statuses.get(call) !== status)
        differences.push(`${call}: ${statuses.get(call) ?? 'no call'}, with our emulator ${status}`);
    }
    // What moto refuses: the same call again, without one action of the role.
    await roles.withdraw(startAdaptiveRun.operationId, 'dynamodb:PutItem');
    for (const tenant of await tenantsOf(stack))
      await startRuns(stack, tenant, 'refused', [startAdaptiveRun]).then(
        () => differences.push(`${tenant.tenantId} startAdaptiveRun succeeds without dynamodb:PutItem`),
        () => undefined,
      );
    return { tried: `${statuses.size} calls, ${journeys.length} journeys`, differences };
  } finally {
    await stack.close();
  }
}

const problem = z.object({ type: z.string() });
const improvementRun = z.object({ receipt: z.object({ sha256: z.string(), downloadUrl: z.url() }) });

/** Calls every route, and each POST again with the same key. @returns what each call returned: the status, and the type of a problem */
async function callRoutes(stack: Stack): Promise<ReadonlyMap<string, string>> {
  const returned = new Map<string, string>();
  for (const tenant of await tenantsOf(stack)) {
    let saved: SavedRuns = {};
    const call = async (route: Route, key: string, again = ''): Promise<unknown> => {
      const { address, missing, ...request } = requestOf(stack, route, tenant, saved, key);
      const name = `${tenant.tenantId} ${route.operationId}${again}`;
      if (missing.length > 0) {
        returned.set(name, `not called without ${missing.join(', ')}`);
        return undefined;
      }
      const response = await fetch(address, request);
      const body: unknown = await response.json();
      const type = response.ok ? '' : (problem.safeParse(body).data?.type ?? 'no problem');
      returned.set(name, `${response.status} ${type}`.trim());
      if (again === '') saved = withAnswer(saved, tenant.tenantId, body, response.headers.get('etag'));
      return body;
    };
    for (const route of new Set([...first, ...routes])) {
      const key = randomUUID();
      const before = saved;
      await call(route, key);
      if (route === analyzeAdministration) await stack.improvement.settled();
      const after = saved;
      saved = before;
      await call(route, key, ' again');
      saved = after;
    }
    const run = improvementRun.safeParse(await call(readImprovementRun, randomUUID(), ' completed'));
    if (!run.success) continue;
    const { receipt } = run.data;
    const bundle = await fetch(receipt.downloadUrl);
    const bytes = new Uint8Array(await bundle.arrayBuffer());
    const checked = checkReceipt({ name: `${receipt.sha256}.json`, bytes });
    const failed = checked.ok ? checked.value.checks.flatMap(({ failures }) => failures) : [checked.error];
    returned.set(`${tenant.tenantId} receipt`, [bundle.status, ...failed].join(' '));
  }
  return returned;
}
