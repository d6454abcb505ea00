const known: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'no permission',
};

/** Why a file could not be read or written, as the end of a sentence that names the file; any other error speaks for itself. */
export function fileFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return known[code] ?? (error instanceof Error ? error.message : String(error));
}
