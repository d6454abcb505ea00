import { describe, expect, it } from 'vitest';
import { describeFault, readStudy } from './read-data.ts';
import type { DataFault, Study } from './read-data.ts';

const names = { responses: 'r.csv', 'q-matrix': 'q.csv' };
const qMatrix = ',A,B\nI1,1,0\nI2,0,1\nI3,1,1\n';
const responses = ',I1,I2,I3\na,1,0,1\nb,0,,NA\nc,1,1,1\n';

function faultsOf(files: { readonly responses?: string; readonly qMatrix?: string }): readonly DataFault[] {
  const study = readStudy({ responses, qMatrix, ...files });
  return study.ok ? [] : study.error;
}

function studyOf(files: { readonly responses?: string; readonly qMatrix?: string }): Study {
  const study = readStudy({ responses, qMatrix, ...files });
  if (!study.ok) throw new Error(study.error.map((fault) => describeFault(fault, names)).join('\n'));
  return study.value;
}

describe('readStudy', () => {
  it('reads answers and Q-matrix, columns in any order, missing answers as such', () => {
    const study = studyOf({ responses: '\uFEFFid,I3,I1,I2\r\na,1,1,0\r\nb,NA,0,\r\nc,1,1,1\r\n' });
    expect(study).toMatchObject({
      items: ['I1', 'I2', 'I3'],
      kcs: ['A', 'B'],
      kcsOf: [[0], [1], [0, 1]],
      answered: [3, 2, 2],
      correct: [2, 1, 2],
      missing: 2,
      silent: 0,
    });
    expect([...study.responses.answers]).toEqual([1, 0, 1, 0, -1, -1, 1, 1, 1]);
  });

  it('puts equal rows together and leaves out who answered nothing', () => {
    const study = studyOf({ responses: `${responses}d,1,1,1\ne,,NA,\n` });
    expect([...study.responses.counts]).toEqual([1, 1, 2]);
    expect(study.responses.learners).toBe(4);
    expect(study.silent).toBe(1);
    expect(study.warnings.join('\n')).toContain('left out: 1.');
  });

  it.each<[string, { readonly responses?: string; readonly qMatrix?: string }, DataFault['kind'], RegExp]>([
    [
      'a value',
      { responses: ',I1,I2,I3\na,1,0,2\n' },
      'bad-value',
      /^r\.csv: row 2, column "I3": must be 0 or 1.*is "2"$/,
    ],
    [
      'a word',
      { qMatrix: ',A,B\nI1,yes,0\nI2,0,1\nI3,1,1\n' },
      'bad-value',
      /^q\.csv: row 2, column "A": must be 0 or 1, is "yes"$/,
    ],
    [
      'a gap in the Q-matrix',
      { qMatrix: ',A,B\nI1,1,\nI2,0,1\nI3,1,1\n' },
      'bad-value',
      /^q\.csv: row 2, column "B": .* is ""$/,
    ],
    [
      'an item that nobody saw',
      { qMatrix: `${qMatrix}I4,1,0\n` },
      'unknown-name',
      /^q\.csv: row 5: the item "I4" has no column/,
    ],
    [
      'an item without a row',
      { responses: ',I1,I2,I3,X\na,1,0,1,1\n' },
      'missing-name',
      /^r\.csv: row 1, column "X": the item has no row/,
    ],
    [
      'a ragged row',
      { responses: ',I1,I2,I3\na,1,0\n' },
      'malformed-table',
      /^r\.csv: row 2: holds 2 values for 3 columns$/,
    ],
    [
      'an item twice',
      { qMatrix: `${qMatrix}I1,1,0\n` },
      'malformed-table',
      /^q\.csv: row 5: the name "I1" stands in row 2 already$/,
    ],
    ['a learner twice', { responses: `${responses}a,1,1,1\n` }, 'malformed-table', /row 5: the name "a"/],
    [
      'a column twice',
      { responses: ',I1,I1,I3\na,1,1,1\n' },
      'malformed-table',
      /row 1, column 3: the name "I1"/,
    ],
    ['an empty file', { responses: '' }, 'malformed-table', /^r\.csv: is empty$/],
    ['no learner', { responses: ',I1,I2,I3\n' }, 'malformed-table', /holds no row/],
    ['semicolons', { responses: ';I1;I2;I3\na;1;0;1\n' }, 'malformed-table', /semicolons/],
    [
      'an item that needs nothing',
      { qMatrix: ',A,B\nI1,1,0\nI2,0,1\nI3,0,0\n' },
      'measures-nothing',
      /row 4: the item "I3" needs no/,
    ],
    [
      'a component that nothing needs',
      { qMatrix: ',A,B,C\nI1,1,0,0\nI2,0,1,0\nI3,1,1,0\n' },
      'never-measured',
      /^q\.csv: column "C": no item needs/,
    ],
    [
      'an item that nobody answered',
      { responses: ',I1,I2,I3\na,1,0,\nb,1,1,NA\n' },
      'never-answered',
      /column "I3": no learner answered/,
    ],
  ])('tells %s, with row and column', (_name, files, kind, line) => {
    const faults = faultsOf(files);
    expect(faults.map((fault) => fault.kind)).toContain(kind);
    expect(faults.map((fault) => describeFault(fault, names)).join('\n')).toMatch(new RegExp(line, 'm'));
  });

  it('tells all of them at once, up to a thousand', () => {
    expect(faultsOf({ responses: ',I1,I2,I3\na,x,y,z\nb,1,2,1\n' })).toHaveLength(4);
    // A row that is too short hides no wrong value elsewhere.
    expect(faultsOf({ responses: ',I1,I2,I3\na,1,0,2\nb,1\n' }).map(({ kind, row }) => [kind, row])).toEqual([
      ['malformed-table', 3],
      ['bad-value', 2],
    ]);
    const rows = Array.from({ length: 2000 }, (_, n) => `${n},x,x,x`).join('\n');
    expect(faultsOf({ responses: `,I1,I2,I3\n${rows}\n` })).toHaveLength(1000);
  });

  it('says that more than twelve components are too many for exact steps', () => {
    const kcs = Array.from({ length: 13 }, (_, k) => `K${k}`);
    const rows = kcs.map((_, j) => `I${j},${kcs.map((_kc, k) => Number(k === j)).join(',')}`);
    const faults = faultsOf({
      qMatrix: `,${kcs.join(',')}\n${rows.join('\n')}\n`,
      responses: `,${kcs.map((_, j) => `I${j}`).join(',')}\na,${kcs.map(() => 1).join(',')}\n`,
    });
    expect(faults).toMatchObject([{ kind: 'too-large', file: 'q-matrix' }]);
    expect(faults[0]?.message).toContain('at most 12');
  });

  it('shows only the beginning of a monstrous value', () => {
    const [fault] = faultsOf({ responses: `,I1,I2,I3\na,1,0,${'9'.repeat(5000)}\n` });
    expect(fault?.message.length).toBeLessThan(200);
  });
});

describe('warnings', () => {
  it.each([
    ['few learners', {}, /Few learners \(3\)/],
    [
      'an item without variance',
      { responses: ',I1,I2,I3\na,1,0,1\nb,1,1,1\nc,1,1,0\n' },
      /No variance.*"I1"\./,
    ],
    [
      'a component never measured alone',
      { qMatrix: ',A,B\nI1,1,0\nI2,1,1\nI3,1,1\n' },
      /not complete: no item measures "B" alone/,
    ],
    ['fewer than three items', {}, /Fewer than 3 items need "A", "B"/],
    [
      'components that the same items need',
      { qMatrix: ',A,B\nI1,1,1\nI2,1,1\nI3,1,1\n' },
      /The same items need "B"/,
    ],
  ])('names %s', (_name, files, warning) => {
    expect(studyOf(files).warnings.join('\n')).toMatch(warning);
  });
});
