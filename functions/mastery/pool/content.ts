import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { BankMembers, Blueprint } from '#shared/platform/owners/content.ts';
import type { Platform, UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { ask, found, mismatchProblem } from '../upstream/problems.ts';

type ContentIds = Pick<ExecutionPins, 'testSpecId' | 'testBankId'>;

/** Content's facts on a test and its bank, and their pins. */
export interface Content {
  readonly blueprint: UpstreamAnswer<Blueprint>;
  readonly bank: UpstreamAnswer<BankMembers>;
  readonly pins: Pick<ExecutionPins, keyof ContentIds | 'testSpecHash' | 'testBankIdentityHash'>;
}

/**
 * Reads Content's facts. `testSpecHash` is the SHA-256 over the RFC 8785 form of the complete blueprint, including members that Content may add
 * [MA-022, MA-067]. `testBankIdentityHash` covers the bank's identity, but not its membership [MA-068].
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
 * Returns why no run can start on these facts. 424, not retryable: the blueprint is no test spec [MA-022, MA-053]; the bank does not select adaptively
 * or has a Content member [MA-023]. 400: the bank belongs to another spec than the caller names [MA-054].
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
