import { compileModel, estimate, prepareSelection, selectItem } from '#functions/mastery/engine/index.ts';
import type {
  CompiledModel,
  Constraints,
  Estimate,
  ModelParameters,
  Outcome,
  PoolItem,
  SelectionContext,
} from '#functions/mastery/engine/index.ts';
import { kcGuid, makeBank, makeRandom, type BankSize } from '../bank.ts';
import type { Timed } from '../measure.ts';

/** The bank that the aims speak of. */
export const REFERENCE: BankSize = { items: 10_000, kcs: 500, nodes: 61 };
/** A bank for one small round. */
const QUICK: BankSize = { ...REFERENCE, items: 2_000 };
export const RUN_LENGTH = 60;
const STANDARDS = 40;

export const referenceOf = (isQuick: boolean): BankSize => (isQuick ? QUICK : REFERENCE);

export interface Bank {
  readonly model: CompiledModel;
  readonly pool: readonly PoolItem[];
}

export function bankOf(size: BankSize): Bank {
  return bankWith(makeBank(size), size.prior === undefined ? undefined : 'ho-cdm-block-1');
}

export function bankWith(parameters: ModelParameters, runtimeVersion?: string): Bank {
  const compiled = compileModel(parameters, runtimeVersion);
  if (!compiled.ok)
    throw new Error(compiled.error.map(({ pointer, message }) => `${pointer} ${message}`).join('\n'));
  const model = compiled.value;
  return {
    model,
    pool: model.itemIds.map((artifactVersionId, item) => ({
      item,
      artifactVersionId,
      qtiIdentifier: qtiIdentifier(item),
      tags: [...(model.itemKcs[item] ?? []).map(kcGuid), standard(item % STANDARDS)],
      accessibility: [],
    })),
  };
}

export const standard = (n: number): string => `standard-${n}`;
export const qtiIdentifier = (item: number): string => `qti-${item}`;

export function contextOf({ model, pool }: Bank, policy: Partial<Constraints> = {}): SelectionContext {
  return prepareSelection(model, pool, {
    scope: [...model.kcGuids.keys()],
    maxItems: RUN_LENGTH,
    requiredAccessibility: [],
    enemySets: [],
    excludedItems: [],
    minima: [],
    maxima: [],
    ...policy,
  });
}

export const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

/** A place in a run, with the evidence up to there. */
export interface Position {
  readonly outcomes: readonly Outcome[];
  readonly posterior: Estimate;
  readonly runSeed: string;
}

/** Every place of some made-up runs: the engine chooses, and 60 % of the answers are correct. */
export function positionsOf(context: SelectionContext, runs: number, length = RUN_LENGTH): Position[] {
  return range(runs).flatMap((run) => {
    const random = makeRandom(run + 1);
    const runSeed = `run-${run}`;
    const positions: Position[] = [];
    let outcomes: readonly Outcome[] = [];
    while (outcomes.length < length) {
      const position = { outcomes, posterior: estimate(context.model, outcomes), runSeed };
      positions.push(position);
      const selection = select(context, position);
      // Otherwise the time of a choice would be that of finding none.
      if (typeof selection === 'string') throw new Error(`after ${outcomes.length} answers: ${selection}`);
      outcomes = [...outcomes, { item: selection.item, correct: random() < 0.6 }];
    }
    return positions;
  });
}

export function select(
  context: SelectionContext,
  { outcomes, posterior, runSeed }: Position,
): ReturnType<typeof selectItem> {
  return selectItem(context, posterior, {
    rule: { kcCutScore: 0.5, confidenceThreshold: 0.9, numericPrecision: 12 },
    used: outcomes.map(({ item }) => item),
    runSeed,
    sequence: outcomes.length + 1,
    met: [],
    // For `unsettled_components`: as in the middle of a long run.
    unsettled: context.constraints.scope.filter((kc) => kc % 2 === 0),
  });
}

/** The place after so many answers, in three runs. */
export function ends(context: SelectionContext, length: number): Position[] {
  return positionsOf(context, 3, length + 1).filter(({ outcomes }) => outcomes.length === length);
}

/** Selections at every place of a run. */
export function choices(size: BankSize): Timed['calls'] {
  const context = contextOf(bankOf(size));
  return positionsOf(context, 1).map((position) => () => select(context, position));
}
