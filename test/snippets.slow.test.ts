import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileFunction } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMasteryClient, createReportsClient } from '#client/index.ts';
import type { Stack } from '#local/stack/stack.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { serviceNames } from '#shared/contract/route.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { SNIPPET_ORIGIN } from '#tools/docs/snippets.ts';
import { analyzed, startProduct, startRuns, tenantsOf, type Tenant } from '#tools/foreign/stack.ts';
import { projectFolder } from './support/commands.ts';

// Every snippet of the pages, as a reader pastes it; those in Python run in npm run foreign -- --only clients.

let stack: Stack;
let values: Readonly<Record<string, string>>;

beforeAll(async () => {
  stack = await startProduct();
  const [tenant] = (await tenantsOf(stack)) as [Tenant];
  const { improvement } = await analyzed(stack, tenant);
  const { adaptive } = await startRuns(stack, tenant, 'snippets', [startAdaptiveRun]);
  values = {
    TOKEN: tenant.token,
    continuationToken: adaptive?.continuationToken ?? '',
    etag: adaptive?.etag ?? '',
    improvementRunId: improvement?.improvementRunId ?? '',
  };
}, 180_000);
afterAll(() => stack.close());

/** The snippets of a page in a language, with the stack's address; the first is the setup. */
async function snippets(service: string, language: string): Promise<readonly string[]> {
  const page = await readFile(join(projectFolder, `docs/snippets-${service}.md`), 'utf8');
  const origin = new URL(stack.urls.masteryUrl).origin;
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) =>
    code.replaceAll(SNIPPET_ORIGIN, origin),
  );
}

describe.each(serviceNames)('the snippets of %s', (service) => {
  it('are one per operation and run in curl', { timeout: 120_000 }, async () => {
    const [, ...calls] = await snippets(service, 'sh');
    expect(calls).toHaveLength(routesOf(service).length);
    const env = { ...process.env, ...values, NO_PROXY: '*' };
    for (const call of calls) {
      const script = `key() { "${process.execPath}" -p 'crypto.randomUUID()'; }\n${call.trimEnd()} -w '\\n%{http_code}'`;
      const { stdout } = await promisify(execFile)('sh', ['-c', script], { env, maxBuffer: 1e8 });
      expect(stdout.slice(-3), call).toMatch(/^20[01]$/);
    }
  });

  it('are one per operation and run in TypeScript', { timeout: 120_000 }, async () => {
    const [setup = '', ...calls] = await snippets(service, 'ts');
    expect(calls).toHaveLength(routesOf(service).length);
    const scope = {
      createMasteryClient,
      createReportsClient,
      process: { env: { TOKEN: values['TOKEN'] } },
      ...values,
    };
    for (const call of calls) {
      const body = `return (async () => { ${setup.replace(/^import .*$/m, '')}\n${call}\nreturn data; })();`;
      const run = compileFunction(body, Object.keys(scope)) as (...given: unknown[]) => Promise<unknown>;
      expect(await run(...Object.values(scope)), call).toBeTypeOf('object');
    }
  });
});
