import fc from 'fast-check';
import { expect, it } from 'vitest';
import { claimsRank } from './rank-claims.ts';

/** One of the texts between the bars. */
const of = (texts: string) => fc.constantFrom(...texts.split('|'));
const sentence = (...parts: readonly (string | fc.Arbitrary<string>)[]) =>
  fc
    .tuple(...parts.map((part) => (typeof part === 'string' ? of(part) : part)))
    .map((texts) => texts.join(' ').replaceAll(/ +/g, ' ').trim());
const joined = (...parts: readonly fc.Arbitrary<string>[]) =>
  fc.tuple(...parts).map((texts) => texts.join(''));

const integer = (max: number) => fc.integer({ min: 1, max }).map(String);
const number = fc.oneof(
  integer(99),
  fc.integer({ min: 1, max: 999 }).map((tenths) => (tenths / 10).toFixed(1)),
  of('five|ten|fifteen|twenty|eighty|ninety-five|seventy five'),
);
const percent = joined(number, of('%| %| percent| per cent| pct|％'));
const tenths = sentence('nine|9|eight', 'in|of|out of', 'ten|10');
const people = of(
  'students|other learners|the nation|all fifth-grade pupils|their peers|candidates|the norm group',
);
const ordinal = fc.integer({ min: 4, max: 19 }).map((n) => `${n}th`);
const above = of('better than|higher than|scores above|outperforms|exceeds|ahead of|surpass');

/** A claim of a place among others, each in the forms that people write. */
const claim = fc.oneof(
  sentence(ordinal, 'percentile|%ile|%-ile|%tile|percentile rank|centile'),
  sentence('top|bottom|highest|upper', percent, '|of the nation|of students|in the state'),
  sentence('top|lowest', 'tenth|quarter|third', '|of the class'),
  sentence(above, fc.oneof(percent, tenths, of('most|half')), '|of', people),
  sentence(fc.oneof(percent, tenths), '|of', 'peers|their classmates'),
  joined(of('PR|pr'), of('| |: |='), integer(99)),
  sentence('NCE|an NCE of|normal curve equivalent', number),
  of('norm-referenced|Norm referenced|normative reference|national norms|a norm group|norming sample'),
  of('quartile|DECILES|stanine|tercile|ranked|rankings|class-rank|national_percentile'),
);
const before = of('|A score of 520 is|Reported as|It can be read as:|Not exact, but|Not only');
const after = of('|.| for grade 4.|, nationally');

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
  const denial = of('It is not|Never use it as|There is no|The score cannot be read as|It isn’t');
  fc.assert(
    fc.property(denial, claim, (start, text) => {
      expect([text, claimsRank(`${start} ${text}.`)]).toEqual([text, false]);
    }),
  );
});

it('a percentage of anything else is no claim [MA-102]', () => {
  const thing = 'the blueprint|the standards|the items|the score range|the knowledge components|its variance';
  const fact = fc.oneof(
    sentence(percent, 'interval|agreement|confidence|of intervals cover the true score|accuracy'),
    sentence(
      'covers|measures|is based on|explains|more than|at least|above|better than',
      percent,
      'of',
      thing,
    ),
    sentence(
      'The',
      'lower|upper|top|bottom',
      percent,
      'of the',
      'scale|score range|item pool',
      'is imprecise',
    ),
    sentence('At least', percent, 'of', 'students|learners', 'of the sample were in grade 5'),
    sentence('Agreement is', 'better than|higher than|above', percent),
    sentence('Calibrated in|Linked to|Valid for', 'grade|form|table', number),
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
