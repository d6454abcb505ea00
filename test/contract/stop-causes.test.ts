import { expect, it } from 'vitest';
import { receiptOf, SHORT_BANK, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { PolicyChange } from '#test/support/released-records.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
const members = () => runs.membersOf(SHORT_BANK);
const atMostTwoPerComponent = () =>
  Object.fromEntries(members().flatMap(({ kcGuids }) => kcGuids.map((guid) => [guid, { maxItems: 2 }])));

/** A policy under which nothing but the rules ends a run, not even its length. */
const endless = (): PolicyChange => ({
  ...{ kcCutScore: 0.5, confidenceThreshold: 0.999999, precisionTarget: 1e-9 },
  ...{ maxItems: members().length + 5, timeBudgetSeconds: null, coverageFloors: [] },
});

it.each<[string, () => PolicyChange['eligibilityRules']]>([
  ['no_informative_item', () => ({ minimumGain: 0.2 })],
  ['no_deciding_item', () => ({ minimumDecisionGain: 0.2 })],
  ['pool_exhausted', () => ({})],
  ['content_maxima', () => ({ contentConstraints: atMostTwoPerComponent() })],
])(
  'a run that no further item can be offered in ends as max_items, and its record and receipt name the true cause: %s [MA-088, MA-114, MA-198]',
  async (stopCause, rules) => {
    const body = await runs.bodyUnder({ ...endless(), eligibilityRules: rules()! });
    const run = await runs.toEnd(await runs.start(body).sendForRun());
    expect(run.body).toMatchObject({ status: 'completed', stopReason: 'max_items' });
    const record = await runs.recordOf(run);
    expect(record).toMatchObject({ stopReason: 'max_items', metadata: { stopCause } });
    expect(receiptOf(stack, run.body.receiptId)).toMatchObject({ stopCause });
    expect(record.administeredItemCount === members().length).toBe(stopCause === 'pool_exhausted');
    // A gain that is too small ends no run before every KC in scope is measured.
    if (stopCause === 'no_informative_item' || stopCause === 'no_deciding_item')
      for (const { evidenceItemRefs } of run.body.kcClassifications) expect(evidenceItemRefs).not.toEqual([]);
  },
);

it('under the policy of the fraction bank, a learner whose answers are all wrong is not asked all 20 items [MA-114, MA-198]', async () => {
  let run = await runs.start(runs.startBody({ bank: 'fraction-subtraction' })).sendForRun();
  while (run.body.status === 'in_progress') run = await runs.answer(run, 0);
  expect(run.body).toMatchObject({ status: 'completed', stopReason: 'max_items' });
  const { administeredItemCount, metadata } = await runs.recordOf(run);
  expect(metadata).toEqual({ stopCause: 'no_deciding_item' });
  expect(administeredItemCount).toBeLessThan(20);
});
