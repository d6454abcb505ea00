import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResponseFiles } from '#local/seeds/from-responses.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { fileFailure } from './file-failure.ts';

const NAMES = ['responses.csv', 'q-matrix.csv', 'parameters.json'] as const;

/** The texts of a study's three files; the error names the first that cannot be read, and why. */
export async function readResponseFiles(directory: string): Promise<Result<ResponseFiles, string>> {
  const texts: string[] = [];
  for (const name of NAMES) {
    try {
      texts.push(await readFile(join(directory, name), 'utf8'));
    } catch (error) {
      return err(`${join(directory, name)} cannot be read: ${fileFailure(error)}`);
    }
  }
  const [responses = '', qMatrix = '', parameters = ''] = texts;
  return ok({ 'responses.csv': responses, 'q-matrix.csv': qMatrix, 'parameters.json': parameters });
}

/** A study’s defects, the most of them that a reader wants to see at once. */
export function shorten(lines: readonly string[]): string {
  const shown = lines.slice(0, 20);
  return [
    ...shown,
    ...(lines.length > shown.length ? [`… and ${lines.length - shown.length} more`] : []),
  ].join('\n');
}
