import { err, ok } from '#shared/kernel/result.ts';
import { runChecks, staticChecks } from './checks/checks.ts';
import { examples, exits, program, run } from './terminal/command.ts';

await run(
  program(
    'npm run check --',
    'Runs every static check: lint, types, format, dead code, import directions, generated documents. Unchanged files are skipped, unless CI=true is set in the environment.',
  )
    .option('--no-cache', 'check all files again')
    .addHelpText(
      'after',
      examples(
        'npm run check:lint    run one check, without the cache',
        'npm run check:types   also: format, dead-code, boundaries, docs',
      ),
    )
    .action(
      exits(async ({ cache }) => {
        const passed = await runChecks(staticChecks(cache && process.env['CI'] !== 'true'));
        const failed = passed.filter((one) => !one).length;
        return failed === 0 ? ok(undefined) : err(`${failed} of ${passed.length} checks failed`);
      }),
    ),
);
