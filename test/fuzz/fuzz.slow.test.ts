import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

// Another search: FUZZ_SEED=7 FUZZ_DRAWS=100000 npm run test:unit -- --project slow test/fuzz

const { FUZZ_SEED: seed = '20260302', FUZZ_DRAWS: draws = '20000' } = process.env;

it('no answer contradicts the facts or itself, and every pair of members that may differ has been read', async () => {
  const { findings, ...figures } = await fuzz(Number(seed), Number(draws));
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect(findings.join('\n')).toBe('');
}, 3_600_000);
