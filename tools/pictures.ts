import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ok } from '#shared/kernel/result.ts';
import { projectRoot } from './checks/checks.ts';
import { renderJourneyPicture } from './docs/journey-picture.ts';
import { exits, program, run } from './terminal/command.ts';

const command = program(
  'npm run pictures --',
  'Writes the pictures in docs/pictures, each drawn from a run of the built-in bank.',
);
command.action(
  exits(async () => {
    await writeFile(join(projectRoot, 'docs/pictures/adaptive-run.svg'), await renderJourneyPicture());
    console.log('written: docs/pictures/adaptive-run.svg');
    return ok(undefined);
  }),
);
await run(command);
