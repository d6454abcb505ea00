import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { runChecker } from '#test/support/openapi-checkers.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** What a client developer writes over the generated types; each expected error is one of the compiler. */
const program = `
import type { components } from './types/mastery.ts';
import type { components as ReportsComponents } from './types/reports.ts';
import type { paths as SandboxPaths } from './types/sandbox.ts';
import { advanceAdaptiveRun, startAdaptiveRun, type AdaptiveRun } from './sdk/mastery/index.ts';
import { listCandidateReports, readAttemptReport, type ImprovementRun } from './sdk/reports/index.ts';
import { readReadiness } from './sdk/sandbox/index.ts';

export function isOver(a: components['schemas']['AdaptiveRun'], b: AdaptiveRun): boolean {
  return a.status === 'completed' && b.status === 'completed';
}
// @ts-expect-error a misspelt status
export const misspelt = (run: components['schemas']['AdaptiveRun']): boolean => run.status === 'complete';
// @ts-expect-error a misspelt status
export const misspeltToo = (run: AdaptiveRun): boolean => run.status === 'complete';
// @ts-expect-error a misspelt status
export const blocked: ReportsComponents['schemas']['RevisionOrder']['status'] = 'blocked';
// @ts-expect-error a misspelt status
export const ended = (run: ImprovementRun): boolean => run.status === 'complete';
export type Sandboxed = SandboxPaths['/v1/attempt-reports/{attemptId}']['get'];

export async function call(): Promise<void> {
  const started = await startAdaptiveRun({
    headers: { 'Idempotency-Key': 'a' },
    body: {
      selectionPolicyId: 'p',
      scaleCalibrationId: 'c',
      testSpecId: 's',
      testBankId: 'b',
      bankOperationId: 'o',
      runMode: 'owner_conformance',
    },
  });
  if (started.data === undefined) throw new Error(started.error?.code);
  const body = { continuationToken: started.data.continuationToken };
  await advanceAdaptiveRun({ headers: { 'Idempotency-Key': 'b', 'If-Match': '"e"' }, body });
  // @ts-expect-error the precondition is missing
  await advanceAdaptiveRun({ headers: { 'Idempotency-Key': 'b' }, body });
  const page = await listCandidateReports({ path: { candidateSourcedId: 'c' }, query: { status: 'scored' } });
  const gate: 'pass' | 'fail' | 'indeterminate' | 'unknown' | undefined = page.data?.data[0]?.gate?.status;
  // @ts-expect-error a view that does not exist
  await readAttemptReport({ path: { attemptId: String(gate) }, query: { view: 'all' } });
  await readReadiness({ path: { attemptId: 'a' } });
}
`;

const folder = await mkdtemp(join(tmpdir(), 'clients-'));

it('clients that openapi-typescript and @hey-api/openapi-ts generate compile under strict, and no misspelt status does', async () => {
  for (const name of ['mastery', 'reports', 'sandbox']) {
    const document = join(root, 'docs/openapi', `${name}.json`);
    const types = join(root, 'node_modules/openapi-typescript/bin/cli.js');
    await run(process.execPath, [types, document, '--output', `types/${name}.ts`], { cwd: folder });
    const options = ['--silent', '--no-log-file', '--input', document, '--output', `sdk/${name}`];
    await runChecker('@hey-api/openapi-ts/bin/run.js', options, folder);
  }
  await writeFile(join(folder, 'program.ts'), program);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch(
    // SAFETY: execFile rejects with what the compiler printed.
    (error: unknown) => error as { readonly stdout: string },
  );
  expect(stdout).toBe('');
});
