import { readFile } from 'node:fs/promises';
import { err, ok, type Result } from '#shared/kernel/result.ts';

const known: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'no permission',
};

/** Describes why a file could not be read or written, as the end of a sentence that names the file. */
export function fileFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return known[code] ?? (error instanceof Error ? error.message : String(error));
}

/** Reads something of a path. @returns err: a sentence that names the path */
export async function readFrom<T>(
  path: string,
  read: (path: string) => Promise<T>,
): Promise<Result<T, string>> {
  try {
    return ok(await read(path));
  } catch (error) {
    return err(`cannot read ${path}: ${fileFailure(error)}`);
  }
}

/** Reads the text of a file; undefined only if there is none. @returns err: a sentence that names a file that cannot be read */
export async function readIfThere(path: string): Promise<Result<string | undefined, string>> {
  return readFrom(path, async () => {
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw error;
    }
  });
}
