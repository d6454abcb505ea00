import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '#tools/checks/checks.ts';
import { renderJourneyPicture } from './journey-picture.ts';

it('docs/pictures/adaptive-run.svg is what npm run pictures draws', async () => {
  const committed = await readFile(join(projectRoot, 'docs/pictures/adaptive-run.svg'), 'utf8');
  expect(committed === (await renderJourneyPicture())).toBe(true);
});
