import { calibrate } from './calibrate/calibrate.ts';
import { studyOf } from './calibrate/read-data.ts';
import { simulateStudy } from './verdicts/simulate.ts';
import { logistic, uniformFrom } from './calibrate/numbers.ts';
import { normal } from './recovery/learners.ts';
import { latentPrior } from './calibrate/model.ts';
import { structureLine } from './calibrate/report/structure.ts';
const mode = process.argv[2] ?? 'chain',
  K = Number(process.argv[3] ?? 5),
  N = Number(process.argv[4] ?? 2000),
  seeds = Number(process.argv[5] ?? 2),
  model = (process.argv[6] ?? 'dina') as 'dina';
for (let seed = 1; seed <= seeds; seed += 1) {
  const u = uniformFrom(1000 + seed);
  const curves = Array.from({ length: K }, () => ({
    slope: 1.5 + u(),
    location: mode.startsWith('chain') ? -1.5 + u() : 2 * u() - 1,
  }));
  const follows = (k: number) => (mode === 'chain' && k > 0) || (mode === 'chains' && k % 4 > 0);
  const patterns = (draw: () => number) => {
    if (mode === 'exclusive') return [1, 2, 4, 6][Math.floor(4 * draw())] ?? 1; const th0 = normal(draw); const th2 = 0.4 * th0 + Math.sqrt(1 - 0.16) * normal(draw);
    return curves.reduce<number>((p, { slope, location }, k) => {
      const th = mode === 'two' && 2 * k >= K ? th2 : th0;
      const m = draw() < logistic(slope * (th - location));
      return m && (!follows(k) || (p >>> (k - 1)) & 1) ? p | (1 << k) : p;
    }, 0);
  };
  const kcsOf = [
    ...Array.from({ length: 3 * K }, (_, j) => [j % K]),
    ...Array.from({ length: K - 1 }, (_, k) => [k, k + 1]),
    ...Array.from({ length: K - 2 }, (_, k) => [k, k + 2]),
    ...Array.from({ length: 2 }, (_, k) => [k, k + 1, k + 2]),
  ];
  const study = studyOf(simulateStudy({ learners: N, kcs: K, kcsOf, seed, patterns }));
  if (!study.ok) throw new Error(study.error.join());
  const t = performance.now();
  const c = calibrate(study.value, {
    model,
    penalty: 'weak',
    bound: 0.001,
    maximumIterations: 5000,
    tolerance: 1e-3,
    randomStarts: undefined,
    seed: 1,
    ...(process.argv[7] === undefined ? {} : { blocks: JSON.parse(process.argv[7]) }),
  });
  console.log(seed, kcsOf.length, structureLine(c), `${(performance.now() - t).toFixed(0)} ms`);
  console.log(
    '  truth ',
    curves.map(({ slope, location }) => `${slope.toFixed(2)}@${location.toFixed(2)}`).join(' '),
  );
  console.log(
    '  fitted',
    study.value.kcs
      .map(
        (_, k) =>
          `${c.parameters.slopes[k]!.toFixed(2)}(${c.errors.slopes[k]?.toFixed(2)}${c.errors.slopesFromPrior[k] ? '†' : ''})@${c.parameters.locations[k]!.toFixed(2)}(${c.errors.locations[k]?.toFixed(2)})`,
      )
      .join(' '),
  );
  const truth = latentPrior(
    { ...c.design },
    {
      slopes: Float64Array.from(curves, (x) => x.slope),
      locations: Float64Array.from(curves, (x) => x.location),
      extras: c.parameters.extras,
    },
  );
  const est = latentPrior(c.design, c.parameters);
  console.log(
    '  max |P(S) - truth|',
    Math.max(...est.patterns.map((p, a) => Math.abs(p - truth.patterns[a]!))).toFixed(4),
    'max joint/w',
    Math.max(
      ...[...est.joint].map((p, i) => {
        const g = i % 61;
        return Math.abs(c.design.points[g]!) > 2 ? 0 : Math.abs(p - truth.joint[i]!) / c.design.weights[g]!;
      }),
    ).toFixed(3),
    'LL',
    c.criteria.logLikelihood.toFixed(2),
    'free/rank',
    c.errors.free,
    c.errors.rank,
    'ceil',
    c.reliabilityCeiling?.toFixed(3),
  );
  if (typeof c.structure !== 'string')
    for (const x of c.structure.candidates)
      console.log(
        '    ',
        x.kind,
        x.detail,
        x.logLikelihood.toFixed(1),
        x.parameters,
        x.bic.toFixed(1),
        x.searchCost.toFixed(1),
        x.converged,
      );
  for (const x of c.conditions) console.log('   !', x.sentence);
}
