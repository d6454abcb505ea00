import { pointer, type Defect } from '#shared/kernel/defect.ts';
import { faultIn } from '#shared/kernel/json-fault.ts';
import { err, type Result } from '#shared/kernel/result.ts';
import { decodeUtf8, parseStrictJson } from '#shared/kernel/strict-json.ts';
import { checkCatalog } from './check.ts';
import type { ReleaseCatalog } from './schema.ts';

/** Room for 50 sources with hundreds of bindings each. */
export const MAX_CATALOG_BYTES = 16 * 1024 * 1024;

/** Reads a catalog from untrusted bytes, and checks it (`checkCatalog`). */
export function readCatalog(bytes: Uint8Array): Result<ReleaseCatalog, readonly Defect[]> {
  const record = readJson(bytes);
  return record.ok ? checkCatalog(record.value) : record;
}

/**
 * Returns the JSON value in a catalog's bytes, not checked yet. Rejects, with the place: more than 16 MiB, bytes that are not UTF-8 or not JSON (a
 * byte order mark, NaN), and JSON that two readers could understand differently: repeated member names, numbers beyond the doubles, lone surrogates,
 * more than 64 levels. A number counts by its value: `6.0` is the integer 6.
 */
export function readJson(bytes: Uint8Array): Result<unknown, readonly Defect[]> {
  if (bytes.length > MAX_CATALOG_BYTES)
    return refuse(`is larger than ${MAX_CATALOG_BYTES / 1024 / 1024} MiB`);
  const text = decodeUtf8(bytes, { ignoreBOM: true });
  if (text === undefined) return refuse('is not UTF-8');
  const parsed = parseStrictJson(text);
  if (parsed.ok) return parsed;
  switch (parsed.error.kind) {
    case 'malformed':
      return refuse(`is not JSON${faultIn(text)}`);
    case 'too-deep':
      return refuse('is nested deeper than 64 levels');
    case 'not-i-json':
      return refuse(
        'has a number or a character that JSON readers do not agree on (RFC 7493)',
        pointer(...parsed.error.path),
      );
    case 'duplicate-key':
      return refuse('has a member name twice', pointer(...parsed.error.path));
  }
}

const refuse = (message: string, pointer = ''): Result<never, readonly Defect[]> =>
  err([{ pointer, message }]);
