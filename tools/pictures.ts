import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '#shared/kernel/result.ts';
import { findRunningStack, localFiles } from '#shared/stage/description.ts';
import { projectRoot } from './checks/checks.ts';
import { takeExplorerPictures } from './docs/explorer-pictures.ts';
import { renderJourneyPicture } from './docs/journey-picture.ts';
import { exits, program, run } from './terminal/command.ts';

const command = program(
  'npm run pictures --',
  'Writes the pictures in docs/pictures: the course of a run of the built-in bank and, when npm start runs in this folder, the explorer (this needs Chromium).',
);
command.action(
  exits(async () => {
    await writeFile(join(projectRoot, 'docs/pictures/adaptive-run.svg'), await renderJourneyPicture());
    console.log('written: docs/pictures/adaptive-run.svg');
    const stack = await findRunningStack(localFiles(process.cwd()).stack);
    if (!stack.ok) {
      console.log(
        'not written: the pictures of the explorer. Run npm start in another terminal, then repeat.',
      );
      return ok(undefined);
    }
    try {
      for (const path of await takeExplorerPictures(stack.value.explorerUrl)) console.log(`written: ${path}`);
    } catch (error) {
      return err(error instanceof Error ? error.message : String(error));
    }
    return ok(undefined);
  }),
);
await run(command);
