import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as timer } from 'node:timers/promises';
import { err, ok, type Result } from '#shared/kernel/result.ts';

/** The right to be the one local stack of a folder. */
interface Lock {
  /** Gives it back; a lock file that is another process's by now stays. */
  readonly release: () => Promise<void>;
}

/**
 * Takes the lock file for a process, whose id it then holds. A file that was left behind is replaced.
 * @param isHeld whether the process that the file names still holds the lock
 * @returns the process that holds it otherwise
 */
export async function takeLock(
  file: string,
  pid: number,
  isHeld: (pid: number) => Promise<boolean>,
): Promise<Result<Lock, { readonly pid: number }>> {
  await mkdir(dirname(file), { recursive: true });
  for (;;) {
    if (await create(file, pid)) {
      return ok({
        release: async () => {
          if ((await readPid(file)) === pid) await rm(file, { force: true });
        },
      });
    }
    const holder = await readHolder(file);
    // This process holds none yet: a file with its id is from an earlier one that had the same id, as happens in containers.
    if (holder !== undefined && holder !== pid && (await isHeld(holder))) return err({ pid: holder });
    await discard(file, holder, pid, isHeld);
  }
}

async function create(file: string, pid: number): Promise<boolean> {
  try {
    await writeFile(file, `${pid}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes a file that was left behind. Only one process may remove, or the slower one of two would remove the new lock of the faster one: it is
 * decided by a lock, too.
 */
async function discard(
  file: string,
  holder: number | undefined,
  pid: number,
  isHeld: (pid: number) => Promise<boolean>,
): Promise<void> {
  const turn = await takeLock(`${file}.removal`, pid, isHeld);
  if (!turn.ok) return timer(5);
  if ((await readHolder(file)) === holder) await rm(file, { force: true });
  await turn.value.release();
}

/** The process that the file names. A file is made a moment before its text is written. */
async function readHolder(file: string): Promise<number | undefined> {
  const pid = await readPid(file);
  if (pid !== undefined) return pid;
  await timer(100);
  return readPid(file);
}

async function readPid(file: string): Promise<number | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return /^[1-9]\d{0,9}\n$/.test(text) ? Number(text) : undefined;
}
