import { err, ok, type Result } from '#shared/kernel/result.ts';
import { changedSince, planFor } from './checks/changed.ts';
import { runChecks, staticChecks, type Check } from './checks/checks.ts';
import { examples, exits, program, run, UsageError } from './terminal/command.ts';

async function runAll(checks: readonly Check[]): Promise<Result<undefined, string>> {
  const passed = await runChecks(checks);
  const failed = passed.filter((one) => !one).length;
  return failed === 0 ? ok(undefined) : err(`${failed} of ${passed.length} checks failed`);
}

async function checkChanged(commit: string): Promise<Result<undefined, string | UsageError>> {
  const changed = changedSince(commit);
  if (!changed.ok) return err(new UsageError(changed.error));
  if (changed.value.length === 0) {
    console.log(`Nothing differs from ${commit}.`);
    return ok(undefined);
  }
  const { checks, notes, related } = planFor(changed.value, commit);
  const result = await runAll(checks);
  if (!result.ok) process.exitCode = 1;
  const failure = result.ok ? [] : [result.error];
  console.log([...failure, ...notes, `Everything related: ${related}`].join('\n'));
  return ok(undefined);
}

await run(
  program(
    'npm run check --',
    'Runs every static check: format, lint, types, import directions, dead code, generated documents.',
  )
    .option(
      '--changed [COMMIT]',
      'check what differs from COMMIT (HEAD unless given), also what is not committed: all types, lint and format of the files, and the unit tests in their folders; says what it did not check, and ends with the command that checks everything related',
    )
    .addHelpText(
      'after',
      examples(
        'npm run check -- --changed         while you edit: seconds',
        'npm run check -- --changed main    what a branch changes',
        'npm run check:lint                 one check; also format, types, boundaries, dead-code, docs',
      ),
    )
    .action(
      exits(({ changed }) =>
        changed === undefined ? runAll(staticChecks) : checkChanged(changed === true ? 'HEAD' : changed),
      ),
    ),
);
