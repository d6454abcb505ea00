import fc from 'fast-check';
import { expect, it } from 'vitest';
import { claimsRank } from './rank-claims.ts';

const of = <T extends string>(...texts: T[]) => fc.constantFrom(...texts);
const sentence = (...parts: readonly (string | fc.Arbitrary<string>)[]) =>
  fc
    .tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part)))
    .map((texts) => texts.join(' ').replaceAll(/ +/g, ' ').trim());

const number = fc.oneof(
  fc.integer({ min: 1, max: 99 }).map(String),
  fc.integer({ min: 1, max: 999 }).map((tenths) => (tenths / 10).toFixed(1)),
  of('five', 'ten', 'fifteen', 'twenty', 'eighty', 'ninety-five', 'seventy five'),
);
const percent = fc
  .tuple(number, of('%', ' %', ' percent', ' per cent', ' pct', '％'))
  .map((parts) => parts.join(''));
const tenths = fc
  .tuple(of('nine', '9', 'eight'), of('in', 'of', 'out of'), of('ten', '10'))
  .map((parts) => parts.join(' '));
const people = of(
  'students',
  'other learners',
  'the nation',
  'all fifth-grade pupils',
  'their peers',
  'candidates',
  'the norm group',
);
const ordinal = fc.integer({ min: 4, max: 19 }).map((n) => `${n}th`);
const above = of(
  'better than',
  'higher than',
  'scores above',
  'outperforms',
  'exceeds',
  'ahead of',
  'surpass',
);

/** A claim of a place among others, each in the forms that people write. */
const claim = fc.oneof(
  sentence(ordinal, of('percentile', '%ile', '%-ile', '%tile', 'percentile rank', 'centile')),
  sentence(
    of('top', 'bottom', 'highest', 'upper'),
    percent,
    of('', 'of the nation', 'of students', 'in the state'),
  ),
  sentence(of('top', 'lowest'), of('tenth', 'quarter', 'third'), of('', 'of the class')),
  sentence(above, fc.oneof(percent, tenths, of('most', 'half')), of('', 'of'), people),
  sentence(fc.oneof(percent, tenths), of('', 'of'), of('peers', 'their classmates')),
  fc
    .tuple(of('PR', 'pr'), of('', ' ', ': ', '='), fc.integer({ min: 1, max: 99 }))
    .map((parts) => parts.join('')),
  sentence(of('NCE', 'an NCE of', 'normal curve equivalent'), number),
  of(
    'norm-referenced',
    'Norm referenced',
    'normative reference',
    'national norms',
    'a norm group',
    'norming sample',
  ),
  of('quartile', 'DECILES', 'stanine', 'tercile', 'ranked', 'rankings', 'class-rank', 'national_percentile'),
);
const before = of('', 'A score of 520 is', 'Reported as', 'It can be read as:', 'Not exact, but', 'Not only');
const after = of('', '.', ' for grade 4.', ', nationally');

it('a claim of a place among others is one in every form [MA-102]', () => {
  fc.assert(
    fc.property(before, claim, after, (start, text, end) => {
      expect([text, claimsRank(`${start} ${text}${end}`)]).toEqual([text, true]);
    }),
    { numRuns: 2_000 },
  );
  for (const text of [
    'top 10% of the nation',
    '75th %ile',
    'better than 80 percent of students',
    'PR 85',
    'NCE 60',
    'exceed nine in ten peers',
    'Norm-referenced to the nation',
    'per\u00adcentile',
    'It is not exact, but a rank can be read from it.',
    'Not for grade 3. Percentiles hold for grade 4.',
  ])
    expect([text, claimsRank(text)]).toEqual([text, true]);
});

it('a denial of such a claim is a limitation [MA-102]', () => {
  const denial = of('It is not', 'Never use it as', 'There is no', 'The score cannot be read as', 'It isn’t');
  fc.assert(
    fc.property(denial, claim, (start, text) => {
      expect([text, claimsRank(`${start} ${text}.`)]).toEqual([text, false]);
    }),
  );
});

it('a percentage of anything else is no claim [MA-102]', () => {
  const thing = of(
    'the blueprint',
    'the standards',
    'the items',
    'the score range',
    'the knowledge components',
    'its variance',
  );
  const fact = fc.oneof(
    sentence(
      percent,
      of('interval', 'agreement', 'confidence', 'of intervals cover the true score', 'accuracy'),
    ),
    sentence(
      of('covers', 'measures', 'is based on', 'explains', 'more than', 'at least', 'above', 'better than'),
      percent,
      'of',
      thing,
    ),
    sentence(
      'The',
      of('lower', 'upper', 'top', 'bottom'),
      percent,
      'of the',
      of('scale', 'score range', 'item pool'),
      'is imprecise',
    ),
    sentence('At least', percent, 'of', of('students', 'learners'), 'of the sample were in grade 5'),
    sentence('Agreement is', of('better than', 'higher than', 'above'), percent),
    sentence(of('Calibrated in', 'Linked to', 'Valid for'), of('grade', 'form', 'table'), number),
  );
  fc.assert(
    fc.property(fact, (text) => {
      expect([text, claimsRank(text)]).toEqual([text, false]);
    }),
    { numRuns: 2_000 },
  );
  for (const text of [
    '95 percent interval',
    '90 % agreement',
    'covers 80 percent of the blueprint',
    'It doesn’t give percentiles.',
    'Frankly short; ranges are wide, rankle nobody.',
    'Once in ten items the engine offers an easy one.',
    'The enormous, normal and reference forms differ; advance and science are covered.',
    'Subtracts fractions in the lower half of the range only.',
    'Nine of ten items are dichotomous; the textiles unit and tiles are left out.',
  ])
    expect([text, claimsRank(text)]).toEqual([text, false]);
});
