import { expect, it } from 'vitest';
import { createCircuits } from './circuits.ts';

/** Circuits on a clock of their own; every draw is the largest, so that each stays open for its whole time. */
function setup() {
  const clock = { now: 1_000_000 };
  const circuits = createCircuits({ now: () => clock.now, random: () => new Uint8Array(4).fill(255) });
  const wait = (name = 'owner', request: object = {}): number => circuits.wait(name, request);
  const fail = (name = 'owner'): number | undefined => circuits.failed(name, {});
  return { clock, circuits, wait, fail };
}

it('opens for two seconds, then twice as long after each try without an answer, up to 30 seconds', () => {
  const { clock, circuits, wait, fail } = setup();
  expect([fail(), fail()]).toEqual([undefined, undefined]);
  expect(wait()).toBe(0);
  const opened = [];
  for (let tried = 0; tried < 6; tried += 1) {
    const openMs = fail()!;
    opened.push(openMs);
    expect(wait()).toBe(openMs);
    clock.now += openMs;
    // One request tries, with all its calls; the others wait for it.
    const trying = {};
    expect([wait('owner', trying), wait('owner', trying), wait()]).toEqual([0, 0, 12_000]);
  }
  expect(opened).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  circuits.answered('owner');
  expect([wait(), fail(), fail()]).toEqual([0, undefined, undefined]);
});

it('lets another one try if the first never comes back, and if the clock is set back', () => {
  const { clock, wait, fail } = setup();
  for (let failed = 0; failed < 3; failed += 1) fail();
  clock.now += 2_000;
  expect(wait()).toBe(0);
  clock.now += 12_000;
  expect(wait()).toBe(0);
  clock.now -= 3_600_000;
  expect(wait()).toBe(0);
});

it('lets the next request try at once if the first ends undecided, and only then', () => {
  const { clock, circuits, wait, fail } = setup();
  for (let failed = 0; failed < 3; failed += 1) fail();
  circuits.ended('owner', {});
  expect(wait()).toBe(2_000);
  clock.now += 2_000;
  const [first, second] = [{}, {}];
  expect(wait('owner', first)).toBe(0);
  circuits.ended('owner', second);
  expect(wait('owner', second)).toBe(12_000);
  circuits.ended('owner', first);
  expect([wait('owner', second), wait('owner', first)]).toEqual([0, 12_000]);
  // It stays open.
  expect(fail()).toBe(4_000);
});

it('counts the failure of a request that tries although it was the last one that failed', () => {
  const { clock, circuits, wait, fail } = setup();
  const long = {};
  expect([fail(), fail(), circuits.failed('owner', long)]).toEqual([undefined, undefined, 2_000]);
  clock.now += 2_000;
  expect(wait('owner', long)).toBe(0);
  expect([circuits.failed('owner', long), circuits.failed('owner', long)]).toEqual([4_000, undefined]);
  expect(wait()).toBe(4_000);
});

it('counts a request once, forgets what is a minute old, and keeps owners apart', () => {
  const { clock, circuits, wait, fail } = setup();
  const request = {};
  for (let call = 0; call < 20; call += 1) expect(circuits.failed('owner', request)).toBeUndefined();
  expect(fail('other')).toBeUndefined();
  expect(fail()).toBeUndefined();
  clock.now += 60_001;
  expect([fail(), fail()]).toEqual([undefined, undefined]);
  expect(fail()).toBe(2_000);
  expect([wait(), wait('other')]).toEqual([2_000, 0]);
});
