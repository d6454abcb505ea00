import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { verifyReceipt } from '#ops/receipts/verify.ts';
import { examples, exits, program, run, text } from '#tools/terminal/command.ts';
import { paintFor } from '#tools/terminal/paint.ts';

const command = program(
  'npm run receipts --',
  'Receipt bundles of improvement runs (docs/receipts.md).',
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
    'checks a receipt bundle of an improvement run: that nobody has changed it, that its alignment is what its contributions give, that its orders are what its policy asks for. Exit 0 only when everything holds',
  )
  .argument('<FILE>')
  .option(
    '--artifacts <DIR>',
    'a folder with the artifacts that the bundle names, under any file names: aligns and decides anew from them',
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
