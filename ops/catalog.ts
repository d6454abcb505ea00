import { createReadStream } from 'node:fs';
import { MAX_CATALOG_BYTES } from '#shared/catalog/read.ts';
import { runCatalog } from '#ops/catalog/run.ts';
import { runCommand } from '#tools/terminal/command.ts';
import { paintFor } from '#tools/terminal/paint.ts';

await runCommand(
  {
    usage: 'npm run catalog --',
    summary: [
      'The release catalog, schema version 6 (docs/catalog.md).',
      '',
      '  check    says everything that is wrong with FILE, each with a JSON Pointer, and ends with 1 when anything is',
      '  hash     prints the hash that belongs into catalog_revision_hash, alone on the last line',
      '  explain  shows source by source what still blocks ready, and what quickstart creation answers',
    ].join('\n'),
    positionals: ['check|hash|explain', 'FILE'],
    options: {},
    examples: [
      'npm run catalog -- check docs/catalog.example.json',
      'npm run --silent catalog -- hash catalog.json | tail -n 1',
      'npm run catalog -- explain docs/catalog.example.json',
    ],
  },
  (_values, [word = '', path = '']) =>
    runCatalog(
      {
        readFile: async (file) => {
          const parts: Buffer[] = [];
          // `end` is the last byte that is read: one more than is taken, however much a device or a pipe could give.
          for await (const part of createReadStream(file, { end: MAX_CATALOG_BYTES }))
            parts.push(part as Buffer);
          return Buffer.concat(parts);
        },
        print: (line) => {
          console.log(line);
        },
        paint: paintFor(process.stdout, process.env),
      },
      word,
      path,
    ),
);
