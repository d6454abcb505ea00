import { stageNamed } from '#shared/stage/stages.ts';
import { enterStage } from '#shared/stage/access.ts';
import type { CheckName } from '#shared/stage/checks.ts';
import { good } from '#shared/stage-checks/finding.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { examples, exits, parsed, profileOption, program, run, text } from '#tools/terminal/command.ts';
import { accountChecks } from './doctor/account-checks.ts';
import { mendAll, renderLine, runChecks, subjectOf, type Check, type Line } from './doctor/finding.ts';
import { stageChecks } from './doctor/stage-checks.ts';

const command = program(
  'npm run doctor --',
  'Checks whether an account is ready for a stage, and whether what is deployed there is sound (docs/deploy.md). Prints one line per finding: ok, warning or failure, what it means, and what mends it. Exits with 1 if anything has failed. Changes nothing without --fix.',
)
  .requiredOption('--stage <S>', 'the stage', parsed(stageNamed))
  .option(
    '--fix',
    'mend what is safe to mend: API Gateway’s role for logs, first keys, termination protection',
  )
  .option('--json', 'print one JSON document')
  .option(...profileOption, text)
  .addHelpText(
    'after',
    examples('npm run doctor -- --stage staging', 'npm run doctor -- --stage prod --fix'),
  );
command.action(exits(doctor));

if (import.meta.main) await run(command);

async function doctor(values: ReturnType<typeof command.opts>): Promise<Result<undefined, string>> {
  const { stage, fix, json, profile } = values;
  const entered = await enterStage(stage, profile);
  if (!entered.ok) return entered;
  const { account, region } = entered.value;
  const checks: Readonly<Record<CheckName, Check>> = { ...accountChecks, ...stageChecks };
  const examine = () => runChecks(checks, subjectOf(stage, entered.value));
  const found = await examine();
  const mended = fix === true ? await mendAll(found) : [];
  const lines: readonly Line[] = [
    { check: 'identity', ...good(`${stage.name}: account ${account}, region ${region}`) },
    ...mended,
    ...(mended.length === 0 ? found : await examine()),
  ];
  const failures = lines.filter(({ status }) => status === 'failure').length;
  if (json === true) {
    const findings = lines.map(({ check, status, message, remedy }) => ({ check, status, message, remedy }));
    console.log(JSON.stringify({ stage: stage.name, account, region, failures, findings }, null, 2));
  } else {
    for (const line of lines) console.log(renderLine(line));
  }
  return failures === 0 ? ok(undefined) : err(`${failures} of ${lines.length} checks failed`);
}
