import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changedSince, planFor } from './changed.ts';
import { staticChecks } from './checks.ts';

/** A folder with these files, all of one text. */
function folderOf(...files: readonly string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'changed-'));
  for (const file of files) write(root, file);
  return root;
}
function write(root: string, file: string, text = 'text'): void {
  mkdirSync(join(root, dirname(file)), { recursive: true });
  writeFileSync(join(root, file), text);
}
function git(root: string, ...args: readonly string[]): void {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...who, ...args], { cwd: root, stdio: 'pipe' });
}
function committed(...files: readonly string[]): string {
  const root = folderOf(...files);
  git(root, 'init', '--quiet');
  git(root, 'add', '.');
  git(root, 'commit', '--quiet', '--message=first');
  return root;
}

describe('what differs from a commit', () => {
  it('is nothing at first', () => {
    expect(changedSince('HEAD', committed('a.ts'))).toEqual({ ok: true, value: [] });
  });

  it('is staged, unstaged, unknown to git, gone or renamed, whatever its name', () => {
    const root = committed('same.ts', 'staged.ts', 'un staged ä.ts', 'gone.ts', 'old/name.ts', '.gitignore');
    write(root, 'staged.ts', 'other');
    git(root, 'add', '.');
    write(root, 'un staged ä.ts', 'other');
    write(root, 'new/un known.ts');
    rmSync(join(root, 'gone.ts'));
    renameSync(join(root, 'old/name.ts'), join(root, 'old/renamed.ts'));
    git(root, 'add', 'old');
    write(root, '.gitignore', 'ignored.ts');
    write(root, 'ignored.ts');
    expect(changedSince('HEAD', root)).toEqual({
      ok: true,
      value: [
        ...['.gitignore', 'gone.ts', 'new/un known.ts', 'old/name.ts', 'old/renamed.ts'],
        ...['staged.ts', 'un staged ä.ts'],
      ],
    });
  });

  it('is also what later commits changed, with paths from the folder', () => {
    const root = committed('part/a.ts', 'b.ts');
    write(root, 'part/a.ts', 'other');
    write(root, 'b.ts', 'other');
    git(root, 'commit', '--quiet', '--all', '--message=second');
    expect(changedSince('HEAD~1', join(root, 'part'))).toEqual({ ok: true, value: ['a.ts'] });
  });

  it.each(['no-such-commit', '--output=x'])('is unknown of %s', (commit) => {
    const result = changedSince(commit, committed('a.ts'));
    expect(!result.ok && result.error).toMatch(/^git cannot compare with .*: fatal: .+$/);
  });

  it('is unknown where there is no repository', () => {
    expect(changedSince('HEAD', folderOf('a.ts'))).toMatchObject({ ok: false });
  });
});

describe('the plan', () => {
  const root = folderOf(
    ...['shared/a.ts', 'shared/b c.ts', 'shared/a.test.ts', 'shared/a.slow.test.ts', 'shared/deep/d.test.ts'],
    ...[
      'test/contract/e.test.ts',
      'docs/page.md',
      'local/seed.json',
      'lib/x.contract.test.ts',
      'tsconfig.json',
      'psychometrics/p.test.ts',
    ],
  );
  /** The names of the checks, and the arguments of each. */
  function plan(...files: readonly string[]) {
    const { checks, notes, related } = planFor(files, 'HEAD', root);
    const runs: Record<string, readonly string[]> = {};
    for (const { name, command } of checks) {
      runs[name] = command.slice(4).filter((word) => !word.startsWith('--no-error'));
    }
    return { runs, notes: notes.join('\n'), related };
  }

  it('of code has its lint and format, all types, and the unit tests of its folder alone', () => {
    const { runs, notes, related } = plan('shared/a.ts', 'shared/b c.ts');
    expect(runs).toEqual({
      lint: ['shared/a.ts', 'shared/b c.ts'],
      types: [],
      'tests (1 files)': ['--maxWorkers=1', '--project=unit', 'shared/a.test.ts'],
      format: ['shared/a.ts', 'shared/b c.ts'],
    });
    expect(notes).toMatch(/^Not checked: lint and format of other files, .*contract and slow tests\.$/);
    expect(related).toBe(
      'npm run check && npm run test:unit -- --changed HEAD --project=unit --project=psychometrics --project=contract',
    );
  });

  it('of a study has the tests beside it, in their own project', () => {
    expect(plan('psychometrics/p.ts').runs['tests (1 files)']).toEqual([
      ...['--maxWorkers=1', '--project=psychometrics', 'psychometrics/p.test.ts'],
    ]);
  });

  it('has a changed test whatever its project', () => {
    const { runs } = plan('lib/x.contract.test.ts', 'shared/a.slow.test.ts', 'test/contract/e.test.ts');
    expect(runs['tests (4 files)']).toEqual([
      ...['--maxWorkers=1', '--project=unit', '--project=contract', '--project=slow'],
      ...['shared/a.test.ts', 'lib/x.contract.test.ts', 'shared/a.slow.test.ts', 'test/contract/e.test.ts'],
    ]);
  });

  it('of a file that is gone has what is left: the tests of its folder and all types', () => {
    expect(plan('shared/gone.ts').runs).toEqual({
      types: [],
      'tests (1 files)': ['--maxWorkers=1', '--project=unit', 'shared/a.test.ts'],
    });
  });

  it('of a page has its format only, and says so', () => {
    const { runs, notes, related } = plan('docs/page.md');
    expect(runs).toEqual({ format: ['docs/page.md'] });
    expect(notes).toMatch(/^There is no unit test in these folders\.\nNot checked: types, lint/);
    expect(related).toBe('npm test');
  });

  it('of data has all types, since code imports it', () => {
    expect(Object.keys(plan('local/seed.json').runs)).toEqual(['types', 'format']);
  });

  it.each([
    'package.json',
    'tsconfig.json',
    'client/tsconfig.json',
    'oxlint.config.ts',
    '.oxfmtrc.jsonc',
    '.npmrc',
  ])('of %s has every static check', (setting) => {
    const { runs, notes, related } = plan('docs/page.md', setting);
    expect(Object.keys(runs)).toEqual(staticChecks.map(({ name }) => name));
    expect(notes).toBe(
      `${setting}: what a check finds in any file may have changed, so all static checks run.`,
    );
    expect(related).toBe('npm test && npm run test:slow');
  });
});
