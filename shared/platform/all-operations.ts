import type { UpstreamOperation } from './operation.ts';
import * as exported from './operations.ts';

/** The name of an export of an owner's file that is an operation. */
export type OperationName = {
  [Name in keyof typeof exported]: (typeof exported)[Name] extends UpstreamOperation ? Name : never;
}[keyof typeof exported];

/** Every upstream operation by the name of its export. No function imports this. */
// SAFETY: the type omits the same exports as the filter.
export const operations = Object.fromEntries(
  Object.entries(exported).filter(([, value]) => typeof value === 'object' && 'answer' in value),
) as { readonly [Name in OperationName]: (typeof exported)[Name] };

/** Every upstream operation in the order of the contract page: by id, and so by owner. */
export const allOperations: readonly UpstreamOperation[] = Object.values<UpstreamOperation>(operations).sort(
  (a, b) => (a.id < b.id ? -1 : 1),
);
