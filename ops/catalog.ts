import { createReadStream } from 'node:fs';
import { MAX_CATALOG_BYTES } from '#shared/catalog/read.ts';
import { runCatalog, type CatalogAction } from '#ops/catalog/run.ts';
import { examples, exits, program, run } from '#tools/terminal/command.ts';
import { paintFor } from '#tools/terminal/paint.ts';

const actions: Readonly<Record<CatalogAction, string>> = {
  check: 'Print every defect of FILE with its JSON Pointer; exits with 1 if there is any',
  hash: 'Print the value for catalog_revision_hash on the last line',
  explain: 'Show per source what still blocks ready, and what quickstart creation returns',
};

const runtime = {
  readFile: async (file: string): Promise<Buffer> => {
    const parts: Buffer[] = [];
    // `end` is the last byte to read: one more than the limit, so that a device or a pipe cannot return more.
    for await (const part of createReadStream(file, { end: MAX_CATALOG_BYTES })) parts.push(part as Buffer);
    return Buffer.concat(parts);
  },
  print: (line: string) => {
    console.log(line);
  },
  paint: paintFor(process.stdout, process.env),
};

const command = program(
  'npm run catalog --',
  'Checks and explains a release catalog, schema version 6 (docs/catalog.md).',
).addHelpText(
  'after',
  examples(
    'npm run catalog -- check docs/catalog.example.json',
    'npm run --silent catalog -- hash catalog.json | tail -n 1',
    'npm run catalog -- explain docs/catalog.example.json',
  ),
);
for (const action of ['check', 'hash', 'explain'] as const) {
  command
    .command(action)
    .description(actions[action])
    .argument('<FILE>')
    .action(exits((file) => runCatalog(runtime, action, file)));
}

await run(command);
