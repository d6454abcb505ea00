import { open, readFile } from 'node:fs/promises';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { decodeText, foreignKind } from '../csv.ts';
import { readFrom } from '../file-failure.ts';

/** The most bytes of one table: some ten million answers. */
const MAXIMUM_BYTES = 32 * 1024 * 1024;

/** The text of a table and what to call it in messages. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** The text of a table's file; the error is a sentence with its path. */
export async function readTableFile(path: string): Promise<Result<string, string>> {
  const start = await readFrom(path, startOf);
  if (!start.ok) return start;
  const kind = foreignKind(start.value.bytes);
  if (kind !== undefined) return err(`${path}: this is no table, but ${kind}`);
  const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);
  if (start.value.size > MAXIMUM_BYTES)
    return err(
      `${path}: ${mebibytes(start.value.size)} MiB are more than the ${mebibytes(MAXIMUM_BYTES)} MiB of a table (some ten million answers): use a random sample of the learners`,
    );
  const bytes = await readFrom(path, (file) => readFile(file));
  if (!bytes.ok) return bytes;
  const text = decodeText(bytes.value);
  return text.ok ? text : err(`${path}: ${text.error}`);
}

/** The size of a file and its first bytes. */
async function startOf(path: string): Promise<{ readonly size: number; readonly bytes: Uint8Array }> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const bytes = new Uint8Array(4096);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return { size, bytes: bytes.subarray(0, bytesRead) };
  } finally {
    await file.close();
  }
}

/** Both texts of a study. */
export async function readTexts(
  responses: string,
  qMatrix: string,
): Promise<Result<{ readonly responses: NamedText; readonly qMatrix: NamedText }, string>> {
  const [answers, needs] = [await readTableFile(responses), await readTableFile(qMatrix)];
  if (!answers.ok) return answers;
  if (!needs.ok) return needs;
  return ok({
    responses: { name: responses, text: answers.value },
    qMatrix: { name: qMatrix, text: needs.value },
  });
}
