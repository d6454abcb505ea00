import { describe, expect, it } from 'vitest';
import { readSelectionPolicy } from '#shared/contract/mastery/routes/read-selection-policy.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { receiptOf, useAdaptiveRuns, type RunGiven } from '#test/support/adaptive-run.ts';
import { callMastery } from '#test/support/mastery-call.ts';
import type { PolicyParameters } from '#test/support/released-records.ts';
import { useTestStack } from '#test/support/stack.ts';

const BANK = 'fraction-subtraction';
/** A probability that no answer holds by chance. */
const MARKED = 0.123456789;

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
/** By artifact version the QTI identifier. */
const identifiers = (): ReadonlyMap<string, string> =>
  new Map(runs.membersOf(BANK).map((one) => [one.artifactVersionId, one.qtiIdentifier]));
const itemOf = ({ body }: RunGiven): string => identifiers().get(body.offeredItem!.artifactVersionId)!;

type Exposure = SelectionPolicy['eligibilityRules']['exposure'];

/** A start under a policy without other rules. */
const bodyWith = (exposure: Exposure, beside?: PolicyParameters): Promise<StartAdaptiveRunRequest> =>
  runs.bodyUnder(
    { eligibilityRules: exposure === undefined ? {} : { exposure } },
    { bank: BANK, mode: 'owner_conformance' },
    beside,
  );

function sympsonHetter(table: Readonly<Record<string, number>>): Promise<StartAdaptiveRunRequest> {
  const text = canonicalJson(table);
  const hash = sha256Hex(text);
  return bodyWith({ method: 'sympson_hetter', tableSha256: hash }, { hash, text });
}

const everyItem = (probability: number): Record<string, number> =>
  Object.fromEntries([...identifiers().values()].map((id) => [id, probability]));

/** Starts a run and advances it twice, each request sent again: what a repetition answers is held against the first answer. */
async function taken(body: StartAdaptiveRunRequest): Promise<readonly string[]> {
  const items: string[] = [];
  let request = runs.start(body);
  for (;;) {
    const run = await request.sendForRun();
    const again = await request.sendForRun();
    expect(again.body.offeredItem).toEqual(run.body.offeredItem);
    expect(JSON.stringify([run.body, [...run.headers]])).not.toContain(String(MARKED));
    items.push(itemOf(run));
    if (items.length === 3) return items;
    const inspected = await runs.playAndInspect(run.body);
    request = runs.advance(run.body.continuationToken, inspected.etag);
    // Another container works the rest out anew.
    await stack.killWorkers();
  }
}

describe('exposure control', () => {
  it('starts, advances and repeats a run under sympson_hetter by its table, of which nothing is returned and the receipt counts what the pool lacks [MA-088, MA-113]', async () => {
    const best = itemOf(await runs.start(await bodyWith(undefined)).sendForRun());
    const barred = await sympsonHetter({ ...everyItem(1), [best]: 0, 'no item of the bank': MARKED });
    const items = await taken(barred);
    expect(new Set(items).size).toBe(3);
    expect(items).not.toContain(best);
    const { body } = await runs.start(barred).sendForRun();
    expect(receiptOf(stack, body.receiptId)).toMatchObject({ code: 'RUN_RECEIPT', absentItems: 1 });
    // When none passes the best one is taken.
    const [first] = await taken(await sympsonHetter(everyItem(0)));
    expect(first).toBe(best);
    const path = { policyId: barred.selectionPolicyId };
    const read = await callMastery(stack, readSelectionPolicy, { path });
    expect(read.status).toBe(200);
    expect(read.text).toContain('"tableSha256"');
    expect(read.text).not.toContain(String(MARKED));
  });
});
