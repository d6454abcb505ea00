import { err, ok } from '#shared/kernel/result.ts';
import { runChecks, staticChecks } from './checks/checks.ts';
import { examples, exits, program, run } from './terminal/command.ts';

await run(
  program(
    'npm run check --',
    'Runs every static check: format, lint, types, import directions, dead code, generated documents.',
  )
    .addHelpText(
      'after',
      examples(
        'npm run check:lint    run one check',
        'npm run check:types   also: format, boundaries, dead-code, docs',
      ),
    )
    .action(
      exits(async () => {
        const passed = await runChecks(staticChecks);
        const failed = passed.filter((one) => !one).length;
        return failed === 0 ? ok(undefined) : err(`${failed} of ${passed.length} checks failed`);
      }),
    ),
);
