import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { verifyReceipt } from '#ops/receipts/verify.ts';
import { examples, exits, program, run, text } from '#tools/terminal/command.ts';
import { paintFor } from '#tools/terminal/paint.ts';

const command = program(
  'npm run receipts --',
  'Verifies receipt bundles of improvement runs (docs/receipts.md).',
).addHelpText(
  'after',
  examples(
    'npm run receipts -- verify bundle.json',
    'npm run receipts -- verify bundle.json --artifacts evidence/',
  ),
);

command
  .command('verify')
  .description(
    'Verify a receipt bundle of an improvement run: it is unchanged, its alignment follows from its contributions, and its orders follow from its policy. Exits with 0 only if every check passed',
  )
  .argument('<FILE>')
  .option(
    '--artifacts <DIR>',
    'a folder with the artifacts of the bundle, under any file names: also recomputes the alignment and the orders from them',
    text,
  )
  .action(
    exits((file, { artifacts }) =>
      verifyReceipt(
        {
          readFile,
          listFiles: async (folder) => {
            const entries = await readdir(folder, { recursive: true, withFileTypes: true });
            return entries
              .filter((entry) => entry.isFile())
              .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
              .toSorted();
          },
          print: (line) => {
            console.log(line);
          },
          paint: paintFor(process.stdout, process.env),
        },
        file,
        artifacts,
      ),
    ),
  );

await run(command);
