import { conditionsOf } from './recovery/conditions.ts';
import { sitAll } from './recovery/sit.ts';
import { figuresOf } from './recovery/figures.ts';
const [ref] = conditionsOf({ items: 400, kcs: 20, length: 15, policy: 'plain' });
const worlds = Number(process.argv[2] ?? 2), learners = Number(process.argv[3] ?? 100), seed = process.argv[4] ?? '900';
const rows = [
  ['indep true', 'independent', { kind: 'true' }], ['indep no blocks', 'independent', { kind: 'no blocks' }],
  ...[5, 10].flatMap((n) => [
    [`chains ${n} curves`, { chainsOf: n }, { kind: 'true' }], [`chains ${n} true`, { chainsOf: n }, { kind: 'chains', length: n }],
    [`chains ${n} fitted 2000`, { chainsOf: n }, { kind: 'fitted chains', length: n, learners: 2000 }], [`chains ${n} fitted 500`, { chainsOf: n }, { kind: 'fitted chains', length: n, learners: 500 }]]),
] as const;
for (const [name, structure, knowledge] of rows) {
  const t = performance.now();
  const all = Array.from({ length: worlds }, (_, w) => [...sitAll({ ...ref!, length: 15, structure, knowledge } as never, `${seed} ${w}`, learners)]);
  const f = figuresOf(all, 400);
  const whole = all.flat().filter((s) => s.kcs.every((k) => (k.posterior >= 0.5) === k.mastered)).length / all.flat().length;
  console.log(String(name).padEnd(24), 'agreement', f.agreement.toFixed(4), 'whole', whole.toFixed(3), 'coverage', f.coverage.toFixed(3), 'rmse', f.rmse.toFixed(3), 'bias', f.bias.toFixed(3), `${((performance.now() - t) / 1000).toFixed(1)} s`);
}
