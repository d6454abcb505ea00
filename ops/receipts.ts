import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { err } from '#shared/kernel/result.ts';
import { verifyReceipt } from '#ops/receipts/verify.ts';
import { runCommand, text } from '#tools/terminal/command.ts';
import { paintFor } from '#tools/terminal/paint.ts';

await runCommand(
  {
    usage: 'npm run receipts --',
    summary: [
      'Checks a receipt bundle of an improvement run (docs/receipts.md): that nobody has changed it, that its alignment is what its',
      'contributions give, that its orders are what its policy asks for. Exit 0 only when everything holds.',
    ].join('\n'),
    positionals: ['verify', 'FILE'],
    options: {
      artifacts: text(
        'a folder with the artifacts that the bundle names, under any file names: aligns and decides anew from them',
        'DIR',
      ),
    },
    examples: [
      'npm run receipts -- verify bundle.json',
      'npm run receipts -- verify bundle.json --artifacts evidence/',
    ],
  },
  async ({ artifacts }, [word = '', file = '']) =>
    word === 'verify'
      ? verifyReceipt(
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
        )
      : err(`unknown command ${JSON.stringify(word)}; known is verify`),
);
