import type { State, Tone } from './document.ts';
import { knownState, type RowState } from './rows.ts';
import type { Speaker } from './speaker.ts';

const tones: Readonly<Record<RowState, Tone>> = {
  mastered: 'good',
  gap: 'bad',
  not_yet: 'open',
  insufficient_evidence: 'open',
  unknown: 'open',
};

/** Returns the words of a state of a standard or component, which are the same wherever it is shown. */
export function stateOf({ texts }: Speaker, row: { readonly state: string }): State {
  const state = knownState(row);
  const words: Readonly<Record<RowState, string>> = {
    mastered: texts.mastered,
    gap: texts.gap,
    not_yet: texts.notSettled,
    insufficient_evidence: texts.tooLittle,
    unknown: texts.unknownValue,
  };
  return { tone: tones[state], text: words[state] };
}

/** Returns how many of each state there are, in words: "3 gaps, 2 mastered, 3 not settled". Empty if there is none. */
export function countsOf({ texts, list }: Speaker, rows: readonly { readonly state: string }[]): string {
  const states = rows.map(knownState);
  const count = (...wanted: readonly RowState[]): number =>
    states.filter((state) => wanted.includes(state)).length;
  const { counts } = texts;
  const parts = [
    [count('gap'), counts.gap],
    [count('mastered'), counts.mastered],
    [count('not_yet', 'insufficient_evidence'), counts.notSettled],
    [count('unknown'), counts.unknownState],
  ] as const;
  return list(parts.filter(([n]) => n > 0).map(([n, words]) => words(n)));
}

/** The rule by which a probability becomes a state. */
export interface Rule {
  readonly cutScore: number;
  readonly confidence: number;
}

/** Returns from where on a component is mastered, and up to where it is a gap. In between it is not settled. */
export function zonesOf({ cutScore, confidence }: Rule): {
  readonly mastered: number;
  readonly gap: number;
} {
  // Twelve digits: one minus 0.8 is not 0.2.
  const rest = Math.round((1 - confidence) * 1e12) / 1e12;
  return { mastered: Math.max(cutScore, confidence), gap: Math.min(cutScore, rest) };
}

/** Returns the one sentence of a rule: "mastered from 80 %, gap up to 20 %, between: not settled". */
export function ruleText({ texts, percent }: Pick<Speaker, 'texts' | 'percent'>, rule: Rule): string {
  const { mastered, gap } = zonesOf(rule);
  // Up to the cut score itself it is no gap.
  const words = gap === rule.cutScore ? texts.gapBelow : texts.gapUpTo;
  return texts.rule(percent(mastered), words(percent(gap)));
}
