import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SavedRuns } from '#local/call/saved-runs.ts';
import type { Stack } from '#local/stack/stack.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { serviceNames } from '#shared/contract/route.ts';
import { SNIPPET_ORIGIN } from '#tools/docs/snippets.ts';
import { projectRoot } from '../../checks/checks.ts';
import type { Tried } from '../part.ts';
import { pythonTool, runTool } from '../python.ts';
import { startRuns, type Tenant } from '../stack.ts';
import { folder } from './drivers.ts';

const SECONDS = 300;

/** Runs every snippet in Python of docs/snippets-*.md with the client that the Python driver has built. */
export async function pythonSnippets(
  stack: Stack,
  tenant: Tenant,
  { improvement }: SavedRuns,
): Promise<Tried> {
  const { adaptive } = await startRuns(stack, tenant, 'snippets', [startAdaptiveRun]);
  const programs = serviceNames.map((service) => {
    const page = readFileSync(join(projectRoot, `docs/snippets-${service}.md`), 'utf8');
    const [setup = '', ...calls] = [...page.matchAll(/^```python\n(.*?)^```/gms)].map(
      ([, code = '']) => code,
    );
    return { setup, calls };
  });
  const values = {
    continuation_token: adaptive?.continuationToken,
    etag: adaptive?.etag,
    improvement_run_id: improvement?.improvementRunId,
  };
  const [program, input] = [join(import.meta.dirname, 'snippets.py'), join(folder, 'snippets.json')];
  const text = JSON.stringify({ programs, values }).replaceAll(
    SNIPPET_ORIGIN,
    new URL(stack.urls.masteryUrl).origin,
  );
  writeFileSync(input, text, { mode: 0o600 });
  const tool = await pythonTool('openapi-python-client');
  if (!tool.ok) return { tried: '0', differences: [tool.error] };
  const path = `PYTHONPATH=${join(folder, 'python')}`;
  const ran = await runTool(
    'env',
    [
      'NO_PROXY=*',
      'no_proxy=*',
      `TOKEN=${tenant.token}`,
      path,
      join(tool.value, '../python'),
      '-B',
      program,
      input,
    ],
    SECONDS,
  );
  const failure = ran.code === 0 ? '' : ran.stderr;
  const differences = `${ran.stdout}${failure}`.split('\n').filter((line) => line !== '');
  return { tried: String(programs.reduce((sum, { calls }) => sum + calls.length, 0)), differences };
}
