import { openCursor } from '#functions/reports/cursor/cursor.ts';
import type { CursorUse } from '#functions/reports/cursor/cursor.ts';
import { cursorRefusal } from '#shared/contract/reports/routes.ts';
import { invalid } from '#shared/http/syntax/issues.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';

/**
 * The row that a page follows; undefined for the first page. What a cursor is refused for is not told.
 * @param now epoch milliseconds
 */
export async function placeAfter<Name extends string>(
  keys: KeyRing,
  use: CursorUse<Name>,
  cursor: string | undefined,
  now: number,
): Promise<Result<Readonly<Record<Name, string>> | undefined, Problem>> {
  if (cursor === undefined) return ok(undefined);
  const place = await openCursor(keys, use, cursor, now);
  if (place.ok) return place;
  const refused = invalid('query', ['cursor'], cursorRefusal.reason, cursorRefusal.message);
  return err(problem('reports', 'validation', 400, { invalidParams: [refused] }));
}
