import { sandboxIds, sandboxStandards } from '#shared/contract/reports/sandbox-fixtures.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { bundleExplorer } from '../bundling/explorer.ts';

/**
 * The explorer over the sandbox, as files of the site.
 * @param sandboxUrl address of the sandbox on the site's origin, without `/v1`
 */
export async function sandboxExplorer(
  sandboxUrl: string,
): Promise<readonly (readonly [path: string, content: string])[]> {
  const config = {
    mode: 'sandbox',
    urls: { sandbox: sandboxUrl },
    tenants: [],
    operationIds: Object.keys(sandboxRoutes),
    sandbox: sandboxIds,
    names: Object.fromEntries(Object.values(sandboxStandards).map(({ caseGuid, name }) => [caseGuid, name])),
  };
  const files = await bundleExplorer();
  return [...files, ['config.json', JSON.stringify(config)] as const].map(([path, content]) => [
    `explorer/${path}`,
    content,
  ]);
}
