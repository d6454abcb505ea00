import { expect, it } from 'vitest';
import { figuresOf } from './figures.ts';
import { table } from './measure.ts';

const read = (text: string) =>
  Object.fromEntries([...figuresOf(text)].map(([name, { value }]) => [name, value]));

it('reads each value that has a unit, by row and column', () => {
  const text = table(
    ['', 'p50', 'to above', 'guard', 'peak', 'aim: p50 ≤ 2 ms'],
    [
      ['1000 items', '12.3 ms', '', '', '', 'met'],
      ['4000 items', '1.5 s', '4.00', '≤ 5', '2 MB', ''],
    ],
  );
  expect(read(`A title\n${text}\n\nEvery figure meets its aim or guard.`)).toEqual({
    '1000 items, p50': 12.3,
    '4000 items, p50': 1500,
    '4000 items, peak': 2000,
  });
});

it('reads a table whose rows have no name', () => {
  expect(read(table(['p50', 'best'], [['0.5 ms', '1234 ms']]))).toEqual({ p50: 0.5, best: 1234 });
});

it('tells the columns of two tables apart', () => {
  const first = table(['', 'CPU'], [['a', '1 ms']]);
  expect(read(`${first}\n\n${table(['', 'size'], [['a', '4 KB']])}`)).toEqual({ 'a, CPU': 1, 'a, size': 4 });
});
