import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { projectRoot } from './checks/checks.ts';
import { isArgued } from './mutation/argued.ts';
import { drawn, instrument, type Mutant } from './mutation/mutants.ts';
import { modulesUnder, mutatedModules, type MutatedModule } from './mutation/modules.ts';
import { openRunner, type Runner } from './mutation/pool.ts';
import { examples, exits, integer, list, program, run, text, UsageError } from './terminal/command.ts';
import { fileFailure } from './terminal/file-failure.ts';
import { withLiveLine } from './terminal/live-line.ts';
import { openProgress } from './terminal/progress.ts';

const tree = join(projectRoot, 'build/mutation/tree');
const reportFile = join(projectRoot, 'build/mutation/report.json');

const outcome = z.enum(['killed', 'timed out', 'survived', 'not tried']);
const report = z.strictObject({
  seed: z.int(),
  mutants: z.array(
    z.object({
      module: z.string(),
      file: z.string(),
      line: z.int(),
      mutator: z.string(),
      original: z.string(),
      replacement: z.string(),
      identity: z.string(),
      outcome,
      killedBy: z.string().optional(),
    }),
  ),
});
type Report = z.infer<typeof report>;
type Tried = Report['mutants'][number];

type OwnedMutant = Mutant & { readonly module: MutatedModule };

const command = program(
  'npm run mutation --',
  'Measures the tests by mutants: changes one place of a module at a time and runs the tests that prove the module. A mutant that they all let\n' +
    'pass survives. Tries every mutant of a module with unit proofs, and a sample of those proved over HTTP. Writes build/mutation/report.json.',
)
  .option(
    '--module <NAMES>',
    `only these modules, separated by commas: ${mutatedModules.map(({ name }) => name).join(', ')}`,
    list,
  )
  .addOption(
    new Option(
      '--proof <TESTS>',
      'which tests of a module run: all, or only its first ones, the unit tests beside the code, on every mutant',
    )
      .choices(['all', 'unit'] as const)
      .default('all' as const),
  )
  .option(
    '--sample <N>',
    'how many mutants to draw from the modules proved over HTTP',
    integer(0, 100_000),
    300,
  )
  .option(
    '--seed <S>',
    'draws the sample; the same seed draws the same mutants again',
    integer(0, 2 ** 31),
    1,
  )
  .option('--minutes <M>', 'stops after so many minutes; the rest counts as not tried', integer(1, 1440), 90)
  .option('--jobs <N>', 'how many mutants to try at once', integer(1, 64), availableParallelism())
  .option(
    '--against <FILE>',
    'an earlier report; lists what it killed and this run does not, and then exits with 1',
    text,
  )
  .addHelpText(
    'after',
    examples(
      'npm ci --prefix tools/instrumenter                  install what makes the mutants, once',
      'npm run mutation -- --module cursor,claims      all mutants of two modules',
      'npm run mutation -- --module readiness --proof unit   what its unit tests alone notice',
      'npm run mutation -- --sample 300 --seed 1       the measure that the documentation names',
    ),
  );

async function main(
  options: ReturnType<typeof command.opts>,
): Promise<Result<undefined, string | UsageError>> {
  const unknown = (options.module ?? []).filter((name) => !mutatedModules.some((each) => each.name === name));
  if (unknown.length > 0) return err(new UsageError(`unknown module: ${unknown.join(', ')}`));
  const before = options.against === undefined ? ok(undefined) : readReport(options.against);
  if (!before.ok) return before;

  const mutants = await plant(modulesUnder(options.proof), options.module);
  const overHttp = drawn(
    mutants.filter(({ module }) => module.proof === 'http'),
    options.seed,
  ).slice(0, options.sample);
  const chosen = drawn(
    [...mutants.filter(({ module }) => module.proof === 'unit'), ...overHttp],
    options.seed,
  );
  const runners = Array.from({ length: options.jobs }, () => openRunner(tree));
  const close = (): void => runners.forEach((runner) => runner.close());
  process.once('exit', close);
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  try {
    const tried = await withLiveLine(process.stderr, (show) =>
      tryAll(chosen, runners, options.minutes, show),
    );
    if (!tried.ok) return tried;
    const made: Report = { seed: options.seed, mutants: [...tried.value] };
    writeFileSync(reportFile, JSON.stringify(made, undefined, 1));
    console.log(render(made.mutants));
    console.log(`\n${reportFile}`);
    const refuted = made.mutants.filter((mutant) => caught(mutant) && isArgued(mutant));
    if (refuted.length > 0)
      return err(`argued in tools/mutation/argued.ts, but killed:\n${refuted.map(describe).join('\n')}`);
    return before.value === undefined ? ok(undefined) : compare(before.value, made);
  } finally {
    close();
  }
}

/**
 * Writes the tree with every mutant in it. A file that two modules name belongs to the first.
 * @param chosen the names of the modules whose code is changed; undefined for all
 */
async function plant(
  modules: readonly MutatedModule[],
  chosen: readonly string[] | undefined,
): Promise<readonly OwnedMutant[]> {
  const git = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', git, { cwd: projectRoot, encoding: 'utf8' }).split('\0').filter(Boolean);
  rmSync(tree, { recursive: true, force: true });
  for (const file of files) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    cpSync(join(projectRoot, file), join(tree, file));
  }
  symlinkSync(join(projectRoot, 'node_modules'), join(tree, 'node_modules'));
  const owners = new Map<string, MutatedModule>();
  for (const file of files) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
    const owner = modules.find(({ sources }) =>
      sources.some((source) => file === source || file.startsWith(`${source}/`)),
    );
    if (owner !== undefined && (chosen?.includes(owner.name) ?? true)) owners.set(file, owner);
  }
  const { files: instrumented, mutants } = await instrument(
    [...owners.keys()].map((name) => ({ name, content: readFileSync(join(projectRoot, name), 'utf8') })),
  );
  for (const { name, content } of instrumented) writeFileSync(join(tree, name), content);
  return mutants.flatMap((mutant) => {
    const module = owners.get(mutant.file);
    return module === undefined ? [] : [{ ...mutant, module }];
  });
}

/** A run with a mutant may take this many times as long as without one, and this many milliseconds more. */
const PATIENCE = { factor: 4, milliseconds: 30_000 };
/** The longest run without a mutant, which also compiles. */
const CALM_MILLISECONDS = 600_000;

/** @returns how each mutant ended, or which module's tests fail without any mutant */
async function tryAll(
  mutants: readonly OwnedMutant[],
  runners: readonly Runner[],
  minutes: number,
  show: (text: string) => void,
): Promise<Result<readonly Tried[], string>> {
  const now = (): number => performance.now();
  const startedAt = now();
  const progress = openProgress(now);
  const modules = [...new Set(mutants.map(({ module }) => module))];
  const allowed = new Map<readonly string[], number>();
  const broken: string[] = [];
  await share(modules, runners, async (module, runner) => {
    show(`without a mutant: ${module.name}`);
    // Only the second run shows how long it takes, since the first one compiles.
    for (const tests of module.tests) {
      await runner.run({ tests }, CALM_MILLISECONDS);
      const start = now();
      const reply = await runner.run({ tests }, CALM_MILLISECONDS);
      allowed.set(tests, PATIENCE.factor * (now() - start) + PATIENCE.milliseconds);
      if (reply === undefined) broken.push(`${module.name}: ${tests.join(', ')} does not come to an end`);
      else if (reply.files === 0) broken.push(`${module.name}: there is no ${tests.join(', ')}`);
      else if (reply.killedBy !== undefined) broken.push(`${module.name}: ${reply.killedBy}`);
    }
  });
  if (broken.length > 0)
    return err(`without any mutant these fail:\n${broken.map((line) => `  ${line}`).join('\n')}`);

  const tried: Tried[] = [];
  const tryOne = async (
    { id, module }: OwnedMutant,
    runner: Runner,
  ): Promise<Pick<Tried, 'outcome' | 'killedBy'>> => {
    if (now() - startedAt > minutes * 60_000) return { outcome: 'not tried' };
    for (const tests of module.tests) {
      const reply = await runner.run({ mutant: id, tests }, allowed.get(tests) ?? CALM_MILLISECONDS);
      if (reply === undefined) return { outcome: 'timed out' };
      if (reply.killedBy !== undefined) return { outcome: 'killed', killedBy: reply.killedBy };
    }
    return { outcome: 'survived' };
  };
  await share(mutants, runners, async (each, runner) => {
    const end = await tryOne(each, runner);
    tried.push({ ...each, module: each.module.name, ...end });
    show(progress(tried.length / mutants.length, `${each.file}:${each.line}`));
  });
  return ok(tried);
}

/** Gives the items to the runners, each as it becomes free. */
async function share<T>(
  items: readonly T[],
  runners: readonly Runner[],
  work: (item: T, runner: Runner) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  await Promise.all(
    runners.map(async (runner) => {
      for (const item of { [Symbol.iterator]: () => rest }) await work(item, runner);
    }),
  );
}

const caught = ({ outcome: how }: Tried): boolean => how === 'killed' || how === 'timed out';

function render(mutants: readonly Tried[]): string {
  const names = [...new Set(mutants.map(({ module }) => module))].sort();
  const lines = [...names, 'all'].map((name) => {
    const own = mutants.filter(({ module }) => name === 'all' || module === name);
    const count = (which: (mutant: Tried) => boolean): number => own.filter(which).length;
    const killed = count(caught);
    const survived = count(({ outcome: how }) => how === 'survived');
    const argued = count((mutant) => mutant.outcome === 'survived' && isArgued(mutant));
    const score = killed + survived === 0 ? '-' : `${((100 * killed) / (killed + survived)).toFixed(1)} %`;
    return [
      name.padEnd(18),
      ...[own.length, killed, count(({ outcome: how }) => how === 'timed out'), survived, argued].map((n) =>
        String(n).padStart(9),
      ),
      String(own.length - killed - survived).padStart(10),
      score.padStart(9),
    ].join('');
  });
  const head = `${'module'.padEnd(18)}  mutants   killed timed out survived   argued not tried    score`;
  const survivors = mutants
    .filter((mutant) => mutant.outcome === 'survived' && !isArgued(mutant))
    .sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1))
    .map(describe);
  return [...survivors, ...(survivors.length > 0 ? [''] : []), head, ...lines].join('\n');
}

function describe({ file, line, original, replacement }: Tried): string {
  const short = (code: string): string => {
    const one = code.replace(/\s+/g, ' ');
    return one.length > 60 ? `${one.slice(0, 57)}...` : one;
  };
  return `survived  ${file}:${line}  ${short(original)}  ->  ${short(replacement)}`;
}

function readReport(path: string): Result<Report, string> {
  try {
    return ok(report.parse(JSON.parse(readFileSync(path, 'utf8'))));
  } catch (error) {
    return err(
      error instanceof z.ZodError || error instanceof SyntaxError
        ? `${path} is no report of this command`
        : `cannot read ${path}: ${fileFailure(error)}`,
    );
  }
}

/** Fails when a mutant that the tests caught before survives now. */
function compare(before: Report, after: Report): Result<undefined, string> {
  const caughtBefore = new Set(before.mutants.filter(caught).map(({ identity }) => identity));
  const both = after.mutants.filter(
    ({ identity, outcome: how }) =>
      how !== 'not tried' &&
      before.mutants.some((other) => other.identity === identity && other.outcome !== 'not tried'),
  );
  const lost = both.filter((mutant) => caughtBefore.has(mutant.identity) && !caught(mutant));
  console.log(
    `\n${both.length} mutants were tried both times: ${both.filter(({ identity }) => caughtBefore.has(identity)).length} killed before, ${both.filter(caught).length} now`,
  );
  return lost.length === 0 ? ok(undefined) : err(`killed before, not now:\n${lost.map(describe).join('\n')}`);
}

await run(command.action(exits(main)));
