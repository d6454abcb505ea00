import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { examples, exits, program, run, text } from '#tools/terminal/command.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';
import { makeFolder } from '#tools/terminal/make-folder.ts';
import { withLiveLine } from '#tools/terminal/live-line.ts';
import { paintFor } from '#tools/terminal/paint.ts';
import { openProgress } from '#tools/terminal/progress.ts';
import { readReference } from './validate/reference.ts';
import { htmlReport, textReport } from './validate/report.ts';
import { validate } from './validate/validation.ts';

const command = program(
  'npm run validate --',
  'Compares the engine with published figures and frozen outputs of other programs (docs/validate.md), and lists what it could not check.\n' +
    'Exits with 1 when a line fails, or when there is nothing to compare.',
)
  .requiredOption('--data <DIR>', 'the folder of reference figures (required)', text)
  .option('--out <DIR>', 'writes validation.html into this folder', text)
  .addHelpText('after', examples('npm run validate -- --data ../reference --out .local/validation'));

async function main({ data, out }: ReturnType<typeof command.opts>): Promise<Result<undefined, string>> {
  const reference = await readReference(data);
  if (!reference.ok) return reference;
  const progress = openProgress(() => performance.now());
  const validation = await withLiveLine(process.stderr, (show) =>
    validate(reference.value, (done, what) => {
      show(progress(done, what));
    }),
  );
  console.log(textReport(validation, paintFor(process.stdout, process.env)));
  if (out !== undefined) {
    const path = join(out, 'validation.html');
    const folder = await makeFolder(out);
    if (!folder.ok) return folder;
    try {
      await writeFile(path, htmlReport(validation));
    } catch (error) {
      return err(`cannot write ${path}: ${fileFailure(error)}`);
    }
    console.log(`\n${path}`);
  }
  const { lines } = validation;
  if (lines.length === 0)
    return err(`${data} contains nothing to compare: it needs at least one of the files of docs/validate.md`);
  const failed = lines.filter(({ passed }) => !passed);
  return failed.length === 0 ? ok(undefined) : err(`${failed.length} of ${lines.length} lines failed`);
}

await run(command.action(exits(main)));
