import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { addressOf, headersOf } from '#local/call/curl.ts';
import { exampleRequest } from '#local/call/example-request.ts';
import { withAnswer, type SavedRuns } from '#local/call/saved-runs.ts';
import { DEFAULT_SEED_DIRECTORY } from '#local/seeds/load.ts';
import { describeStack } from '#local/stack/describe-stack.ts';
import type { Stack } from '#local/stack/stack.ts';
import { checkReceipt } from '#ops/receipts/check-receipt.ts';
import { routes } from '#shared/contract/routes.ts';
import { localFiles, writeStackDescription } from '#shared/stage/description.ts';
import { loadIssuerKey } from '#shared/stage/local-issuer.ts';
import { projectRoot } from '../../checks/checks.ts';
import { bundledFunctions, startProduct } from '../stack.ts';
import type { Tried } from '../part.ts';
import { buildFolder, runTool } from '../python.ts';
import { stackAwsOf, type Moto } from './moto.ts';

const folder = join(buildFolder, 'aws');

/** The runs that an answer of other routes needs. */
const first = ['startAdaptiveRun', 'inspectAdaptiveRun', 'analyzeAdministration'];

/** Takes both journeys, an improvement run with its receipt, and calls every route, with moto in place of our emulator. */
export async function serve(moto: Moto): Promise<Tried> {
  rmSync(folder, { recursive: true, force: true });
  const files = localFiles(folder);
  mkdirSync(dirname(files.functionLog), { recursive: true });
  const issuerKey = await loadIssuerKey(files.issuerKey);
  const bundles = await bundledFunctions();
  const stack = await startProduct({ aws: stackAwsOf(moto), issuerKey, bundles });
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
  for (const [tenantId, { fixtures }] of stack.seededTenants) {
    let saved: SavedRuns = {};
    const call = async (operationId: string, key: string, again = ''): Promise<unknown> => {
      const route = routes.find((row) => row.operationId === operationId);
      if (route === undefined) throw new Error(`no route ${operationId}`);
      const request = exampleRequest(route, fixtures, saved);
      const name = `${tenantId} ${operationId}${again}`;
      if (request.missing.length > 0) {
        returned.set(name, `not called without ${request.missing.join(', ')}`);
        return undefined;
      }
      const token = await stack.tokenFor(tenantId, [request.scope], request.claims);
      const response = await fetch(addressOf(request, stack.urls), {
        method: route.method,
        headers: { Authorization: `Bearer ${token}`, ...headersOf(request, key) },
        ...(request.body !== undefined && { body: request.body }),
      });
      const body: unknown = await response.json();
      const type = response.ok ? '' : (problem.safeParse(body).data?.type ?? 'no problem');
      returned.set(name, `${response.status} ${type}`.trim());
      if (again === '') saved = withAnswer(saved, tenantId, body, response.headers.get('etag'));
      return body;
    };
    const others = routes
      .map(({ operationId }) => operationId)
      .filter((operationId) => !first.includes(operationId));
    for (const operationId of [...first, ...others]) {
      const key = randomUUID();
      const before = saved;
      await call(operationId, key);
      if (operationId === 'analyzeAdministration') await stack.improvement.settled();
      const after = saved;
      saved = before;
      await call(operationId, key, ' again');
      saved = after;
    }
    const run = improvementRun.safeParse(await call('readImprovementRun', randomUUID(), ' completed'));
    if (!run.success) continue;
    const { receipt } = run.data;
    const bundle = await fetch(receipt.downloadUrl);
    const bytes = new Uint8Array(await bundle.arrayBuffer());
    const checked = checkReceipt({ name: `${receipt.sha256}.json`, bytes });
    const failed = checked.ok ? checked.value.checks.flatMap(({ failures }) => failures) : [checked.error];
    returned.set(`${tenantId} receipt`, [bundle.status, ...failed].join(' '));
  }
  return returned;
}
