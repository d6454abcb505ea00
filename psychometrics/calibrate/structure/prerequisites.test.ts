import { describe, expect, it } from 'vitest';
import { closure, directEdges, hierarchyText, readHierarchy } from './prerequisites.ts';
import { proposeHierarchies, proposeParts } from './proposals.ts';

const kcs = ['A', 'B', 'C', 'D'];

describe('readHierarchy', () => {
  it.each([
    ['A>B>C', [0, 1, 3, 0]],
    [' A > B , C>D ', [0, 1, 0, 4]],
    ['A>B\nB>C\nA>C\n', [0, 1, 3, 0]],
  ])('reads %j with what follows from it', (text, required) => {
    expect(readHierarchy(text, kcs)).toEqual({ ok: true, value: required });
  });

  it.each([
    ['A>E', /^"E" is not a knowledge component of the Q-matrix: expected A, B, C, D$/],
    ['A', /^"A" is no prerequisite: write A>B/],
    ['', /^it contains no prerequisite/],
    ['A>B,B>C,C>A', /^"A" requires itself through others/],
    ['A>A', /^"A" requires itself/],
  ])('rejects %j', (text, message) => {
    expect(readHierarchy(text, kcs)).toEqual({ ok: false, error: expect.stringMatching(message) as string });
  });
});

describe('hierarchyText', () => {
  it.each([
    ['A>B>C', 'A → B → C'],
    ['A>B,A>C,C>D', 'A → B, A → C → D'],
    ['A>B,B>C,A>C', 'A → B → C'],
  ])('joins the direct prerequisites of %j into chains', (text, expected) => {
    const read = readHierarchy(text, kcs);
    expect(read.ok && hierarchyText(read.value, kcs)).toBe(expected);
  });

  it('has no edge that follows from others', () => {
    const closed = closure(4, [
      [0, 1],
      [1, 2],
      [0, 2],
      [2, 3],
    ]);
    expect(closed.ok && directEdges(closed.value)).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
  });
});

/** Learners by pattern of three KCs: the second occurs only with the first. */
const emptied = Float64Array.from({ length: 8 }, (_, a) => ((a & 3) === 2 ? 0 : 100));

describe('proposeHierarchies', () => {
  it('proposes a prerequisite where a pattern is empty', () => {
    expect(proposeHierarchies(3, emptied, [[0], [1], [2]])).toEqual([[0, 1, 0]]);
  });

  it('proposes none that the items cannot show', () => {
    expect(proposeHierarchies(3, emptied, [[0], [0, 1], [2]])).toEqual([]);
  });
});

describe('proposeParts', () => {
  it('finds the parts within which KCs go together more than one ability explains', () => {
    const flat = new Float64Array(16).fill(100);
    const together = flat.map(
      (count, a) => count * (((a >>> 1) ^ (a >>> 3)) & 1 ? 1 : 3) * ((a ^ (a >>> 2)) & 1 ? 1 : 3),
    );
    expect(proposeParts(4, together, flat)).toEqual([0, 1, 0, 1]);
    expect(proposeParts(3, flat.subarray(0, 8), flat.subarray(0, 8))).toBeUndefined();
  });
});
