import { argument, quoted, shown } from './names.ts';
import { binaryOf, counted, numberOf } from './numbers.ts';
import type { TableOptions } from './options.ts';

/*
 * What the cells of the answers mean. All values of a table are judged together before one of them is taken: a value marks a missing answer only by
 * itself (an empty cell, NA) or by an option.
 */

/** Where no answer was given. */
export const MISSING = -1;

/** The most different values of a table that are counted. */
const MAXIMUM_VALUES = 1000;
/** Below this share of all answers an odd value is a slip rather than part of the scoring. */
const RARE = 0.01;

/** Turns a cell of an item into 1, 0 or `MISSING`. */
export type Scorer = (cell: string, item: number) => number;

/** One value of the answers. */
interface Value {
  readonly text: string;
  readonly place: string;
  readonly columns: Set<string>;
  count: number;
}

/** The values of all answers of a table, with their first places. */
export class Tally {
  readonly #values = new Map<string, Value>();
  #columns = 0;

  /** @param columns how many items the table has */
  constructor(columns: number) {
    this.#columns = columns;
  }

  add(line: number, column: string, text: string, item: string): void {
    const earlier = this.#values.get(text);
    if (earlier !== undefined) {
      earlier.count += 1;
      earlier.columns.add(item);
    } else if (this.#values.size < MAXIMUM_VALUES) {
      const place = `row ${line}, column "${shown(column)}"`;
      this.#values.set(text, { text, place, columns: new Set([item]), count: 1 });
    }
  }

  get values(): readonly Value[] {
    return [...this.#values.values()];
  }

  /** Whether no value was left uncounted. */
  get isComplete(): boolean {
    return this.#values.size < MAXIMUM_VALUES;
  }

  /** On which items these values are; empty if on all of them. */
  itemsOf(values: readonly Value[]): string {
    const names = new Set(values.flatMap(({ columns }) => [...columns]));
    return names.size === this.#columns
      ? ''
      : `, on ${names.size} of ${this.#columns} items (${quoted([...names])})`;
  }
}

/** How the answers are scored, or why they cannot be. */
export interface Scoring {
  readonly scorer: Scorer;
  /** The values, how often each occurs, and which mark a missing answer. */
  readonly codes: string;
  /** What is correct and what is not. */
  readonly rule: string;
  readonly defects: readonly string[];
}

/** Whether a cell is without an answer under any options. */
export function isGap(text: string): boolean {
  return /^(?:|na|n\/a|nan)$/i.test(text);
}

/** Judges all values of a table. @param keys the right answer of each item by its name, where there is a key */
export function scoringOf(
  tally: Tally,
  options: TableOptions,
  keys: ReadonlyMap<string, string> | undefined,
): Scoring {
  const given = new Set(options.missing);
  const isMissing = (text: string): boolean => isGap(text) || given.has(text);
  const values = tally.values.filter(({ text }) => !isMissing(text));
  const codes = codesOf(tally.values, isMissing);
  if (values.length === 0)
    return {
      scorer: () => MISSING,
      codes,
      rule: '',
      // Without any cell, another defect is the cause.
      defects: tally.values.length === 0 ? [] : [`there is no answer in the table${codes}`],
    };
  const judged =
    keys !== undefined
      ? byKey(values, keys, options.key?.name ?? '', tally.isComplete)
      : options.correctFrom !== undefined
        ? byCut(values, options.correctFrom)
        : options.correct !== undefined
          ? byValue(values, options.correct, options.incorrect)
          : asScored(values, tally);
  const isScored = keys !== undefined || (options.correctFrom ?? options.correct) !== undefined;
  const answer = isScored ? undefined : [...given].find((code) => binaryOf(code) !== undefined);
  return {
    scorer: (cell, item) => (isMissing(cell) ? MISSING : (judged.score(cell, item) ?? MISSING)),
    codes,
    rule: judged.rule,
    defects: [
      ...(answer === undefined ? [] : [`--missing "${answer}": this is an answer`]),
      ...[options.correct ?? options.incorrect, options.correctFrom, options.key].flatMap(
        (_option, at, all) =>
          at === 0 && all.filter((other) => other !== undefined).length > 1
            ? ['--correct, --correct-from and --key exclude each other: give one of them']
            : [],
      ),
      ...(options.incorrect !== undefined && options.correct === undefined
        ? ['--incorrect needs --correct']
        : []),
      ...judged.defects,
    ],
  };
}

/** The line of codes: the most frequent values first. */
function codesOf(values: readonly Value[], isMissing: (text: string) => boolean): string {
  const listed = (of: readonly Value[]): string => {
    const sorted = of.toSorted((a, b) => b.count - a.count);
    const first = sorted
      .slice(0, 8)
      .map(({ text, count }) => `${text === '' ? 'empty' : `"${shown(text)}"`} (${counted(count)})`);
    return [...first, ...(sorted.length > 8 ? [`${sorted.length - 8} more`] : [])].join(', ');
  };
  const gaps = values.filter(({ text }) => isMissing(text));
  const answers = listed(values.filter(({ text }) => !isMissing(text)));
  return gaps.length === 0 ? `${answers}; none missing` : `${answers}; missing: ${listed(gaps)}`;
}

interface Judged {
  readonly score: (cell: string, item: number) => 0 | 1 | undefined;
  readonly rule: string;
  readonly defects: readonly string[];
}

/** Answers that are scored already: 1 and 0. */
function asScored(values: readonly Value[], tally: Tally): Judged {
  const meaning = (answer: 0 | 1): string =>
    quoted(values.flatMap(({ text }) => (binaryOf(text) === answer ? [text] : []))) || `"${answer}"`;
  const rule = `${meaning(1)} correct, ${meaning(0)} incorrect`;
  return { score: binaryOf, rule, defects: oddities(values, tally) };
}

/** Values that the user sorted into correct and incorrect ones. */
function byValue(
  values: readonly Value[],
  correct: readonly string[],
  incorrect: readonly string[] | undefined,
): Judged {
  const among =
    (list: readonly string[]) =>
    (text: string): boolean =>
      list.some((value) => value === text || (numberOf(value) ?? NaN) === numberOf(text));
  const isCorrect = among(correct);
  const marks = missingMarks(values.filter(({ text }) => !isCorrect(text)));
  const others = values.filter(({ text }) => !isCorrect(text) && !marks.some((mark) => mark.text === text));
  const isIncorrect = among(incorrect ?? (others.length === 1 ? others.map(({ text }) => text) : []));
  const unsorted = values.filter(({ text }) => !isCorrect(text) && !isIncorrect(text));
  const open = unsorted.filter((value) => !marks.includes(value));
  const absent = [...correct, ...(incorrect ?? [])].filter((value) => {
    const is = among([value]);
    return !values.some(({ text }) => is(text));
  });
  const names = others.map(({ text }) => text);
  return {
    score: (cell) => (isCorrect(cell) ? 1 : isIncorrect(cell) ? 0 : undefined),
    rule: `${quoted(correct)} correct, ${quoted(incorrect ?? names)} incorrect`,
    defects: [
      ...absent.map(
        (value) =>
          `no answer is "${shown(value)}" (--correct, --incorrect): found ${quoted(values.map(({ text }) => text))}`,
      ),
      ...missingAdvice(
        marks.filter((mark) => unsorted.includes(mark)),
        'If it is an incorrect answer, list it with --incorrect',
      ),
      ...(open.length === 0 || absent.length > 0
        ? []
        : [
            `${open[0]?.place}: found ${quoted(open.map(({ text }) => text))} in addition to --correct: list the incorrect ones with --incorrect ${argument(...open.slice(0, 5).map(({ text }) => shown(text)))}`,
          ]),
    ],
  };
}

/** Partial credit with a cut. */
function byCut(values: readonly Value[], cut: number): Judged {
  const marks = missingMarks(values);
  const words = values.filter((value) => numberOf(value.text) === undefined && !marks.includes(value));
  return {
    score: (cell) => {
      const score = numberOf(cell);
      return score === undefined ? undefined : score >= cut ? 1 : 0;
    },
    rule: `scores from ${cut} are correct, lower ones incorrect`,
    defects: [
      ...missingAdvice(marks, 'If they are scores, use --correct and --incorrect instead of --correct-from'),
      ...words.map(
        ({ place, text, count }) =>
          `${place}: found "${shown(text)}" (${cells(count)}); expected a number: correct the cells`,
      ),
      ...(values.some(({ text }) => (numberOf(text) ?? -Infinity) >= cut)
        ? []
        : [`no score reaches --correct-from ${cut}: found ${quoted(values.map(({ text }) => text))}`]),
      ...(values.some(({ text }) => (numberOf(text) ?? Infinity) < cut)
        ? []
        : [
            `no score is below --correct-from ${cut}, so that every answer would be correct: found ${quoted(values.map(({ text }) => text))}`,
          ]),
    ],
  };
}

/** Chosen options, compared with the item’s key. @param isComplete whether these are all values of the table */
function byKey(
  values: readonly Value[],
  keys: ReadonlyMap<string, string>,
  name: string,
  isComplete: boolean,
): Judged {
  const form = (text: string): string => text.toLowerCase();
  const rights = [...keys.values()].map(form);
  const right = new Set(rights.filter((key) => key !== ''));
  const marks = missingMarks(values.filter(({ text }) => !right.has(form(text))));
  const meet = values.some(({ text }) => right.has(form(text)));
  const scored = !meet && values.every(({ text }) => binaryOf(text) !== undefined);
  const listed = (texts: readonly string[]): string => quoted([...new Set(texts)].toSorted());
  const apart = [...keys].flatMap(([item, key]) => {
    const own = values.flatMap(({ text, columns }) => (columns.has(item) ? [text] : []));
    return key === '' || own.length === 0 || own.some((text) => form(text) === form(key))
      ? []
      : [
          `no learner chose "${shown(key)}", the key of "${shown(item)}"; its answers are ${listed(own)}: correct the key in ${name}, or leave the item out with --ignore ${argument(item)}`,
        ];
  });
  return {
    score: (cell, item) => (form(cell) === rights[item] ? 1 : 0),
    rule: `an answer is correct if it equals the item’s key in ${name}`,
    defects: [
      ...missingAdvice(marks),
      ...(values.length === 0 || right.size === 0 || !isComplete || meet
        ? []
        : scored
          ? [`the answers are 1 and 0, and no key of ${name} is: leave out --key if they are scored`]
          : [
              `key and answers use different codes: the answers are ${listed(values.map(({ text }) => text))}, the keys of ${name} ${listed([...keys.values()].filter((key) => key !== ''))}: write the keys in the codes of the answers`,
            ]),
      ...(isComplete && meet ? apart : []),
    ],
  };
}

function cells(count: number): string {
  return count === 1 ? '1 cell' : `${counted(count)} cells`;
}

/** What people write where there is no answer. */
const GAP_WORDS =
  /^(?:[-–—.*?#_/]+|null|none|nil|missing|miss|omit(?:ted)?|skip(?:ped)?|blank|empty|(?:not[ _-]?)(?:reached|administered|answered|attempted|presented|applicable)|n\.?r\.?|n\.? ?a\.?|k\.? ?a\.?|<na>|#(?:n\/a|null!|div\/0!|value!|ref!|name\?|num!)|nd|sysmis|unanswered|no (?:answer|response)|keine angabe)$/i;

/** Values that are likely to mark a missing answer: words, and numbers such as 9, 99 or -1 that do not continue the others. */
function missingMarks(values: readonly Value[]): readonly Value[] {
  const numbers = values.flatMap(({ text }) => numberOf(text) ?? []);
  const isCode = (n: number): boolean => n < 0 || /^(?:[789]|66|77|88|9[6-9]|99[6-9]|9{4,})$/.test(String(n));
  const scores = numbers.filter((n) => !isCode(n)).sort((a, b) => a - b);
  const gap = Math.max(1, ...scores.map((n, at) => n - (scores[at - 1] ?? n)));
  let highest = scores.at(-1) ?? -Infinity;
  for (const n of numbers.filter((code) => code >= 0 && isCode(code)).sort((a, b) => a - b))
    if (n <= highest + gap) highest = n;
  const letters = values.every(({ text }) => numberOf(text) === undefined || isCode(numberOf(text) ?? 0));
  return values.filter(({ text }) => {
    const n = numberOf(text);
    if (n === undefined) return GAP_WORDS.test(text);
    return isCode(n) && (n < 0 || n > highest) && (scores.length > 0 || letters);
  });
}

function missingAdvice(marks: readonly Value[], otherwise = ''): string[] {
  const [first] = marks;
  if (first === undefined) return [];
  const found = marks.map(({ text, count }) => `"${shown(text)}" (${cells(count)})`).join(', ');
  const codes = argument(...marks.map(({ text }) => shown(text)));
  const subject = marks.length === 1 ? 'it marks a missing answer' : 'they mark missing answers';
  return [
    `${first.place}: found ${found}: if ${subject}, add --missing ${codes}${otherwise === '' ? '' : `. ${otherwise}`}`,
  ];
}

/** What is wrong with answers that should be 1 and 0, as a whole: one sentence per kind of value. */
function oddities(values: readonly Value[], tally: Tally): string[] {
  const odd = values.filter(({ text }) => binaryOf(text) === undefined);
  if (odd.length === 0) return [];
  const likely = missingMarks(values).filter((value) => odd.includes(value));
  // 1 and -1, for example, are two answers.
  const marks = values.length - likely.length < 2 ? [] : likely;
  const answers = values.filter((value) => !marks.includes(value));
  const wrong = odd.filter((value) => !marks.includes(value));
  return [...missingAdvice(marks), ...(wrong.length === 0 ? [] : answerAdvice(answers, wrong, tally))];
}

function answerAdvice(answers: readonly Value[], wrong: readonly Value[], tally: Tally): string[] {
  const total = answers.reduce((sum, { count }) => sum + count, 0);
  const slips = wrong.filter(
    ({ text, count }) =>
      count < RARE * total && ((numberOf(text) ?? NaN) > 2 || numberOf(text) === undefined),
  );
  const binary = answers.length - wrong.length;
  if (binary === 2 && slips.length === wrong.length)
    return slips.map(
      ({ place, text, count }) =>
        `${place}: found "${shown(text)}" (${cells(count)}); expected 1 (correct), 0 (incorrect), or an empty cell or NA (missing): correct the cell; if "${shown(text)}" marks a missing answer, add --missing ${argument(shown(text))}`,
    );
  const place = wrong[0]?.place ?? '';
  const all = answers
    .toSorted((a, b) => (numberOf(a.text) ?? NaN) - (numberOf(b.text) ?? NaN))
    .map(({ text, count }) => `"${shown(text)}" (${cells(count)})`);
  const found =
    all.length > 8 ? `${all.slice(0, 8).join(', ')} and ${all.length - 8} more values` : all.join(', ');
  const where = tally.itemsOf(wrong);
  const numbers = answers.flatMap(({ text }) => numberOf(text) ?? []);
  if (numbers.length === answers.length) return [`${place}: ${numberAdvice(answers, found, where)}`];
  const distinct = new Set(answers.map(({ text }) => text.toLowerCase()));
  const letters = answers.filter(({ text }) => /^\p{L}$/u.test(text));
  const inLetters = letters.reduce((sum, { count }) => sum + count, 0);
  if (letters.length > 2 && inLetters > 0.9 * total)
    return [
      `${place}: found the letters ${found}: if they are chosen options, score them with a file of the right answers, --key FILE`,
    ];
  if (distinct.size === 2)
    return [
      `${place}: found two values, ${found}${where}: ${chooseCorrect(likelyCorrect(answers))}${
        letters.length === 2 ? ', or, if they are chosen options, --key FILE' : ''
      }`,
    ];
  if (answers.length === 1)
    return [
      `${place}: found no other answer than ${found}: if the empty cells are incorrect answers, fill them with 0 and add --correct ${argument(shown(answers[0]?.text ?? ''))}`,
    ];
  return [
    `${place}: found ${found}${where}; expected 1 (correct) and 0 (incorrect): list the values with --correct VALUE,… and --incorrect VALUE,…, or leave out a column that is no item with --ignore`,
  ];
}

function numberAdvice(answers: readonly Value[], found: string, where: string): string {
  const numbers = answers.map(({ text }) => numberOf(text) ?? NaN);
  const lowest = Math.min(...numbers);
  const [highest] = answers.toSorted((a, b) => (numberOf(b.text) ?? 0) - (numberOf(a.text) ?? 0));
  // With a code such as -1 or 99, 1 is the correct one; of 1 and 2, either may be.
  const one = missingMarks(answers).length > 0 ? answers.find(({ text }) => text === '1') : undefined;
  if (new Set(numbers).size === 2) {
    const low = answers.find(({ text }) => numberOf(text) === lowest);
    const examples = one === undefined ? [highest, ...(lowest === 0 ? [] : [low])] : [one];
    return `found two values, ${found}${where}: ${chooseCorrect(examples)}`;
  }
  const cut = argument(shown(highest?.text ?? ''));
  const choose = `choose the lowest score that counts as correct, for example --correct-from ${cut}`;
  if (lowest >= 1 && numbers.every(Number.isInteger))
    return `found ${found}${where}: if these are chosen options, score them with --key FILE; if they are partial credit, ${choose}`;
  return `found ${found}${where}: this is partial credit: ${choose}`;
}

const POSITIVE =
  /^(?:t|y|j|r|v|s|yes|ja|oui|s[ií]|да|correct(?:e|o)?|right|richtig|korrekt|pass(?:ed)?|solved|gelöst|vrai|juste|[✓✔☑√x+])$/iu;

/** The value that more likely means a correct answer, only as an example in a message; both values if neither does. */
function likelyCorrect(values: readonly Value[]): readonly Value[] {
  // Where 1 means a correct answer, a mark such as x may mean anything.
  const hasOne = values.some(({ text }) => numberOf(text) === 1);
  const likely = hasOne ? undefined : values.find(({ text }) => POSITIVE.test(text));
  const [first] = values;
  const other = values.find(({ text }) => text.toLowerCase() !== first?.text.toLowerCase());
  return [likely ?? first, likely === undefined ? other : undefined].filter((value) => value !== undefined);
}

/** The sentence for two values. */
function chooseCorrect(examples: readonly (Value | undefined)[]): string {
  const given = examples.map((value) => `--correct ${argument(shown(value?.text ?? ''))}`);
  return `state which one is correct, ${given.length === 1 ? 'for example' : 'with'} ${given.toSorted().join(' or ')}`;
}
