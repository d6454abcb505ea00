const known: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of the path is no directory',
  EISDIR: 'it is a directory',
  EACCES: 'no permission',
};

/** Why a file could not be read or written, as the end of a sentence that names the file; any other error speaks for itself. */
export function fileFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return known[code] ?? (error instanceof Error ? error.message : String(error));
}
