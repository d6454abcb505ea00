import { expect, it } from 'vitest';
import { openProgress } from './progress.ts';

it.each([
  [0, 5_000, '░'.repeat(30) + '   0 %  first'],
  [0.5, 5_000, '█'.repeat(15) + '░'.repeat(15) + '  50 %, 5 s left  first'],
  [0.25, 100_000, '█'.repeat(8) + '░'.repeat(22) + '  25 %, 5 min left  first'],
  [1, 5_000, '█'.repeat(30) + ' 100 %  first'],
])('shows the share %s after %i ms, with the time left', (done, elapsed, expected) => {
  let time = 1_000;
  const describe = openProgress(() => time);
  time += elapsed;
  expect(describe(done, 'first')).toBe(expected);
});
