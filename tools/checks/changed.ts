import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { projectRoot, scriptCheck, staticChecks, type Check } from './checks.ts';
import { quickProjects, testGlobs } from './test-projects.ts';

/** What to run for a set of changed files, and what to report about it. */
export interface Plan {
  readonly checks: readonly Check[];
  readonly notes: readonly string[];
  /** The command that checks everything that the files may have changed. */
  readonly related: string;
}

/**
 * Lists the files that differ from a commit, also those that git does not know yet and those that are gone. A renamed file is there under both names.
 * @returns paths from the project's folder, or why git names none
 */
export function changedSince(commit: string, root = projectRoot): Result<readonly string[], string> {
  const git = (...args: readonly string[]): readonly string[] =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).split('\0').filter(Boolean);
  try {
    const known = git(
      'diff',
      '--name-only',
      '--no-renames',
      '--relative',
      '-z',
      '--end-of-options',
      commit,
      '--',
    );
    return ok(
      [...new Set([...known, ...git('ls-files', '--others', '--exclude-standard', '-z')])].toSorted(),
    );
  } catch (error) {
    // SAFETY: git's own failure has what it wrote, that of its start has not.
    const { stderr } = error as { readonly stderr?: string };
    return err(`git cannot compare with ${commit}: ${stderr?.trim().split('\n')[0] ?? String(error)}`);
  }
}

/** Files that decide what a check finds in others. */
const isSetting = (file: string): boolean =>
  /^(?:\.[^/]+|[^/]+\.(?:jsonc?|[cm]?[jt]s))$|(?:^|\/)tsconfig\.json$/.test(file);
const isCode = (file: string): boolean => /\.[cm]?[jt]sx?$/.test(file);

type Project = keyof typeof testGlobs;

/** The project of a test file; undefined of another file. */
function projectOf(file: string): Project | undefined {
  const projects = Object.keys(testGlobs) as Project[];
  return projects.find((name) => testGlobs[name].some((glob) => matchesGlob(file, glob)));
}

/**
 * Chooses the smallest checks that prove a change: types of everything, since a file may break any other; lint and format of the files; the unit tests
 * in their folders, and the files that are tests themselves.
 * @param commit what the files differ from
 */
export function planFor(files: readonly string[], commit: string, root = projectRoot): Plan {
  const tests = testsFor(files, root);
  const settings = files.filter(isSetting);
  if (settings.length > 0) {
    return {
      checks: [...staticChecks, ...testChecks(tests)],
      notes: [
        `${settings.join(', ')}: what a check finds in any file may have changed, so all static checks run.`,
      ],
      related: 'npm test && npm run test:slow',
    };
  }
  const present = files.filter((file) => existsSync(join(root, file)));
  const code = present.filter(isCode);
  // Code may import JSON (resolveJsonModule).
  const compiled = files.some((file) => isCode(file) || file.endsWith('.json'));
  const unmatched = '--no-error-on-unmatched-pattern';
  return {
    checks: [
      ...(code.length > 0 ? [scriptCheck('check:lint', [unmatched, ...code])] : []),
      ...(compiled ? [scriptCheck('check:types')] : []),
      ...testChecks(tests),
      ...(present.length > 0 ? [scriptCheck('check:format', [unmatched, ...present])] : []),
    ],
    notes: [
      ...(tests.length === 0 ? ['There is no unit test in these folders.'] : []),
      `Not checked: ${[
        ...(compiled ? [] : ['types']),
        'lint and format of other files, import directions, dead code, generated documents, tests of other folders, contract and slow tests',
      ].join(', ')}.`,
    ],
    related: files.every(isCode)
      ? `npm run check && npm run test:unit -- --changed ${commit} ${projectOptions(quickProjects).join(' ')}`
      : 'npm test',
  };
}

function testsFor(files: readonly string[], root: string): readonly string[] {
  const beside = [...new Set(files.map((file) => dirname(file)))]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
    .filter((file) => ['unit', 'psychometrics'].includes(projectOf(file) ?? ''));
  const changed = files.filter((file) => projectOf(file) !== undefined && existsSync(join(root, file)));
  return [...new Set([...beside, ...changed])];
}

function projectOptions(projects: Iterable<Project | undefined>): readonly string[] {
  return [...projects].map((name) => `--project=${String(name)}`);
}

/** One worker, since the tests run at the same time as the other checks. */
function testChecks(tests: readonly string[]): readonly Check[] {
  const args = ['--maxWorkers=1', ...projectOptions(new Set(tests.map(projectOf))), ...tests];
  return tests.length === 0
    ? []
    : [{ ...scriptCheck('test:unit', args), name: `tests (${tests.length} files)` }];
}
