import type { ReleaseCatalog } from './schema.ts';

/** What quickstart creation answers, and whether it may create an operation. */
export interface QuickstartDecision {
  readonly status: 202 | 503;
  readonly createsOperation: boolean;
}

const decisions: Readonly<Record<ReleaseCatalog['release_state'], QuickstartDecision>> = {
  blocked_pending_reviewer_credential_preflight: { status: 503, createsOperation: false },
  ready: { status: 202, createsOperation: true },
};

/**
 * The gate of quickstart creation: 503 and no operation while the catalog is blocked, 202 when it is ready [RC-002, RC-003]. Decide over a
 * catalog that was checked (`checkCatalog`); one that is not sound opens nothing.
 */
export function decideQuickstart({
  release_state,
}: Pick<ReleaseCatalog, 'release_state'>): QuickstartDecision {
  return decisions[release_state];
}
