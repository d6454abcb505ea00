import type { Verdict } from '../conditions.ts';

/** The beginning of the sentence of each level. */
const sentences: Readonly<Record<Verdict['level'], string>> = {
  releasable: 'Releasable: no check of this command speaks against this calibration.',
  limited: 'Releasable with limitations',
  not_releasable: 'Not releasable',
};

/** Returns a verdict in one sentence, which its conditions follow. */
export function verdictSentence({ level, conditions }: Verdict): string {
  const { length } = conditions;
  if (length === 0) return sentences[level];
  return `${sentences[level]}, because of ${length} ${length === 1 ? 'condition' : 'conditions'}:`;
}
