import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { offlineRelease, parseGates } from '#shared/release/read-release.ts';
import type { ReleaseState } from '#shared/release/release-state.ts';
import { domainsOf, stageNamed, type Stage } from '#shared/stage/stages.ts';
import { releaseIn } from './docs/release-in.ts';
import { generatedFiles, openApiFiles, refreshFiles, staleFiles } from './docs/files.ts';
import { pagesOutside, readPages } from './site/pages.ts';
import {
  examples,
  exits,
  parsed,
  profileOption,
  program,
  run,
  text,
  UsageError,
} from './terminal/command.ts';
import { makeFolder } from './terminal/make-folder.ts';

/** Writes the generated files, or with `--check` compares them. */
async function refreshDocs(check: boolean): Promise<Result<undefined, string>> {
  const root = resolve(import.meta.dirname, '..');
  const pages = readPages(join(root, 'docs'), pagesOutside);
  if (!pages.ok) return pages;
  const files = await generatedFiles(root, pages.value);
  if (!check) {
    const changed = await refreshFiles(root, files);
    console.log(
      changed.length === 0
        ? `${files.size} files are up to date`
        : changed.map(({ path, kind }) => `${kind === 'orphan' ? 'removed' : 'written'}: ${path}`).join('\n'),
    );
    return ok(undefined);
  }
  const stale = await staleFiles(root, files);
  if (stale.length === 0) return ok(undefined);
  const lines = stale.map(({ path, kind }) => `  ${path} (${kind})`);
  return err(`these generated files are out of date; run npm run docs:\n${lines.join('\n')}`);
}

/** Writes the OpenAPI documents of a release into a folder. */
async function writeOpenApi(
  release: ReleaseState,
  stage: Stage | undefined,
  folder: string,
): Promise<Result<undefined, string>> {
  const made = await makeFolder(folder);
  if (!made.ok) return made;
  for (const [name, content] of openApiFiles(release, stage && domainsOf(stage.config))) {
    await writeFile(join(folder, name), content);
    console.log(`written: ${join(folder, name)}`);
  }
  return ok(undefined);
}

if (import.meta.main) {
  await run(
    program(
      'npm run docs --',
      'Writes every generated document: OpenAPI, the JSON Schemas of the release catalog and of a proof, the tables of log codes and problem types, the upstream contracts, the types of the client.\nWith --out it writes the OpenAPI documents of one release into a folder instead: the routes that are open, and no other.',
    )
      .option('--check', 'write nothing; fail and list what is out of date')
      .option(
        '--out <DIR>',
        'write mastery.json, reports.json and sandbox.json there, and of each a .tolerant.json for generators of clients',
        text,
      )
      .option('--stage <NAME>', 'with --out: the routes that are open in this stage', parsed(stageNamed))
      .option(
        '--gates <LIST>',
        'with --out: the routes that these gates open, as in A,D; empty for none',
        parsed(parseGates),
      )
      .option(...profileOption, text)
      .addHelpText(
        'after',
        examples(
          'npm run docs',
          'npm run docs -- --stage prod --out public',
          'npm run docs -- --gates A,D --out public',
        ),
      )
      .action(
        exits(async ({ check, stage, gates, out, profile }) => {
          if (out === undefined) {
            if (stage !== undefined || gates !== undefined)
              return err(new UsageError('--stage and --gates need --out DIR'));
            return refreshDocs(check === true);
          }
          if (check === true) return err(new UsageError('--check writes nothing: it goes without --out'));
          if ((stage === undefined) === (gates === undefined))
            return err(new UsageError('--out needs either --stage or --gates'));
          const release =
            stage === undefined ? ok(offlineRelease(gates ?? new Set())) : await releaseIn(stage, profile);
          if (!release.ok) return release;
          return writeOpenApi(release.value, stage, out);
        }),
      ),
  );
}
