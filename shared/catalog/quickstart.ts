import type { ReleaseCatalog } from './schema.ts';

/**
 * Decides whether quickstart creation is open: 503 and no operation while the catalog is blocked, 202 if it is ready [RC-002, RC-003]. It takes a
 * catalog that was checked (`checkCatalog`); a defective one opens nothing.
 */
export function decideQuickstart({ release_state: state }: Pick<ReleaseCatalog, 'release_state'>): {
  /** The status that creation returns. */
  readonly status: 202 | 503;
  readonly createsOperation: boolean;
} {
  return state === 'ready'
    ? { status: 202, createsOperation: true }
    : { status: 503, createsOperation: false };
}
