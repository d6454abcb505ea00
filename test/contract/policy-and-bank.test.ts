import { describe, expect, it } from 'vitest';
import { receiptOf, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { callMastery, refusalOf } from '#test/support/mastery-call.ts';
import type { PolicyChange } from '#test/support/released-records.ts';
import { simulate, simulationBody } from '#test/support/score-recovery.ts';
import { useTestStack } from '#test/support/stack.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';

const BANK = 'fraction-subtraction';
/** What no pool has. */
const ABSENT = '00000000-0000-4000-8000-00000000abcd';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);

const asked = { bank: BANK, mode: 'owner_conformance' } as const;
const bodyUnder = (change: PolicyChange) => runs.bodyUnder(change, asked);
const floor = (caseCompetencyGuid: string, minimumEvidenceItems = 0): object => ({
  caseCompetencyGuid,
  minimumEvidenceItems,
});

/** The pool's members, as Bank has them. */
const members = () => runs.membersOf(BANK);

describe('a policy that counts on what the pool does not have', () => {
  it.each<[string, (kc: string, standard: string) => PolicyChange]>([
    ['a component in scope', (kc) => ({ eligibilityRules: { kcScope: [ABSENT, kc] } })],
    ['a standard in scope', (_, standard) => ({ eligibilityRules: { kcScope: [standard] } })],
    ['a floor', () => ({ coverageFloors: [floor(ABSENT)] as PolicyChange['coverageFloors'] & object })],
    ['a minimum', () => ({ eligibilityRules: { contentConstraints: { [ABSENT]: { minItems: 1 } } } })],
  ])('as %s is 400 at the policy, for a start and for a simulation', async (_, change) => {
    const [first] = members();
    const body = await bodyUnder(change(first!.kcGuids[0]!, first!.caseGuids[0]!));
    const { selectionPolicyId } = body;
    const started = await callMastery(stack, startAdaptiveRun, { body });
    const simulated = await simulate(stack, {
      body: { ...simulationBody(stack, { bank: BANK }), selectionPolicyId },
    });
    for (const reply of [started, simulated]) {
      expect(refusalOf(reply)).toBe('400 invalid-request /body/selectionPolicyId mismatch');
      expect(reply.text).not.toContain(ABSENT);
    }
  });

  it('is taken when it names absent items, and the receipt counts them [MA-088]', async () => {
    const policy = await bodyUnder({
      eligibilityRules: {
        excludedItems: ['absent 1'],
        enemySets: [['absent 1', 'absent 2']],
        contentConstraints: { [ABSENT]: { maxItems: 1 } },
      },
    });
    const { body } = await runs.start(policy).sendForRun();
    expect(receiptOf(stack, body.receiptId)).toMatchObject({ code: 'RUN_RECEIPT', absentItems: 2 });
  });
});

describe('the slots of the blueprint', () => {
  /** The items of a run of three that answers everything correctly, under a blueprint that has three slots for one GUID. */
  async function itemsFor(guid: string, blueprintCoverage: 'slots' | 'none' | undefined): Promise<string[]> {
    const body = await bodyUnder({
      maxItems: 3,
      confidenceThreshold: 1,
      eligibilityRules: blueprintCoverage === undefined ? {} : { blueprintCoverage },
    });
    const slots = [1, 2, 3].map((n) => ({ slotId: `slot-${n}`, caseGuids: [guid] }));
    const restore = await runs.change({
      entity: 'content.blueprint',
      id: body.testSpecId,
      changes: [{ pointer: '/slots', value: slots }],
    });
    try {
      const items: string[] = [];
      let run = await runs.start(body).sendForRun();
      while (run.body.offeredItem !== null) {
        items.push(run.body.offeredItem.artifactVersionId);
        run = await runs.answer(run);
      }
      return items;
    } finally {
      await restore();
    }
  }
  it('are minima where the policy says so, and nothing where it does not', async () => {
    const all = members();
    const bearing = (items: readonly string[], guid: string): number =>
      all.filter(
        ({ artifactVersionId, kcGuids, caseGuids }) =>
          items.includes(artifactVersionId) && [...kcGuids, ...caseGuids].includes(guid),
      ).length;
    const everyItem = all.map(({ artifactVersionId }) => artifactVersionId);
    const free = await itemsFor(all[0]!.kcGuids[0]!, undefined);
    // One that the information alone does not choose three times, and that enough items have.
    const rare = all
      .flatMap(({ kcGuids }) => kcGuids)
      .find((guid) => bearing(free, guid) < 3 && bearing(everyItem, guid) >= 3)!;
    expect(bearing(await itemsFor(rare, undefined), rare)).toBeLessThan(3);
    expect(bearing(await itemsFor(rare, 'none'), rare)).toBeLessThan(3);
    expect(bearing(await itemsFor(rare, 'slots'), rare)).toBe(3);
  });

  it('that the pool cannot fill are 400 at the policy that counts on them', async () => {
    const body = await bodyUnder({ eligibilityRules: { blueprintCoverage: 'slots' } });
    const restore = await runs.change({
      entity: 'content.blueprint',
      id: body.testSpecId,
      changes: [{ pointer: '/slots', value: [{ slotId: 'slot-1', caseGuids: [ABSENT] }] }],
    });
    const reply = await callMastery(stack, startAdaptiveRun, { body });
    await restore();
    expect(refusalOf(reply)).toBe('400 invalid-request /body/selectionPolicyId mismatch');
  });
});
