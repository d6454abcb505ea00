import { err, ok } from '#shared/kernel/result.ts';
import { runChecks, staticChecks } from './checks/checks.ts';
import { flag, runCommand } from './terminal/command.ts';

await runCommand(
  {
    usage: 'npm run check --',
    summary:
      'Runs every static check: lint, types, format, dead code, import directions, generated documents. Files that have not changed are not read again; with CI=true in the environment everything is.',
    options: { 'no-cache': flag('reads everything again') },
    examples: [
      'npm run check:lint    one check alone, without a cache (also types, format, dead-code, boundaries, docs)',
    ],
  },
  async (options) => {
    const cached = !options['no-cache'] && process.env['CI'] !== 'true';
    const passed = await runChecks(staticChecks(cached));
    const failed = passed.filter((one) => !one).length;
    return failed === 0 ? ok(undefined) : err(`${failed} of ${passed.length} checks failed`);
  },
);
