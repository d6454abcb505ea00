import type * as z from 'zod';
import { simulateScoreRecovery } from '#shared/contract/mastery/routes/simulate-score-recovery.ts';
import { scoreRecoverySimulation } from '#shared/contract/mastery/score-recovery.ts';
import type { ScoreRecoverySimulation, simulationRequest } from '#shared/contract/mastery/score-recovery.ts';
import { SHORT_BANK } from './adaptive-run.ts';
import { callMastery } from './mastery-call.ts';
import type { GatewayCall, GatewayReply } from './gateway-call.ts';
import type { TestStack } from './stack.ts';

export type SimulationBody = z.infer<typeof simulationRequest>;

/** What a simulation over one of a tenant's banks is asked with: two simulated learners, of whom one has mastered nothing and one all. */
export function simulationBody(
  stack: Pick<TestStack, 'seededTenants'>,
  { tenantId = 'tenant-aurora', bank = SHORT_BANK }: { tenantId?: string; bank?: string } = {},
): SimulationBody {
  const fixture = stack.seededTenants
    .get(tenantId)!
    .fixtures.mastery.banks.find(({ name }) => name === bank)!;
  const { selectionPolicyId, scaleCalibrationId, testSpecId, testBankId, bankOperationId, kcGuids } = fixture;
  return {
    selectionPolicyId,
    scaleCalibrationId,
    testSpecId,
    testBankId,
    bankOperationId,
    profiles: [profile('synthetic:novice', kcGuids, () => 0), profile('synthetic:expert', kcGuids, () => 1)],
  };
}

/** A simulated learner with a probability for each of the knowledge components. */
export function profile(
  syntheticProfileId: string,
  kcGuids: readonly string[],
  probability: (kc: number) => number,
): SimulationBody['profiles'][number] {
  return {
    syntheticProfileId,
    knownMastery: Object.fromEntries(kcGuids.map((guid, kc) => [guid, probability(kc)])),
  };
}

/** Sends a simulation. */
export function simulate(
  stack: Pick<TestStack, 'urls' | 'tokenFor'>,
  call: GatewayCall,
): Promise<GatewayReply> {
  return callMastery(stack, simulateScoreRecovery, call);
}

/** The simulation of an answer; fails the test for a problem, and shows it. */
export function simulationIn({ status, text }: GatewayReply): ScoreRecoverySimulation {
  if (status !== 200) throw new Error(`a simulation was expected and not ${status} ${text}`);
  return scoreRecoverySimulation.parse(JSON.parse(text));
}
