import { writeFileSync } from 'node:fs';
import { simulateStudy } from './verdicts/simulate.ts';
import { writeStudyTables } from '#tools/terminal/study/tables.ts';
import { logistic, uniformFrom } from './calibrate/numbers.ts';
import { normal } from './recovery/learners.ts';
const u = uniformFrom(5);
for (const mode of ['chain', 'indep']) {
  const K = 4;
  const curves = Array.from({ length: K }, () => ({ slope: 1.5 + u(), location: -1 + u() }));
  const patterns = (draw: () => number): number => { const th = normal(draw); return curves.reduce<number>((p, { slope, location }, k) => (draw() < logistic(slope * (th - location)) && (mode !== 'chain' || k === 0 || (p >>> (k - 1)) & 1) ? p | (1 << k) : p), 0); };
  const t = simulateStudy({ learners: 1000, kcs: K, kcsOf: Array.from({ length: 20 }, (_, j) => (j < 16 ? [j % K] : [j % 4 === 3 ? 0 : j % 4, (j % 4) === 3 ? 3 : (j % 4) + 1])), seed: 3, patterns });
  const w = writeStudyTables({ ...t, understood: {} } as never) as Record<string, string>;
  for (const [n, x] of Object.entries(w)) writeFileSync(`/tmp/w/b2x/e2e/${mode}-${n}`, x);
}
