import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { fileFailure } from './file-failure.ts';

/** Creates a folder, with its parents, for what a command writes. @returns err: a sentence */
export async function makeFolder(path: string): Promise<Result<undefined, string>> {
  try {
    await make(path);
    return ok(undefined);
  } catch (error) {
    return err(`cannot create the folder ${path}: ${fileFailure(error)}`);
  }
}

/** Node's `mkdir` with `recursive` never returns where a new folder fails with ENOENT although its parent exists, as in /proc. */
async function make(path: string): Promise<void> {
  if (await isFolder(path)) return;
  await make(dirname(path));
  try {
    await mkdir(path);
  } catch (error) {
    // Another process may have created it in the meantime.
    if (await isFolder(path)) return;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new Error(`${path} is not a directory`, { cause: error });
    if (code === 'ENOENT') throw new Error(`${dirname(path)} does not accept new folders`, { cause: error });
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
