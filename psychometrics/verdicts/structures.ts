/** Four structures of knowledge, as studies whose truth is known: what the test of structure must accept or find. */
import { logistic, uniformFrom } from '#psychometrics/calibrate/numbers.ts';
import { normal } from '#psychometrics/recovery/learners.ts';
import type { StudyTables } from '#tools/terminal/study/tables.ts';
import { simulateStudy, type PatternSource } from './simulate.ts';

/** A study with the code of the condition that it must meet; undefined where it must meet none of structure. */
export interface StructureStudy {
  readonly tables: (seed: number) => StudyTables;
  readonly expected: 'prerequisites' | 'two_abilities' | undefined;
  /** The least share of studies that must be right. */
  readonly aim: number;
}

const LEARNERS = 2000;
/** Items of these tests. */
const ITEMS = 28;

/** Returns a Q-matrix of 28 items: for each KC three that measure only it, then pairs of KCs, near ones first. */
function qMatrix(kcs: number): number[][] {
  const alone = Array.from({ length: 3 * kcs }, (_, n) => [n % kcs]);
  const pairs = Array.from({ length: kcs - 1 }, (_, distance) =>
    Array.from({ length: kcs - 1 - distance }, (_unused, k) => [k, k + 1 + distance]),
  ).flat();
  return [...alone, ...pairs].slice(0, ITEMS);
}

/** The correlation of two abilities. */
const CORRELATION = 0.4;

/** Returns curves of slope 1 to 2.5 over the ability of each KC's part; a KC that follows another one is mastered only after it. */
function curves(
  kcs: number,
  uniform: () => number,
  { abilityOf = () => 0, follows = () => false }: Relations,
): PatternSource {
  const drawn = Array.from({ length: kcs }, (_, k) => ({
    slope: 1 + 1.5 * uniform(),
    // A chain that ends with a KC that few learners have shows little.
    location: follows(k) ? -1.5 + uniform() : 2 * uniform() - 1,
  }));
  return (draw) => {
    const first = normal(draw);
    const second = CORRELATION * first + Math.sqrt(1 - CORRELATION * CORRELATION) * normal(draw);
    return drawn.reduce((pattern, { slope, location }, k) => {
      const ability = abilityOf(k) === 0 ? first : second;
      const isMastered = draw() < logistic(slope * (ability - location));
      const isOpen = !follows(k) || (pattern >>> (k - 1)) & 1;
      return isOpen && isMastered ? pattern | (1 << k) : pattern;
    }, 0);
  };
}

interface Relations {
  readonly abilityOf?: (k: number) => number;
  readonly follows?: (k: number) => boolean;
}

function study(kcs: number, relations: Relations): StructureStudy['tables'] {
  return (seed) =>
    simulateStudy({
      learners: LEARNERS,
      kcs,
      kcsOf: qMatrix(kcs),
      patterns: curves(kcs, uniformFrom(seed + 7919), relations),
      seed,
    });
}

/** Six KCs under one ability, two chains of three, six KCs under two abilities, and a chain of five. */
export const structureStudies: Readonly<Record<string, StructureStudy>> = {
  one_ability: { tables: study(6, {}), expected: undefined, aim: 0.98 },
  two_chains: { tables: study(6, { follows: (k) => k % 3 !== 0 }), expected: 'prerequisites', aim: 1 },
  two_abilities: {
    tables: study(6, { abilityOf: (k) => Number(k >= 3) }),
    expected: 'two_abilities',
    aim: 0.96,
  },
  one_chain: { tables: study(5, { follows: (k) => k > 0 }), expected: 'prerequisites', aim: 0.96 },
};
