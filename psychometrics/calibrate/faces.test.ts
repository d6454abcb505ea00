import { describe, expect, it } from 'vitest';
import { faceAt } from './faces.ts';
import { createDesign, type ItemModel } from './model.ts';

/** The free sets of patterns of one item on two KCs, and their scores. 100 learners have each pattern, and `right` of them answer correctly. */
function faceOf(model: ItemModel, table: readonly number[], right: readonly number[], slope = 2) {
  const design = createDesign(model, 2, [[0, 1]], { bound: 0.01, penalty: 'none' });
  const counts = new Float64Array(4).fill(100);
  const face = faceAt(
    design,
    {
      tables: [Float64Array.from(table)],
      slopes: Float64Array.of(slope, 2),
      locations: Float64Array.of(0, 0),
    },
    { logLikelihood: 0, answered: [counts], correct: [Float64Array.from(right)], everybody: counts },
  );
  return {
    sets: face.free.flatMap((one) => (one.kind === 'table' ? [one.patterns] : [])),
    scores: [...face.score.subarray(0, face.free.filter(({ kind }) => kind === 'table').length)],
    curves: face.free.flatMap((one) =>
      one.kind === 'slope' || one.kind === 'location' ? [`${one.kind} ${one.kc}`] : [],
    ),
  };
}

describe('the face at a point', () => {
  it('frees every pattern inside the bounds whose value is its own', () => {
    const { sets, scores } = faceOf('gdina', [0.2, 0.4, 0.5, 0.9], [30, 40, 40, 90]);
    expect(sets).toEqual([[0], [1], [2], [3]]);
    expect(scores.map(Math.round)).toEqual([10, 0, -10, 0]);
  });

  it.each([
    ['would fall', [60, 20, 40, 90], [[0, 1, 2], [3]]],
    ['would rise apart', [20, 60, 40, 90], [[0], [1], [2], [3]]],
    ['would fall in part', [50, 20, 60, 90], [[0, 1], [2], [3]]],
  ])('keeps equal patterns together that %s', (_, right, sets) => {
    expect(faceOf('gdina', [0.4, 0.4, 0.4, 0.9], right).sets).toEqual(sets);
  });

  it.each([
    ['lower', [0.01, 0.4, 0.5, 0.9], [0, 40, 50, 90], false],
    ['lower', [0.01, 0.4, 0.5, 0.9], [30, 40, 50, 90], true],
    ['upper', [0.2, 0.4, 0.5, 0.99], [20, 40, 50, 100], false],
    ['upper', [0.2, 0.4, 0.5, 0.99], [20, 40, 50, 60], true],
  ])('holds a value on its %s bound unless its score points inside', (bound, table, right, isFree) => {
    const { sets } = faceOf('gdina', table, right);
    expect(sets.some((set) => set.includes(bound === 'lower' ? 0 : 3))).toBe(isFree);
  });

  it('knows two values of a DINA item, or one where the second would fall below the first', () => {
    expect(faceOf('dina', [0.2, 0.2, 0.2, 0.9], [30, 30, 30, 90]).sets).toEqual([[0, 1, 2], [3]]);
    expect(faceOf('dina', [0.5, 0.5, 0.5, 0.5], [60, 60, 60, 40]).sets).toEqual([[0, 1, 2, 3]]);
    expect(faceOf('dina', [0.5, 0.5, 0.5, 0.5], [40, 40, 40, 60]).sets).toEqual([[0, 1, 2], [3]]);
  });

  it('holds a slope on its bound while its score points outside', () => {
    // As many learners with one KC as with both or none: the KCs are independent, and their curves want to be flat.
    const table = [0.2, 0.4, 0.5, 0.9];
    expect(faceOf('gdina', table, [20, 40, 50, 90], 25).curves).toContain('slope 0');
    expect(faceOf('gdina', table, [20, 40, 50, 90], 0.05).curves).not.toContain('slope 0');
  });
});
