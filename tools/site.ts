import { rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { ok } from '#shared/kernel/result.ts';
import { gates } from '#shared/contract/gates.ts';
import { offlineRelease, parseGates } from '#shared/release/read-release.ts';
import type { OpenGates } from '#shared/release/read-release.ts';
import { writeSite } from './site/files.ts';
import { renderSite } from './site/render.ts';
import { examples, exits, parsed, program, run, text } from './terminal/command.ts';

const DEFAULT_FOLDER = join(import.meta.dirname, '../build/site');

if (import.meta.main) {
  await run(
    program(
      'npm run site --',
      'Builds the documentation site: guides, API reference, problem pages, search. Any web server can serve the folder; npm start serves the site as well.',
    )
      .addOption(
        new Option('--gates <LIST>', 'the gates whose routes the reference shows, as in A,D; empty for none')
          .default<OpenGates>(new Set(gates), 'all')
          .argParser(parsed(parseGates)),
      )
      .option('--out <DIR>', `where to write it; default: build/site, emptied first`, text)
      .addHelpText('after', examples('npm run site', 'npm run site -- --gates A,D --out /var/www/docs'))
      .action(
        exits(async ({ gates, out }) => {
          const site = await renderSite({ release: offlineRelease(gates), apis: {} });
          const folder = resolve(out ?? DEFAULT_FOLDER);
          if (out === undefined) await rm(folder, { recursive: true, force: true });
          await writeSite(folder, site);
          console.log(`${site.size} files in ${relative(process.cwd(), folder)}`);
          return ok(undefined);
        }),
      ),
  );
}
