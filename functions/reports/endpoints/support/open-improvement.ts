import type { Moment } from '#functions/reports/facts/facts.ts';
import { sealReceiptLink } from '#functions/reports/receipts/link.ts';
import { mayReadAdministration } from '#functions/reports/access/claims.ts';
import { notFound } from '#functions/reports/sources/problems.ts';
import type { ReceiptLink } from '#shared/contract/reports/receipt-link.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import type { BundleRef, ImprovementStore, RunRecord } from '#shared/improvement/records.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { openOwners, type OpenedOwners, type OwnerDependencies } from './owners.ts';

/** Everything that a route of improvement runs may use in addition to its own dependencies. */
export interface ImprovementDependencies extends OwnerDependencies {
  readonly runs: ImprovementStore;
}

/** The dependencies of links to receipts. */
export interface LinkDependencies {
  readonly keys: KeyRing;
  /** `{receipts_url}`, without a slash at its end. */
  readonly receiptsUrl: string;
}

/** A run that the caller may read, with the owners to read its evidence from. */
export interface OpenedRun extends OpenedOwners {
  readonly run: RunRecord;
}

/**
 * Opens a run of the verified tenant whose administration is within the caller's claims; else returns the one 404, whether or not there is such a run
 * [RP-267, RP-271, RP-277]. The run's own record decides: if an owner had to be asked, its outage would reveal the difference.
 */
export async function openRun(
  dependencies: ImprovementDependencies,
  request: OperationRequest,
  improvementRunId: string,
): Promise<Result<OpenedRun, Problem>> {
  const owners = await openOwners(dependencies, request);
  if (!owners.ok) return owners;
  const { principal } = request;
  const run = await dependencies.runs.readRun({ tenantId: principal.tenantId, improvementRunId });
  return run !== undefined && mayReadAdministration(principal, run)
    ? ok({ ...owners.value, run })
    : err(notFound());
}

/** Returns a link to a bundle of the tenant, valid from the time of composition. */
export function linkTo(
  { keys, receiptsUrl }: LinkDependencies,
  tenantId: string,
  receipt: BundleRef,
  { observedAt }: Moment,
): Promise<ReceiptLink> {
  return sealReceiptLink(keys, receiptsUrl, { tenantId, ...receipt }, Date.parse(observedAt));
}
