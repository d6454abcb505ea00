import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

type Child = ChildProcessByStdio<null, Readable, Readable>;
const root = join(import.meta.dirname, '..');
const folder = await mkdtemp(join(tmpdir(), 'own-study-'));
await symlink(join(root, 'examples'), join(folder, 'examples'));
let stack: Child | undefined;
afterAll(async () => {
  if (stack?.exitCode === null) {
    stack.kill('SIGKILL');
    await once(stack, 'close');
  }
});

/** Starts a pasted `npm …` command as npm would, but in a folder of its own. */
async function launch(command: string, ...further: readonly string[]): Promise<Child> {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  const [, script = '', words = ''] = /^npm (?:run )?(\S+) -- (.*)$/.exec(command) ?? [];
  const program = scripts[script]?.split(' ').at(-1) ?? '';
  return spawn(process.execPath, [join(root, program), ...words.split(' '), ...further], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  });
}

async function run(command: string) {
  const child = await launch(command);
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, out, error };
}

/** Resolves when the stack is ready; its output is read to the end, or it would stop. */
async function start(command: string): Promise<void> {
  const child = await launch(command, '--port', '0');
  stack = child;
  await new Promise<void>((resolve, reject) => {
    child.on('close', () => reject(new Error('the stack ended')));
    child.stdout.on('data', (piece: Buffer) => {
      if (piece.includes('Ctrl-C')) resolve();
    });
    child.stderr.resume();
  });
}

describe('docs/own-study.md', () => {
  it('names commands that work as pasted, missing answers included', { timeout: 240_000 }, async () => {
    const page = await readFile(join(root, 'docs/own-study.md'), 'utf8');
    const commands = [...page.matchAll(/^npm .*$/gm)]
      .map(([command]) => command)
      // recovery.slow.test.ts runs it.
      .filter((command) => !command.startsWith('npm run recovery'));
    expect(commands).toHaveLength(6);
    const printed: string[] = [];
    for (const command of commands) {
      if (command.startsWith('npm start')) {
        await start(command);
        continue;
      }
      const { code, out, error } = await run(command);
      expect({ command, code, error }).toEqual({ command, code: 0, error: '' });
      printed.push(out);
    }
    const [calibrated, replayed, seeded, first] = printed;
    // The page shows what the command understood.
    expect(calibrated).toContain(/^learners {2}300[^`]*/m.exec(page)?.[0] ?? 'no such lines');
    expect(calibrated).toMatch(/^335 of 5960 answers missing \(5\.6 %\), most on "F17" 48 \(16\.1 %\), /m);
    expect(replayed).toMatch(/^left out +2 learners, because they answered no item$/m);
    expect(seeded).toContain('298 learners\nlearners left out because they answered no item: 2\n');
    expect(first).toContain('the report agrees with the engine');
    // Of this learner most answers are known, and not all.
    const gaps = await run('npm run journey -- --learner 130');
    expect(gaps).toMatchObject({
      code: 0,
      out: expect.stringContaining('7 of 20 answers simulated') as string,
    });
  });

  it('gives the same fit for the same answers in another shape', { timeout: 120_000 }, async () => {
    const plain = await readFile(join(root, 'examples/study/responses.csv'), 'utf8');
    const [header = '', ...rows] = plain.trimEnd().split('\n');
    const odd = rows.map((row, n) => {
      const [id = '', ...cells] = row.split(',');
      return [n % 3, id, ...cells.map((cell) => ({ '1': '1,0', '0': '0,0' })[cell] ?? '99')].join(';');
    });
    const shape = ['school', ...header.split(',')].map((name) => `"${name}"`).join(';');
    await writeFile(
      join(folder, 'odd.csv'),
      Buffer.from(`\uFEFF${[shape, ...odd].join('\r\n')}\r\n`, 'utf16le'),
    );
    const calibrate = (responses: string, out: string, more = '') =>
      run(
        `npm run calibrate -- --responses ${responses} --q-matrix examples/study/q-matrix.csv --model dina --with-data --out ${out}${more}`,
      );
    const refused = await calibrate('odd.csv', 'no');
    expect(refused.code).toBe(1);
    expect(refused.error).toContain('add --learner learner --ignore school');
    expect((await calibrate('odd.csv', 'odd', ' --missing 99 --ignore school')).code).toBe(0);
    expect((await calibrate('examples/study/responses.csv', 'plain')).code).toBe(0);
    for (const file of ['responses.csv', 'q-matrix.csv', 'parameters.json', 'fit.json', 'calibration.json'])
      expect(await readFile(join(folder, 'odd', file))).toEqual(await readFile(join(folder, 'plain', file)));
  });
});
