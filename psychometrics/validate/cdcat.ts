import {
  compileModel,
  prepareSelection,
  simulatedRunSeed,
  simulateRun,
} from '#functions/mastery/engine/index.ts';
import type { CompiledModel } from '#functions/mastery/engine/index.ts';
import type { Design } from './reference.ts';

/** The result of a test for the learners of a design. */
export interface DesignFigures {
  /** Share of learners whose attributes are all recovered. */
  readonly pattern: number;
  /** Share of learners × attributes that are recovered. */
  readonly attribute: number;
  /** Mean number of items. */
  readonly length: number;
}

/** cdCAT assumes independent attributes, each mastered with probability 1/2, which a slope this small yields, or a table of equal probabilities. */
const NO_SLOPE = 1e-300;
const CUT = 0.5;
const PRECISION = 12;

/**
 * Gives the engine's test to every learner of a design, by the same code as a learner's run. It ends when each attribute's posterior has at least
 * this confidence, or after this many items; answers are the design's own.
 * @param prior `curves`: the frozen kernel; `table`: the kernel that takes blocks, with all attributes in one
 */
export function sitDesign(
  design: Design,
  prior: 'curves' | 'table',
  confidence: number,
  maxItems: number,
): DesignFigures {
  const model = modelOf(design, prior);
  const context = prepareSelection(
    model,
    model.itemIds.map((id, item) => ({
      item,
      artifactVersionId: id,
      qtiIdentifier: id,
      tags: [],
      accessibility: [],
    })),
    {
      scope: [...model.kcGuids.keys()],
      maxItems,
      requiredAccessibility: [],
      enemySets: [],
      excludedItems: [],
      minima: [],
      maxima: [],
    },
  );
  const rules = {
    kcCutScore: CUT,
    confidenceThreshold: confidence,
    numericPrecision: PRECISION,
    precisionTarget: 0,
    coverageFloors: [],
    timeBudgetSeconds: null,
  };
  let patterns = 0;
  let attributes = 0;
  let items = 0;
  design.alpha.forEach((known, n) => {
    const answers = design.resp[n] ?? [];
    const { evidence } = simulateRun(
      context,
      rules,
      simulatedRunSeed(`learner ${n}`),
      (item) => answers[item] === 1,
    );
    const right = known.filter(
      (mastered, kc) => (evidence.estimate.kcPosteriors[kc] ?? NaN) >= CUT === (mastered === 1),
    );
    attributes += right.length / known.length;
    if (right.length === known.length) patterns += 1;
    items += evidence.outcomes.length;
  });
  const learners = design.alpha.length;
  return { pattern: patterns / learners, attribute: attributes / learners, length: items / learners };
}

function modelOf({ Q: q, par }: Design, prior: 'curves' | 'table'): CompiledModel {
  const names = (q[0] ?? []).map((_, k) => `attribute-${k}`);
  const patterns = 2 ** names.length;
  const block = {
    form: 'table' as const,
    kcs: names,
    probabilities: Array.from({ length: 3 }, () => Array.from({ length: patterns }, () => 1 / patterns)),
  };
  const model = compileModel({
    theta: { nodes: 3, min: -1, max: 1, mean: 0, sd: 1 },
    kcs: names.map((guid) => (prior === 'table' ? { guid } : { guid, slope: NO_SLOPE, location: 0 })),
    items: q.map((row, j) => {
      const kcs = row.flatMap((needed, k) => (needed === 1 ? [`attribute-${k}`] : []));
      const [guess = NaN, slip = NaN] = par[j] ?? [];
      const all = 2 ** kcs.length - 1;
      return {
        artifactVersionId: `item-${j}`,
        kcs,
        probabilities: Array.from({ length: all + 1 }, (_, pattern) => (pattern === all ? 1 - slip : guess)),
      };
    }),
    scale: [0, 1, 2],
    blocks: prior === 'table' ? [block] : undefined,
  });
  if (!model.ok)
    throw new Error(model.error.map(({ pointer, message }) => `${pointer} ${message}`).join('\n'));
  return model.value;
}
