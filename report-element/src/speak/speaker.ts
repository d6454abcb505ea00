import type { Knowledge, ScaleEnds } from '../data.ts';
import { textsFor } from '../texts/catalogue.ts';
import type { Texts } from '../texts/en.ts';

/** The values that an enumeration of the client lists, without those of a later version. */
export type Listed<T> = T extends string ? (string extends T ? never : T) : never;

/** Returns the value of a table for a member of an enumeration; `otherwise` for one of a later version. */
export function ofListed<Key extends string, Value>(
  table: Readonly<Record<Key, Value>>,
  key: string,
  otherwise: Value,
): Value {
  return new Map<string, Value>(Object.entries(table)).get(key) ?? otherwise;
}

/** What all sentences are made with: the texts, the forms of numbers and days, and what the embedding product knows. */
export interface Speaker extends Pick<Knowledge, 'precedes' | 'hrefOf'> {
  readonly texts: Texts;
  /** The language of the texts (BCP 47). */
  readonly language: string;
  /** The name of an id, or undefined: an id is never shown instead. */
  readonly nameOf: (id: string) => string | undefined;
  readonly learnerOf: (id: string) => string;
  readonly learner: string | undefined;
  readonly scaleOf: (id: string | null) => ScaleEnds | undefined;
  /** As many digits as a reader can use. */
  readonly number: (value: number) => string;
  /** Numbers that are compared with each other: none becomes equal to another one by rounding. */
  readonly numbers: <const Values extends readonly number[]>(
    values: Values,
  ) => { readonly [At in keyof Values]: string };
  readonly percent: (share: number) => string;
  /**
   * A probability never becomes a certainty by rounding.
   * @param limits what it is compared with: no rounding takes it to another side of one
   */
  readonly probability: (share: number, limits?: readonly number[]) => string;
  readonly day: (instant: string | number) => string;
  readonly shortDay: (instant: number) => string;
  readonly time: (instant: string) => string;
  readonly list: (parts: readonly string[]) => string;
}

export function createSpeaker(language: string, knowledge: Knowledge): Speaker {
  const { texts, language: tag } = textsFor(language);
  const { names, precedes, learner, scales, hrefOf } = knowledge;
  const known: ReadonlyMap<string, string> = names instanceof Map ? names : new Map(Object.entries(names));
  const ends = new Map(Object.entries(scales));
  const digits = Array.from(
    { length: 13 },
    (_, maximumFractionDigits) => new Intl.NumberFormat(tag, { maximumFractionDigits }),
  );
  const rounded = (value: number, more: number): string => {
    const size = Math.abs(value);
    return (digits[(size < 1 ? 3 : size < 10 ? 2 : 1) + more] ?? percents).format(value);
  };
  const percents = new Intl.NumberFormat(tag, { maximumSignificantDigits: 12 });
  const percent = (share: number): string => `${percents.format(share * 100)} %`;
  const days = new Intl.DateTimeFormat(tag, { dateStyle: 'long' });
  const shortDays = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short', year: 'numeric' });
  const times = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeStyle: 'short' });
  const lists = new Intl.ListFormat(tag, { type: 'unit', style: 'short' });
  const nameOf = (id: string): string | undefined => known.get(id);
  return {
    texts,
    language: tag,
    precedes,
    hrefOf,
    learner,
    scaleOf(id) {
      const scale = id === null ? undefined : ends.get(id);
      return scale !== undefined && scale.low < scale.high ? scale : undefined;
    },
    nameOf,
    learnerOf: (id) => learner ?? nameOf(id) ?? texts.thisLearner,
    number: (value) => rounded(value, 0),
    numbers<const Values extends readonly number[]>(values: Values) {
      const textsWith = (more: number) => values.map((value) => rounded(value, more));
      const different = new Set(values).size;
      let more = 0;
      while (more < 9 && new Set(textsWith(more)).size < different) more += 1;
      // SAFETY: `map` keeps the length.
      return textsWith(more) as { readonly [At in keyof Values]: string };
    },
    percent,
    probability(share, limits = []) {
      const keepsSides = (one: number): boolean =>
        limits.every((limit) => Math.sign(one - limit) === Math.sign(share - limit));
      const candidates = [2, 3, 4, 5, 6, 7, 8, 9].map(
        (power) => Math.round(share * 10 ** power) / 10 ** power,
      );
      const shown = candidates.find(keepsSides) ?? share;
      if (shown === candidates[0] && shown === 1 && share < 1) return '>99 %';
      return shown === candidates[0] && shown === 0 && share > 0 ? '<1 %' : percent(shown);
    },
    day: (instant) => days.format(new Date(instant)),
    shortDay: (instant) => shortDays.format(instant),
    time: (instant) => times.format(new Date(instant)),
    list: (parts) => lists.format(parts),
  };
}
