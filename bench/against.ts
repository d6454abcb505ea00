import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { interrupted } from '#local/stack/interrupted.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { projectRoot } from '#tools/bundling/build.ts';
import { UsageError } from '#tools/terminal/command.ts';
import { figuresOf } from './figures.ts';
import { ratio, table } from './measure.ts';

const ROUNDS = 3;

type Figures = ReturnType<typeof figuresOf>;

interface Ended {
  readonly isDone: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs parts in this tree and in another commit's, in turn, and prints both figures and their ratio. Each tree runs the bench of its own, with
 * its own dependencies and its own Node. The worktree is removed in the end, after an interruption too.
 */
export async function compareWith(
  commit: string,
  names: readonly string[],
  isQuick: boolean,
): Promise<Result<undefined, string | UsageError>> {
  const controller = new AbortController();
  const { signal } = controller;
  const isInterrupted = (): boolean => signal.aborted;
  void interrupted(process).then(() => {
    controller.abort();
  });
  const git = (...args: readonly string[]) => runIn(projectRoot, ['git', ...args], signal);
  const found = await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`);
  if (!found.isDone)
    return err(new UsageError(`unknown commit "${commit}": git knows no commit of this name`));
  const folder = await mkdtemp(join(tmpdir(), 'bench-against-'));
  const tree = join(folder, 'tree');
  try {
    const other = found.stdout.trim();
    const added = await git('worktree', 'add', '--detach', tree, other);
    if (!added.isDone) return err(`git made no worktree: ${reasonOf(added)}`);
    process.stderr.write(`npm ci of ${other.slice(0, 8)} …\n`);
    const installed = await runIn(tree, ['npm', 'ci', '--no-audit', '--no-fund'], signal, 'shown');
    if (!installed.isDone && !isInterrupted()) return err(`npm ci of ${other.slice(0, 8)} failed`);
    if (isInterrupted()) return err('interrupted');
    const here = await git('rev-parse', '--short=8', 'HEAD');
    const changes = await git('status', '--porcelain');
    const dirty = changes.stdout === '' ? '' : ', with its uncommitted changes';
    console.log(
      `this: ${here.stdout.trim()}${dirty}; other: ${other.slice(0, 8)}. The best of ${ROUNDS} rounds in turn.`,
    );
    const compared: boolean[] = [];
    for (const name of names) {
      if (isInterrupted()) break;
      compared.push(await comparePart(name, tree, isQuick, signal));
    }
    if (isInterrupted()) return err('interrupted');
    return compared.includes(true) ? ok(undefined) : err('nothing was compared');
  } finally {
    // Without the signal: it may have been given.
    await runIn(projectRoot, ['git', 'worktree', 'remove', '--force', tree]);
    await rm(folder, { recursive: true, force: true });
    await runIn(projectRoot, ['git', 'worktree', 'prune']);
  }
}

/** Whether a figure of the part was compared. */
async function comparePart(
  name: string,
  tree: string,
  isQuick: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const trees = [
    { which: 'this', folder: projectRoot },
    { which: 'other', folder: tree },
  ] as const;
  const measured = { this: [] as Figures[], other: [] as Figures[] };
  console.log(`\n${name}`);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const { which, folder } of trees) {
      process.stderr.write(`${name}: round ${round} of ${ROUNDS}, ${which} …\n`);
      const argv = ['npm', 'run', '--silent', 'bench', '--', '--only', name, ...(isQuick ? ['--quick'] : [])];
      const ended = await runIn(folder, argv, signal);
      if (signal.aborted) return false;
      if (!ended.isDone) {
        console.log(`not compared: ${which} fails: ${reasonOf(ended)}`);
        return false;
      }
      measured[which].push(figuresOf(ended.stdout));
    }
  }
  const [here, there] = [bestOf(measured.this), bestOf(measured.other)];
  const both = [...here].flatMap(([figure, mine]) => {
    const theirs = there.get(figure);
    return theirs === undefined ? [] : [[figure, mine.text, theirs.text, ratio(mine.value / theirs.value)]];
  });
  if (both.length > 0) console.log(table(['', 'this', 'other', 'this to other'], both));
  for (const figure of here.keys())
    if (!there.has(figure)) console.log(`not compared: other has no "${figure}"`);
  for (const figure of there.keys())
    if (!here.has(figure)) console.log(`not compared: this has no "${figure}"`);
  return both.length > 0;
}

/** The least of each figure, of all rounds: what it is when nothing else has the processor. */
function bestOf(rounds: readonly Figures[]): Figures {
  const best = new Map<string, { readonly text: string; readonly value: number }>();
  for (const round of rounds)
    for (const [name, figure] of round)
      if (figure.value < (best.get(name)?.value ?? Infinity)) best.set(name, figure);
  return best;
}

/** The sentence of a failure: a defect's own, or the last line of a command, which explains what is wrong. */
function reasonOf({ stdout, stderr }: Ended): string {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /^\w*Error\b.*: /.test(line)) ?? lines.at(-1) ?? 'without a word').slice(
    0,
    300,
  );
}

/** Runs a command in a process group of its own, so that an interruption ends all of its processes, and after them this function. */
async function runIn(
  folder: string,
  [file = '', ...args]: readonly string[],
  signal?: AbortSignal,
  output: 'kept' | 'shown' = 'kept',
): Promise<Ended> {
  if (signal?.aborted === true) return { isDone: false, stdout: '', stderr: '' };
  const stdio = output === 'shown' ? (['ignore', 2, 2] as const) : (['ignore', 'pipe', 'pipe'] as const);
  const child = spawn(file, args, { cwd: folder, detached: true, stdio: [...stdio] });
  const kill = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  signal?.addEventListener('abort', kill, { once: true });
  try {
    const closed = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const [code, stdout, stderr] = await Promise.all([
      closed,
      child.stdout === null ? '' : textOf(child.stdout),
      child.stderr === null ? '' : textOf(child.stderr),
    ]);
    return { isDone: code === 0, stdout, stderr };
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}
