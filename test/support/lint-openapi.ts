import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Lints with the project's own rules; resolves to the linter's report when it finds anything, a line for each finding. */
export async function lintOpenApi(document: unknown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  const root = resolve(import.meta.dirname, '../..');
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
    await promisify(execFile)(
      process.execPath,
      [
        join(root, 'node_modules/@redocly/cli/bin/cli.js'),
        'lint',
        '--format',
        'checkstyle',
        '--config',
        join(root, 'tools/docs/redocly.yaml'),
        join(folder, 'openapi.json'),
      ],
      {
        cwd: folder,
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout ?? ''}${stderr ?? String(error)}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}
