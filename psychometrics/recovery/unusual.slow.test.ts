import { expect, it } from 'vitest';
import { conditionsOf, DESIGN } from './conditions.ts';
import { sitAll } from './sit.ts';
import { share } from './statistics.ts';

const WORLDS = 5;
const LEARNERS = 50;
const conditions = conditionsOf({ ...DESIGN, policy: 'plain' });

it.each([
  ['20 KCs, 400 items, 30 administered', 0, 0.02],
  ['until classified at 0.9, 60 at most: unsettled first', 0, 0.02],
  ['all guess on 50 % of items', 0.35, 0.6],
])('answers are unusual about as often as documented: %s', (name, least, most) => {
  const condition = conditions.find((row) => row.name === name)!;
  const worlds = Array.from({ length: WORLDS }, (_, w) => [...sitAll(condition, `unusual ${w}`, LEARNERS)]);
  const unusual = share(worlds.flat(), ({ isUnusual }) => isUnusual);
  expect(unusual).toBeGreaterThanOrEqual(least);
  expect(unusual).toBeLessThanOrEqual(most);
});
