import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { readSavedRuns, writeSavedRuns } from './saved-runs.ts';

it('has no saved runs without a file, and a sentence for a file that it cannot read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'saved-runs-'));
  const file = join(folder, 'run.json');
  expect(await readSavedRuns(file)).toEqual(ok({}));
  const runs = { tenantId: 'tenant', improvement: { improvementRunId: 'run' } };
  await writeSavedRuns(file, runs);
  expect(await readSavedRuns(file)).toEqual(ok(runs));
  for (const text of ['', '{"tenantId"', '{"tenantId":1}', '[]']) {
    await writeFile(file, text);
    expect(await readSavedRuns(file), text).toEqual(
      err(`${file} has no saved runs of this version: delete it, and start a run again`),
    );
  }
  expect(await readSavedRuns(folder)).toEqual(err(`cannot read ${folder}: it is a directory`));
});
