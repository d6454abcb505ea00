import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let made: string | undefined;

/** Gives a run of the tests, and all that it starts, one temporary folder; whatever is left in it goes when the run ends. */
export default function setup(): void {
  // The runner calls this for each project.
  if (made !== undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'mastery-reports-'));
  made = folder;
  process.env['TMPDIR'] = folder;
  process.on('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
}
