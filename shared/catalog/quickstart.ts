import type { ReleaseCatalog } from './schema.ts';

/**
 * The gate of quickstart creation: 503 and no operation while the catalog is blocked, 202 when it is ready [RC-002, RC-003]. Decide over a
 * catalog that was checked (`checkCatalog`); one that is not sound opens nothing.
 */
export function decideQuickstart({ release_state: state }: Pick<ReleaseCatalog, 'release_state'>): {
  /** What creation answers. */
  readonly status: 202 | 503;
  readonly createsOperation: boolean;
} {
  return state === 'ready'
    ? { status: 202, createsOperation: true }
    : { status: 503, createsOperation: false };
}
