import type { ModelParameters, PriorBlock } from '#functions/mastery/engine/index.ts';

/** What a made-up bank is made of. */
export interface BankSize {
  readonly items: number;
  readonly kcs: number;
  readonly nodes: number;
  /** All items guess and slip alike: only the posterior distinguishes them, the hardest case for a choice among them. */
  readonly alike?: boolean;
  /** For the kernel that takes blocks: chains of 5 KCs, strands of 10 with an ability of their own, or no block at all. */
  readonly prior?: 'chains' | 'strands' | 'curves';
}

/** How many KCs a chain of `prior` has. */
const CHAIN = 5;

/** KCs that belong together: an item with several KCs takes them from one strand, as in real curricula. */
const STRAND = 10;

/**
 * A made-up bank: 60 % of the items measure one KC, 30 % two, 10 % three; every fifth has a saturated table (every KC adds something), the
 * others are DINA. The same size gives the same bank.
 */
export function makeBank({ items, kcs, nodes, alike = false, prior }: BankSize): ModelParameters {
  const random = makeRandom(20_260_301);
  const between = (low: number, high: number): number => low + (high - low) * random();
  return {
    theta: { nodes, min: -6, max: 6, mean: 0, sd: 1 },
    kcs: Array.from({ length: kcs }, (_, k) => ({
      guid: kcGuid(k),
      slope: between(0.8, 2.5),
      location: between(-2, 2),
    })),
    items: Array.from({ length: items }, (_, j) => {
      const share = random();
      const wanted = Math.min(kcs, share < 0.6 ? 1 : share < 0.9 ? 2 : 3);
      const start = STRAND * Math.floor((random() * kcs) / STRAND);
      const strand = Array.from({ length: Math.min(STRAND, kcs - start) }, (_, k) => start + k);
      const own = Array.from({ length: Math.min(wanted, strand.length) }, () => {
        const [kc = start] = strand.splice(Math.floor(random() * strand.length), 1);
        return kc;
      });
      const guess = alike ? 0.2 : between(0.05, 0.3);
      const success = alike ? 0.9 : between(0.75, 0.97);
      return {
        artifactVersionId: `item-${j}`,
        kcs: own.map(kcGuid),
        probabilities: j % 5 === 0 ? additive(own.length, guess, success) : dina(own.length, guess, success),
      };
    }),
    scale: Array.from({ length: nodes }, (_, g) => 500 + 100 * (-6 + (12 * g) / (nodes - 1))),
    ...(prior === undefined || prior === 'curves' ? {} : { blocks: blocksOf(prior, kcs) }),
  };
}

function blocksOf(prior: 'chains' | 'strands', kcs: number): readonly PriorBlock[] {
  const length = prior === 'chains' ? CHAIN : STRAND;
  return Array.from({ length: Math.floor(kcs / length) }, (_, b) => {
    const own = Array.from({ length }, (__, i) => kcGuid(b * length + i));
    return prior === 'chains'
      ? { form: 'hierarchy', kcs: own, prerequisites: own.map((__, i) => own.slice(Math.max(0, i - 1), i)) }
      : { form: 'strand', kcs: own, correlation: 0.7 };
  });
}

export function kcGuid(kc: number): string {
  return `kc-${kc}`;
}

function dina(kcCount: number, guess: number, success: number): number[] {
  const size = 2 ** kcCount;
  return Array.from({ length: size }, (_, pattern) => (pattern === size - 1 ? success : guess));
}

function additive(kcCount: number, guess: number, success: number): number[] {
  return Array.from({ length: 2 ** kcCount }, (_, pattern) => {
    const mastered = pattern.toString(2).replaceAll('0', '').length;
    return guess + ((success - guess) * mastered) / kcCount;
  });
}

/** Numbers in [0, 1) that are the same on every machine (mulberry32). */
export function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function uuid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(16 * random()).toString(16)).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
