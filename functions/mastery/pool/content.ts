import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import * as operations from '#shared/platform/operations.ts';
import type { BankMembers, Blueprint } from '#shared/platform/owners/content.ts';
import type { UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { found, mismatchProblem } from '../upstream/problems.ts';

/** What Content contains about a test and its bank. */
export interface Content {
  readonly blueprint: UpstreamAnswer<Blueprint>;
  readonly bank: UpstreamAnswer<BankMembers>;
}

/** Returns the SHA-256 over the RFC 8785 form of the complete blueprint, with members that Content adds tomorrow [MA-022, MA-067]. */
export function testSpecHashOf({ value }: UpstreamAnswer<Blueprint>): string {
  return hashCanonical(value);
}

/** Returns the hash of the bank's identity, which its membership is no part of [MA-068]. */
export function testBankIdentityHashOf({ value }: UpstreamAnswer<BankMembers>): string {
  const { bankId, specId, role, membershipRule, data, updateVersion } = value;
  return hashCanonical({ bankId, specId, role, membershipRule, contentMembers: data.length, updateVersion });
}

/**
 * Returns why no run can start on these facts. 424, not retryable: the blueprint is no test spec [MA-022, MA-053]; the bank does not select adaptively
 * or has a Content member [MA-023]. 400: the bank belongs to another spec than the caller names [MA-054].
 */
export function contentDefect({ blueprint, bank }: Content, testSpecId: string): Problem | undefined {
  const ofSpec = (detail: string): Problem =>
    found('broken', operations.readTestSpec, blueprint.upstreamRequestId, detail);
  const ofBank = (detail: string): Problem =>
    found('broken', operations.validateAdaptiveBankIdentity, bank.upstreamRequestId, detail);
  if (blueprint.value.role !== 'spec')
    return ofSpec('The Content item does not have the role of a test spec.');
  if (bank.value.specId !== testSpecId)
    return mismatchProblem('/body/testBankId', 'The bank does not belong to this test spec.');
  if (bank.value.membershipRule !== 'qti_adaptive_selection')
    return ofBank('The bank’s membership rule is not qti_adaptive_selection.');
  return bank.value.data.length > 0 ? ofBank('An adaptive bank must not have Content members.') : undefined;
}
