import { openCursor, sealCursor } from '#functions/reports/cursor/cursor.ts';
import type { CursorUse } from '#functions/reports/cursor/cursor.ts';
import { canonicalQuery } from '#shared/contract/filters.ts';
import { cursorRefusal } from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { invalid } from '#shared/http/syntax/issues.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';

/** A request for a page of a list. */
interface ListRequest extends Pick<OperationRequest, 'principal' | 'receivedAt'> {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number | undefined>> & {
    readonly cursor?: string | undefined;
  };
}

/** The place of a page in its list. */
export interface ListCursor<Name extends string> {
  /** The row that the page follows; undefined for the first page. */
  readonly after: Readonly<Record<Name, string>> | undefined;
  /** The cursor of the page behind a row; null without a row, at the end of the list. */
  readonly seal: (last: Readonly<Record<Name, string>> | undefined) => Promise<string | null>;
}

/**
 * Opens the cursor of a request. It is bound to its list, caller, path, and every query parameter but the cursor itself, each in its one
 * spelling. Any other cursor is refused, without the reason.
 * @param keyset the members of the list's sort key, in order
 */
export async function openListCursor<Name extends string>(
  keys: KeyRing,
  list: Pick<Route, 'operationId' | 'request'>,
  keyset: readonly Name[],
  { principal, path, query, receivedAt }: ListRequest,
): Promise<Result<ListCursor<Name>, Problem>> {
  const use: CursorUse<Name> = {
    list: list.operationId,
    keyset,
    principal,
    binding: { ...path, ...canonicalQuery(list.request.filters, query) },
  };
  const opened =
    query.cursor === undefined ? ok(undefined) : await openCursor(keys, use, query.cursor, receivedAt);
  if (!opened.ok) {
    const refused = invalid('query', ['cursor'], cursorRefusal.reason, cursorRefusal.message);
    return err(problem('reports', 'validation', 400, { invalidParams: [refused] }));
  }
  return ok({
    after: opened.value,
    seal: async (last) => (last === undefined ? null : sealCursor(keys, use, last, receivedAt)),
  });
}
