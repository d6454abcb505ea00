import { describe, expect, it } from 'vitest';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { deriveIdentity } from './identity.ts';

const keys = createMemoryKeyRing();

interface Start {
  readonly tenantId?: string;
  readonly operationId?: string;
  readonly learner?: string | undefined;
  readonly bank?: string;
}

function identityOf(
  priorUse: SelectionPolicy['eligibilityRules']['priorUse'],
  start: Start = {},
): ReturnType<typeof deriveIdentity> {
  const { tenantId = 'tenant-1', operationId = 'op_1', bank = 'bank-1' } = start;
  const learner = 'learner' in start ? start.learner : 'learner-1';
  return deriveIdentity(
    keys,
    tenantId,
    { operationId, createdAt: 1_000 },
    { resultsStudentId: learner, testBankId: bank },
    { eligibilityRules: priorUse === undefined ? {} : { priorUse } },
  );
}

const otherRun = { operationId: 'op_2' };

describe('the pseudonym of a candidate [MA-029]', () => {
  it.each([undefined, 'allow'] as const)(
    'is another one in each run of a learner under %s',
    async (priorUse) => {
      const first = await identityOf(priorUse);
      expect((await identityOf(priorUse)).candidateRef).toBe(first.candidateRef);
      expect((await identityOf(priorUse, otherRun)).candidateRef).not.toBe(first.candidateRef);
    },
  );

  it.each(['avoid', 'exclude'] as const)(
    'is one for all runs of a learner over a bank under %s, and of no one else',
    async (priorUse) => {
      const { candidateRef } = await identityOf(priorUse);
      expect((await identityOf(priorUse, otherRun)).candidateRef).toBe(candidateRef);
      for (const other of [{ learner: 'learner-2' }, { bank: 'bank-2' }, { tenantId: 'tenant-2' }])
        expect((await identityOf(priorUse, other)).candidateRef).not.toBe(candidateRef);
    },
  );

  it('is another one in each conformance run, whatever the policy', async () => {
    const run = await identityOf('exclude', { learner: undefined });
    const again = await identityOf('exclude', { learner: undefined, ...otherRun });
    expect(again.candidateRef).not.toBe(run.candidateRef);
  });
});

it('a start finds its run again, and another one shares neither tag nor seed with it', async () => {
  const run = await identityOf('avoid');
  expect(await identityOf('avoid')).toEqual(run);
  const other = await identityOf('avoid', otherRun);
  expect(new Set([run.runTag, run.runSeed, other.runTag, other.runSeed]).size).toBe(4);
  expect(run.startedAt).toBe(1_000);
});
