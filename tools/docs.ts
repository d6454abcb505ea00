import { resolve } from 'node:path';
import { err, ok } from '#shared/kernel/result.ts';
import { generatedFiles, refreshFiles, staleFiles } from './docs/files.ts';
import { exits, program, run } from './terminal/command.ts';

if (import.meta.main) {
  const command = program(
    'npm run docs --',
    'Writes every generated document: OpenAPI, the problem pages, the JSON Schemas of the release catalog and of a proof, the table of log codes, the upstream contracts.',
  ).option('--check', 'writes nothing; fails and lists what is stale');
  command.action(
    exits(async ({ check }) => {
      const docs = resolve(import.meta.dirname, '../docs');
      const files = generatedFiles(docs);
      if (check !== true) {
        const changed = await refreshFiles(docs, files);
        console.log(
          changed.length === 0
            ? `${files.size} files are up to date`
            : changed
                .map(({ path, kind }) => `${kind === 'orphan' ? 'removed' : 'written'}: docs/${path}`)
                .join('\n'),
        );
        return ok(undefined);
      }
      const stale = await staleFiles(docs, files);
      if (stale.length === 0) return ok(undefined);
      const lines = stale.map(({ path, kind }) => `  docs/${path} (${kind})`);
      return err(`these generated files are out of date; run npm run docs:\n${lines.join('\n')}`);
    }),
  );
  await run(command);
}
