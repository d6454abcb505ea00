import { rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { offlineRelease, parseGates } from '#shared/release/read-release.ts';
import { allOpen } from '#shared/release/release-state.ts';
import { stageNamed } from '#shared/stage/stages.ts';
import { releaseIn } from './docs/release-in.ts';
import { writeSite } from './site/files.ts';
import { renderSite } from './site/render.ts';
import { UnreachableLinkError } from './site/sources.ts';
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

const DEFAULT_FOLDER = join(import.meta.dirname, '../build/site');

function addressIn(given: string): Result<string, string> {
  const address = URL.parse(given);
  return address === null || !/^https?:$/.test(address.protocol) || address.search + address.hash !== ''
    ? err(`expected an address that begins with https: "${given}"`)
    : ok(address.href.replace(/\/+$/, ''));
}

function unreachable(error: unknown): Result<never, string> {
  if (error instanceof UnreachableLinkError) return err(error.message);
  throw error;
}

if (import.meta.main) {
  await run(
    program(
      'npm run site --',
      'Builds the documentation site: guides, API reference, problem pages, search. Any web server can serve the folder that adds .html to a path without an extension, as the types of problems are. npm start serves the site as well.',
    )
      .option(
        '--stage <NAME>',
        'the reference shows the routes that are open in this stage',
        parsed(stageNamed),
      )
      .option(
        '--gates <LIST>',
        'the reference shows the routes that these gates open, as in A,D; empty for none; default: every route',
        parsed(parseGates),
      )
      .option('--out <DIR>', `where to write it; default: build/site, emptied first`, text)
      .option(
        '--repository <URL>',
        'link the files of the repository below this address, as in https://example.org/mastery-reports/blob/main; default: the site shows the files that a page links',
        parsed(addressIn),
      )
      .option(...profileOption, text)
      .addHelpText('after', examples('npm run site', 'npm run site -- --stage prod --out /var/www/docs'))
      .action(
        exits(async ({ stage, gates, out, repository, profile }) => {
          if (stage !== undefined && gates !== undefined)
            return err(new UsageError('--stage and --gates exclude each other'));
          const release =
            stage === undefined
              ? ok(gates === undefined ? allOpen : offlineRelease(gates))
              : await releaseIn(stage, profile);
          if (!release.ok) return release;
          const site = await renderSite({ release: release.value, apis: {}, repository }).then(
            ok,
            unreachable,
          );
          if (!site.ok) return site;
          const folder = resolve(out ?? DEFAULT_FOLDER);
          if (out === undefined) await rm(folder, { recursive: true, force: true });
          const made = await makeFolder(folder);
          if (!made.ok) return made;
          await writeSite(folder, site.value);
          console.log(`${site.value.size} files in ${relative(process.cwd(), folder)}`);
          return ok(undefined);
        }),
      ),
  );
}
