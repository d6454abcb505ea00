import { describe, expect, it } from 'vitest';
import { evaluateAims, evaluateExposure, evaluateLengths, reservations } from './aims.ts';
import { compareWithBruteForce } from './brute-force.ts';
import { conditionsOf, DESIGN } from './conditions.ts';
import type { TargetCurve } from './equal-correctness.ts';
import { exposureMethodNames, exposureMethods } from './exposure.ts';
import { figuresOf, type Figures } from './figures.ts';
import { htmlReport } from './html-report.ts';
import { sitAll, type Sitting } from './sit.ts';
import { resultsJson, runStudy } from './study.ts';
import { curvesTitle, exposureTitle, ratiosTitle, textReport } from './text-report.ts';

const settings = {
  items: 80,
  kcs: 8,
  length: 14,
  policy: 'plain',
  seed: 1,
  worlds: 2,
  learners: 45,
  bar: 1,
} as const;
const study = runStudy(settings);
const rowOf = (name: string): Figures => study.rows.find((row) => row.name.startsWith(name))!.figures;

describe('figures of a row', () => {
  const sitting = (change: Partial<Sitting>): Sitting => ({
    ability: 0,
    recovered: 0,
    error: 1,
    weighted: 0,
    items: [0, 1],
    kcs: [],
    confidentAfter: 1,
    isUnusual: false,
    ...change,
  });
  const kc = { mastered: true, posterior: 0.5, items: 1, classified: true };

  it('are those of a case worked out by hand', () => {
    const worlds = [
      [
        sitting({ recovered: 1.97, kcs: [kc, kc, { ...kc, mastered: false }] }),
        sitting({ ability: 1, recovered: -0.95, items: [1], isUnusual: true }),
      ],
      [
        sitting({ items: [3], kcs: [{ ...kc, posterior: 0.49, classified: false }] }),
        sitting({
          items: [3, 2, 1],
          kcs: [{ mastered: false, posterior: 0.49, items: 0, classified: false }],
        }),
      ],
    ];
    const figures = figuresOf(worlds, 4);
    expect(figures).toMatchObject({
      learners: 4,
      meanLength: 7 / 4,
      // 1.97 is just outside 1.96 standard errors, 1.95 just inside.
      coverage: 3 / 4,
      // One half counts as mastered; evidence is not asked for.
      agreement: 3 / 5,
      classified: 3 / 5,
      classifiedAgreement: 2 / 3,
      // Items 0 and 1 of the first world; 1, 2 and 3 of the second.
      poolUsed: 5 / 8,
      mostExposed: 1,
      // Of 7/4 items, two learners have one in common in either world: item 1, item 3.
      overlap: 4 / 7,
      idle: 3 / 4,
      unusual: 1 / 4,
    });
    expect(figures.bias).toBeCloseTo((1.97 - 1.95) / 4, 12);
  });

  it('show which share of the learners of about one ability got the same item', () => {
    // Abilities 0 to 9 in two worlds: each fifth has two learners, both of one world but for the third.
    const of = (ability: number, ...items: readonly number[]): Sitting => sitting({ ability, items });
    const worlds = [
      [of(0, 0), of(1, 0), of(2, 0), of(3, 1), of(4, 2)],
      [of(5, 0), of(9, 2), of(8, 1, 2), of(7, 0), of(6, 1)],
    ];
    expect(figuresOf(worlds, 3)).toMatchObject({
      mostExposed: 3 / 5,
      mostExposedByFifth: [1, 1 / 2, 1, 1 / 2, 1],
    });
    expect(figuresOf([[of(0, 0)]], 3).mostExposedByFifth.filter((share) => share === 1)).toHaveLength(1);
  });
});

describe('the aims', () => {
  const good: Figures = {
    learners: 1,
    meanLength: 30,
    bias: 0.05,
    biasError: 0,
    rmse: 0.4,
    correlation: 1,
    coverage: 0.92,
    agreement: 0.985,
    classified: 1,
    classifiedAgreement: 0.9,
    poolUsed: 1,
    mostExposed: 1,
    mostExposedByFifth: [],
    overlap: 1,
    idle: 0,
    unusual: 0,
  };
  const latent = { ...good, meanLength: 40 };
  const missed = (figures: Figures, bruteForce = 1e-12, bar = 1, meanLength = 26): readonly string[] =>
    evaluateAims(figures, bruteForce, { latent, unsettled: { ...figures, meanLength } }, bar).flatMap(
      ({ name, met }) => (met ? [] : [name]),
    );

  it.each<readonly [string, Partial<Figures>, number, number]>([
    ['', { bias: -0.05, coverage: 0.98 }, 1e-12, 26],
    ['bias of ability', { bias: -0.0501 }, 1e-12, 26],
    ['bias of ability', { bias: 0.0501 }, 1e-12, 26],
    ['RMSE of ability', { rmse: 0.401 }, 1e-12, 26],
    ['coverage of 95 % intervals', { coverage: 0.919 }, 1e-12, 26],
    ['coverage of 95 % intervals', { coverage: 0.981 }, 1e-12, 26],
    ['KC agreement', { agreement: 0.9849 }, 1e-12, 26],
    ['posteriors to brute force', {}, 1.1e-12, 26],
    ['length, unsettled to state', {}, 1e-12, 26.01],
    ['right of classified', { classifiedAgreement: 0.899 }, 1e-12, 26],
  ])('are those of the design, bounds included: misses %j at %j', (name, change, bruteForce, meanLength) => {
    expect(missed({ ...good, ...change }, bruteForce, 1, meanLength)).toEqual(name === '' ? [] : [name]);
  });

  it('become stricter and laxer with the bar, each of them, and are never met by no number', () => {
    expect(missed(good, 1e-12, 1.01)).toHaveLength(7);
    const poor = {
      ...good,
      bias: 0.09,
      rmse: 0.79,
      coverage: 0.9,
      agreement: 0.971,
      classifiedAgreement: 0.85,
    };
    expect(missed(poor, 1.9e-12, 1, 40)).toHaveLength(7);
    expect(missed(poor, 1.9e-12, 0.5, 40)).toEqual([]);
    const none = { ...good, bias: NaN, rmse: NaN, coverage: NaN, agreement: NaN, classifiedAgreement: NaN };
    expect(missed(none, NaN, 0.01, NaN)).toHaveLength(7);
  });
});

describe('the aims of test length', () => {
  const curves = (value: number | null, low = value ?? NaN): readonly TargetCurve[] => [
    {
      bank: 'good items',
      target: 'unsettled_and_unmeasured',
      points: [],
      comparisons: (['latent_state', 'unsettled_components'] as const).map((reference) => ({
        reference,
        atEqualThreshold: { value: 0.5, interval: null },
        atEqualCorrectness: value === null ? null : { value, interval: [low, 1] },
        right: null,
      })),
    },
  ];

  it('are those of the design at equal correctness', () => {
    const met = (value: number, bar = 1) => evaluateLengths(curves(value), 10, bar).map((aim) => aim.met);
    expect(met(0.88)).toEqual([true, true]);
    expect(met(0.881)).toEqual([false, true]);
    expect(met(0.931)).toEqual([false, false]);
    expect(met(0.88, 1.1)).toEqual([false, false]);
    expect(evaluateLengths(curves(null), 10, 1)).toEqual([]);
  });

  it('decide only where the whole interval misses them, with enough worlds', () => {
    const decide = (low: number, worlds: number) =>
      evaluateLengths(curves(0.95, low), worlds, 1).map(({ decides }) => decides);
    expect(decide(0.88, 10)).toEqual([false, false]);
    expect(decide(0.9, 10)).toEqual([true, false]);
    expect(decide(0.94, 10)).toEqual([true, true]);
    expect(decide(0.94, 9)).toEqual([false, false]);
  });
});

describe('exposure control', () => {
  const size = { items: 20, kcs: 4, length: 2, policy: 'plain' } as const;

  it('is held to aims of its own, of which only those of sympson_hetter decide', () => {
    const without = { agreement: 0.99 } as Figures;
    const figures = { mostExposed: 0.3, overlap: 0.2, agreement: 0.9851 } as Figures;
    const metAims = (change: Partial<Figures>, bar = 1) =>
      evaluateExposure('sympson_hetter', { ...figures, ...change }, without, bar).map(({ met }) => met);
    expect(metAims({})).toEqual([true, true, true]);
    expect(metAims({ mostExposed: 0.301 })).toEqual([false, true, true]);
    expect(metAims({ overlap: 0.201 })).toEqual([true, false, true]);
    expect(metAims({ agreement: 0.9849 })).toEqual([true, true, false]);
    expect(metAims({}, 1.1)).toEqual([false, false, false]);
    expect(metAims({ agreement: NaN, overlap: NaN, mostExposed: NaN })).toEqual([false, false, false]);
    const decides = exposureMethodNames.filter((method) =>
      evaluateExposure(method, figures, without, 1).every((aim) => aim.decides),
    );
    expect(decides).toEqual(['sympson_hetter']);
  });

  it('finds by simulation with which probabilities no item goes to many of other learners', () => {
    const condition = conditionsOf({ ...size, exposure: ['sympson_hetter'] })[1]!;
    const { find, rule } = exposureMethods.sympson_hetter;
    const probabilities = find!(condition, 'exposure');
    const exposedWith = (exposure = rule(probabilities)): number =>
      figuresOf([[...sitAll(condition, 'exposure', 200, exposure)]], size.items).mostExposed;
    expect(exposedWith(rule())).toBe(1);
    expect(exposedWith()).toBeLessThan(0.3);
    expect([...probabilities.keys()].every((id) => /^item-\d+$/.test(id))).toBe(true);
    expect([...probabilities.values()].every((k) => k > 0 && k < 1)).toBe(true);
    expect(find!(condition, 'exposure')).toEqual(probabilities);
  });
});

describe('a study', () => {
  it('states of an aim that is missed if it does not affect the exit code', () => {
    const aim = { name: 'an aim', value: 0.5, least: null, most: 0.4, unit: 'share', met: false } as const;
    const lineOf = (of: { readonly met?: boolean; readonly decides: boolean }): string | undefined =>
      textReport({ ...study, aims: [{ ...aim, ...of }] }, (_, value) => value)
        .split('\n')
        .find((line) => line.includes('an aim'));
    expect(lineOf({ decides: false })).toMatch(/^missed.*0\.4 \(does not affect the exit code\)$/);
    expect(lineOf({ decides: true })).toMatch(/^missed.*0\.4$/);
    expect(lineOf({ met: true, decides: false })).toMatch(/^met.*0\.4$/);
  });

  it('finds the engine equal to brute force, on as many posteriors as it reports', () => {
    // 13 prefixes of 12 answers, 7 KCs and 61 nodes.
    const figures = compareWithBruteForce('small', 2);
    expect(figures.posteriors).toBe(2 * 13 * (7 + 61));
    expect(figures.largestDifference).toBeLessThan(1e-12);
    expect(study.bruteForce.largestDifference).toBeGreaterThan(0);
  });

  it('sees more with more items, and less where its assumptions are wrong', () => {
    const reference = study.rows[0]!.figures;
    expect(reference.learners).toBe(90);
    expect(rowOf('5 administered').rmse).toBeGreaterThan(rowOf('28 administered').rmse);
    expect(rowOf('5 administered').agreement).toBeLessThan(rowOf('28 administered').agreement);
    expect(rowOf('compensatory').agreement).toBeLessThan(reference.agreement);
    expect(rowOf('compensatory').bias).toBeGreaterThan(reference.bias + 0.05);
    expect(rowOf('weaker: ').classified).toBeLessThan(reference.classified);
    expect(rowOf('randomesque').mostExposed).toBeLessThan(1);
    const [state, unsettled] = study.rows.filter(({ name }) => name.startsWith('until classified'));
    expect(unsettled!.figures.meanLength).toBeLessThan(state!.figures.meanLength);
    expect(unsettled!.figures.idle).toBeLessThan(state!.figures.idle);
  });

  it('covers less where its assumptions of KCs are wrong, and less exactly with fewer calibration learners', () => {
    const reference = study.rows[0]!.figures;
    const chains = study.rows.filter(({ group }) => group === 'chains');
    expect(chains).toHaveLength(2);
    for (const { figures } of chains) {
      expect(figures.coverage).toBeLessThan(reference.coverage);
      expect(figures.rmse).toBeGreaterThan(reference.rmse);
    }
    expect(rowOf('rapid guessers').agreement).toBeLessThan(reference.agreement);
    expect(rowOf('calibrated on 200').agreement).toBeLessThan(reference.agreement);
    expect(rowOf('wrong Q-matrix rows').agreement).toBeLessThan(reference.agreement);
  });

  it('shows each mistake of the model for tests that end with their classifications too', () => {
    const rows = study.rows.filter(({ group }) => group === 'unsettled mistakes');
    expect(rows.map(({ name }) => name.split(':', 1)[0])).toEqual([
      'wrong Q-matrix rows',
      'prerequisites',
      'prerequisites',
      'two abilities, correlation 0.6, until classified',
      'rapid guessers',
      ...['guess on 50', 'are careless on 30', 'are helped on 40'].map(
        (what) => `all ${what} % of items, until classified`,
      ),
    ]);
    const sound = study.rows.find(({ group }) => group === 'unsettled')!.figures;
    for (const { name, figures } of rows) {
      expect(figures.meanLength).toBeLessThan(
        study.rows.find(({ group }) => group === 'stop')!.figures.meanLength,
      );
      if (name.startsWith('rapid')) expect(figures.agreement).toBeLessThan(sound.agreement);
      expect(figures).not.toEqual(sound);
    }
  });

  it('compares the length of tests for each target with that of equally correct tests for another', () => {
    expect(study.curves.map(({ bank, target }) => `${bank}: ${target}`)).toEqual(
      ['good items', 'weaker items', 'few KCs in scope'].flatMap((bank) =>
        ['latent_state', 'unsettled_components', 'unsettled_and_unmeasured'].map(
          (target) => `${bank}: ${target}`,
        ),
      ),
    );
    const [state, unsettled] = study.curves;
    expect(state?.points.find(({ threshold }) => threshold === 0.9)?.items).toBeCloseTo(
      study.rows.find(({ group }) => group === 'stop')!.figures.meanLength,
      12,
    );
    const { atEqualThreshold, atEqualCorrectness } = unsettled!.comparisons[0]!;
    expect(atEqualCorrectness!.value).toBeGreaterThan(atEqualThreshold.value);
    for (const { value, interval } of [atEqualThreshold, atEqualCorrectness!]) {
      expect(interval![0]).toBeLessThanOrEqual(value);
      expect(interval![1]).toBeGreaterThanOrEqual(value);
    }
    // The points between the rows are no rows.
    expect(study.rows.some(({ group }) => group === 'point')).toBe(false);
  });

  it('has weighted likelihood estimates that lean inwards less than posterior means at either end', () => {
    const groups = study.byAbility.filter(({ learners }) => learners > 5);
    const [lowest, highest] = [groups[0]!, groups.at(-1)!];
    expect(lowest.weightedBias).toBeLessThan(lowest.bias);
    expect(highest.weightedBias).toBeGreaterThan(highest.bias);
  });

  it('shows in its charts what its row shows for all learners', () => {
    const { bias, rmse, coverage, agreement } = study.rows[0]!.figures;
    const groups = study.byAbility.filter(({ learners }) => learners > 0);
    const over = (valueOf: (group: (typeof groups)[number]) => number): number =>
      groups.reduce((sum, group) => sum + (group.learners / 90) * valueOf(group), 0);
    expect(over((group) => group.bias)).toBeCloseTo(bias, 12);
    expect(Math.sqrt(over((group) => group.rmse ** 2))).toBeCloseTo(rmse, 12);
    expect(over((group) => group.coverage)).toBeCloseTo(coverage, 12);
    const agreeing = study.byEvidence.reduce((sum, group) => sum + group.count * group.agreement, 0);
    expect(agreeing / (90 * 8)).toBeCloseTo(agreement, 12);
  });

  it('states where it differs from the study that the aims were set for', () => {
    const of = (change: object, bar = 1): readonly string[] =>
      reservations({ ...DESIGN, policy: 'plain', ...change }, bar);
    expect(study.reservations).toEqual(of(settings));
    expect(of({})).toEqual([]);
    expect(of({ length: 29 })).toEqual([expect.stringContaining('other sizes')]);
    expect(of({ policy: 'floors' }, 0.5)).toEqual([
      expect.stringContaining('constraints'),
      'The aims are 2 times as lax as the design’s (--bar).',
    ]);
  });

  it('is the same for the same settings, whatever exposure control is shown beside it', () => {
    const small = { ...settings, items: 30, kcs: 3, length: 5, worlds: 1, learners: 30 };
    const shares: number[] = [];
    const plain = runStudy(small, (done) => shares.push(done));
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect([shares[0], Math.max(...shares) < 1, Math.max(...shares) > 0.9]).toEqual([0, true, true]);
    const { rows, aims } = runStudy({ ...small, exposure: ['randomesque', 'progressive'] });
    const added = rows.filter(({ group }) => group === 'exposure');
    expect(rows.filter((row) => !added.includes(row))).toEqual(plain.rows);
    expect(aims.slice(0, plain.aims.length)).toEqual(plain.aims);
    expect(aims).toHaveLength(plain.aims.length + 6);
    expect(added.map(({ figures }) => figures.learners)).toEqual([30, 30]);
    for (const { figures } of added) expect(figures.overlap).toBeLessThan(plain.rows[0]!.figures.overlap);
    // A group without learners has no figure.
    const byAbility = [{ ...plain.byAbility[0]!, rmse: NaN }];
    expect(JSON.parse(resultsJson({ ...plain, byAbility }))).toMatchObject({ byAbility: [{ rmse: null }] });
  });
});

describe('the reports', () => {
  const html = htmlReport(study);

  it('show each row and aim, on paper and in the terminal', () => {
    const text = textReport(study, (_style, word) => word);
    for (const { name } of [...study.rows, ...study.aims]) {
      expect(text).toContain(name);
      expect(html).toContain(name);
    }
    expect(text.match(/^(met|missed) /gm)).toHaveLength(study.aims.length);
    const harmless = study.aims.filter(({ met, decides }) => !met && !decides).length;
    expect(harmless).toBeGreaterThan(0);
    expect(text.match(/^missed .*does not affect the exit code/gm)).toHaveLength(harmless);
    expect(html.match(/without effect on the exit code/g)).toHaveLength(harmless);
    for (const report of [text, html]) {
      for (const title of [curvesTitle, ratiosTitle, exposureTitle]) expect(report).toContain(title);
      expect(report).toMatch(
        /independent given ability\..* too few abilities: \d+\.\d % in chains of 5 KCs, \d+\.\d % in chains of 8 KCs/,
      );
      expect(report).toContain('WLE RMSE');
    }
  });

  // studies.slow.test.ts opens the page in a browser.
  it('draw inside their frames, and no coordinate that is no number', () => {
    expect(html.match(/<svg [^>]*role="img"/g)).toHaveLength(6);
    const places = [...html.matchAll(/ (?:x|y|cx|cy|x1|x2|y1|y2|width|height)="([\d.-]+)"/g)];
    expect(places.length).toBeGreaterThan(200);
    for (const [, place] of places) {
      expect(Number(place)).toBeGreaterThanOrEqual(0);
      expect(Number(place)).toBeLessThanOrEqual(440);
    }
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
  });
});
