import { canonicalQuery } from '#shared/contract/filters.ts';
import type { Route } from '#shared/contract/route.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import type { CursorUse } from './cursor.ts';

/** What of a list's request a cursor is bound to. */
interface ListRequest extends Pick<OperationRequest, 'principal'> {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number | undefined>>;
}

/**
 * The use of a cursor: its list, caller, path, and every query parameter but the cursor itself, each in its one spelling.
 * @param keyset the members of the list's sort key, in order
 */
export function cursorUseOf<Name extends string>(
  list: Pick<Route, 'operationId' | 'request'>,
  keyset: readonly Name[],
  { principal, path, query }: ListRequest,
): CursorUse<Name> {
  return {
    list: list.operationId,
    keyset,
    principal,
    binding: { ...path, ...canonicalQuery(list.request.filters, query) },
  };
}
