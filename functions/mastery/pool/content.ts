import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { BankMembers, Blueprint } from '#shared/platform/owners/content.ts';
import type { Platform, UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { ask, found, mismatchProblem } from '../upstream/problems.ts';

type ContentIds = Pick<ExecutionPins, 'testSpecId' | 'testBankId'>;

/** What Content says of a test and its bank, and the pins of it. */
export interface Content {
  readonly blueprint: UpstreamAnswer<Blueprint>;
  readonly bank: UpstreamAnswer<BankMembers>;
  readonly pins: Pick<ExecutionPins, keyof ContentIds | 'testSpecHash' | 'testBankIdentityHash'>;
}

/**
 * Reads what Content says. `testSpecHash` is the SHA-256 over the RFC 8785 form of the complete blueprint: also of what Content adds tomorrow
 * [MA-022, MA-067]. `testBankIdentityHash` is that of the bank's identity, and not of its membership [MA-068].
 */
export async function readContent(
  platform: Platform,
  { testSpecId, testBankId }: ContentIds,
  use: 'start' | 'run',
): Promise<Result<Content, Problem>> {
  const [blueprint, bank] = await Promise.all([
    ask(platform, use, operations.readTestSpec, { path: { testSpecId } }),
    ask(platform, use, operations.validateAdaptiveBankIdentity, { path: { testBankId } }),
  ]);
  if (!blueprint.ok) return blueprint;
  if (!bank.ok) return bank;
  const { bankId, specId, role, membershipRule, data, updateVersion } = bank.value.value;
  const identity = { bankId, specId, role, membershipRule, contentMembers: data.length, updateVersion };
  return ok({
    blueprint: blueprint.value,
    bank: bank.value,
    pins: {
      testSpecId,
      testSpecHash: hashCanonical(blueprint.value.value),
      testBankId,
      testBankIdentityHash: hashCanonical(identity),
    },
  });
}

/**
 * Why no run can start on it: the blueprint is no test spec [MA-022, MA-053]; the bank does not select adaptively or has a Content
 * member [MA-023]: 424, not retryable. A spec that the caller paired wrongly with the bank is the caller's
 * 400 [MA-054].
 */
export function contentDefect(
  { blueprint, bank }: Content,
  asked: Pick<ContentIds, 'testSpecId'>,
): Problem | undefined {
  const ofSpec = (detail: string): Problem =>
    found('broken', operations.readTestSpec, blueprint.upstreamRequestId, detail);
  const ofBank = (detail: string): Problem =>
    found('broken', operations.validateAdaptiveBankIdentity, bank.upstreamRequestId, detail);
  if (blueprint.value.role !== 'spec')
    return ofSpec('The Content item does not have the role of a test spec.');
  if (bank.value.specId !== asked.testSpecId)
    return mismatchProblem('/body/testBankId', 'The bank does not belong to this test spec.');
  if (bank.value.membershipRule !== 'qti_adaptive_selection')
    return ofBank('The bank’s membership rule is not qti_adaptive_selection.');
  return bank.value.data.length > 0 ? ofBank('An adaptive bank must not have Content members.') : undefined;
}
