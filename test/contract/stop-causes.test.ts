import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DEFAULT_SEED_DIRECTORY } from '#local/seeds/load.ts';
import { receiptOf, SHORT_BANK, TIMED_BANK, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { seedVariant } from '#test/support/seed-variant.ts';
import { useTestStack } from '#test/support/stack.ts';

const FOLDER = 'fraction-subtraction';
const bankFile = z.object({ kcs: z.array(z.object({ name: z.string() })), items: z.array(z.unknown()) });
const { kcs, items } = bankFile.parse(
  JSON.parse(readFileSync(`${DEFAULT_SEED_DIRECTORY}/${FOLDER}/bank.json`, 'utf8')),
);
/** Nothing but what a test adds ends a run with these, not even its length. */
const endless = {
  kcCutScore: 0.5,
  confidenceThreshold: 0.999999,
  precisionTarget: 1e-9,
  maxItems: items.length + 5,
  timeBudgetSeconds: null,
  coverageFloors: [],
};
const MINIMUM_GAIN = 0.2;
const seed = seedVariant({
  [`${FOLDER}/policy.json`]: () => ({ ...endless, eligibilityRules: { minimumGain: MINIMUM_GAIN } }),
  [`${FOLDER}/policy-timed.json`]: () => ({ ...endless, eligibilityRules: {} }),
  [`${FOLDER}/policy-short.json`]: () => ({
    ...endless,
    eligibilityRules: { contentConstraints: kcs.map(({ name: kc }) => ({ kc, maxItems: 2 })) },
  }),
});

const stack = useTestStack({ seedDirectory: seed.directory });
const runs = useAdaptiveRuns(stack);
afterAll(() => {
  seed.remove();
});

/** Takes a run to its end with right answers; its record at Results and its receipt. */
async function takeRun(bank: string) {
  const run = await runs.toEnd(await runs.start(runs.startBody({ bank })).sendForRun());
  return { run, record: await runs.recordOf(run), receipt: receiptOf(stack, run.body.receiptId) };
}

describe('a run that no further item can be offered in', () => {
  it('ends as max_items when no item tells as much as the policy’s minimum gain, with every KC in scope measured [MA-114, MA-198]', async () => {
    const { run, record, receipt } = await takeRun(FOLDER);
    expect(run.body).toMatchObject({ status: 'completed', stopReason: 'max_items' });
    expect(record.administeredItemCount).toBeLessThan(items.length);
    expect(run.body.kcClassifications.every(({ evidenceItemRefs }) => evidenceItemRefs.length > 0)).toBe(
      true,
    );
    expect(record).toMatchObject({
      stopReason: 'max_items',
      metadata: { stopCause: 'no_informative_item' },
    });
    expect(receipt).toMatchObject({ stopCause: 'no_informative_item' });
  });

  it.each([
    [TIMED_BANK, 'pool_exhausted'],
    [SHORT_BANK, 'content_maxima'],
  ])('names what truly ended it: %s, %s [MA-088, MA-198]', async (bank, stopCause) => {
    const { run, record, receipt } = await takeRun(bank);
    expect(run.body).toMatchObject({ status: 'completed', stopReason: 'max_items' });
    expect(record).toMatchObject({ stopReason: 'max_items', metadata: { stopCause } });
    expect(receipt).toMatchObject({ stopCause });
    if (stopCause === 'pool_exhausted') expect(record.administeredItemCount).toBe(items.length);
  });
});
