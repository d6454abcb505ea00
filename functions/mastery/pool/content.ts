import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { BankMembers, Blueprint } from '#shared/platform/owners/content.ts';
import type { UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { invalidOwnerData, mismatchProblem } from '../upstream/problems.ts';

const MEMBERSHIP_RULE = 'qti_adaptive_selection';

/** SHA-256 over the RFC 8785 form of the complete projection: also of what Content adds tomorrow [MA-022, MA-067]. */
export function blueprintHash(blueprint: Blueprint): string {
  return hashCanonical(blueprint);
}

/** SHA-256 over the bank's identity, and not over its membership: ids, role, rule, how many Content members, version [MA-068]. */
export function bankIdentityHash(bank: BankMembers): string {
  return hashCanonical({
    bankId: bank.bankId,
    specId: bank.specId,
    role: bank.role,
    membershipRule: bank.membershipRule,
    contentMembers: bank.data.length,
    updateVersion: bank.updateVersion,
  });
}

/** `testSpecHash` of a blueprint that is the asked one and a test spec; 424, not retryable, otherwise [MA-022, MA-053]. */
export function checkBlueprint(
  answer: UpstreamAnswer<Blueprint>,
  asked: { readonly testSpecId: string },
): Result<string, Problem> {
  const broken = (detail: string): Result<never, Problem> =>
    err(invalidOwnerData(operations.readTestSpec, answer.upstreamRequestId, detail));
  if (answer.value.itemId !== asked.testSpecId)
    return broken('Content answered with another item than the test spec.');
  if (answer.value.role !== 'spec') return broken('The Content item does not have the role of a test spec.');
  return ok(blueprintHash(answer.value));
}

/**
 * `testBankIdentityHash` of a bank that is the asked one, belongs to the asked spec, selects adaptively and has no Content member
 * [MA-023, MA-054]. A spec that the caller paired with it wrongly is the caller's 400; a broken bank is 424, not retryable.
 */
export function checkBankIdentity(
  answer: UpstreamAnswer<BankMembers>,
  asked: { readonly testSpecId: string; readonly testBankId: string },
): Result<string, Problem> {
  const bank = answer.value;
  const broken = (detail: string): Result<never, Problem> =>
    err(invalidOwnerData(operations.validateAdaptiveBankIdentity, answer.upstreamRequestId, detail));
  if (bank.bankId !== asked.testBankId)
    return broken('Content answered with another bank than the asked one.');
  if (bank.specId !== asked.testSpecId) {
    return err(mismatchProblem('/body/testBankId', 'The bank does not belong to this test spec.'));
  }
  if (bank.membershipRule !== MEMBERSHIP_RULE)
    return broken('The bank’s membership rule is not qti_adaptive_selection.');
  if (bank.data.length > 0) return broken('An adaptive bank must not have Content members.');
  return ok(bankIdentityHash(bank));
}
