import { describe, expect, it } from 'vitest';
import type { TableOptions } from './options.ts';
import { readStudyTables, withAnswers, writeStudyTables } from './tables.ts';
import type { StudyTables } from './tables.ts';

const qMatrix = ',A,B\nI1,1,0\nI2,0,1\nI3,1,1\n';
const responses = ',I1,I2,I3\na,1,0,1\nb,0,,NA\nc,1,1,1\n';
interface Texts {
  readonly responses?: string;
  readonly qMatrix?: string;
}

function read(texts: Texts, options?: TableOptions) {
  const all = { responses, qMatrix, ...texts };
  return readStudyTables(
    { responses: { name: 'r.csv', text: all.responses }, qMatrix: { name: 'q.csv', text: all.qMatrix } },
    options,
  );
}

function tablesOf(texts: Texts, options?: TableOptions): StudyTables {
  const tables = read(texts, options);
  if (!tables.ok) throw new Error(tables.error.join('\n'));
  const { understood: _, ...study } = tables.value;
  return study;
}

const plain = tablesOf({});

describe('readStudyTables', () => {
  it('reads answers in the order of the Q-matrix, and the knowledge components of each item', () => {
    expect(plain).toEqual({
      items: ['I1', 'I2', 'I3'],
      kcs: ['A', 'B'],
      kcsOf: [[0], [1], [0, 1]],
      learners: [
        { name: 'a', answers: Int8Array.of(1, 0, 1) },
        { name: 'b', answers: Int8Array.of(0, -1, -1) },
        { name: 'c', answers: Int8Array.of(1, 1, 1) },
      ],
    });
  });

  const wide = 'school,id,I1,I2,age,I3\nx,a,1,0,12,1\nx,b,0,,,NA\ny,c,1,1,13,1\n';
  const long = 'Item;Score;Learner\nI1;1;a\nI3;1;a\nI2;0;a\nI1;0;b\nI2;NA;b\nI1;1;c\nI2;1;c\nI3;1;c\n';
  const timed =
    'learner,item,score,time\na,I1,1,9\na,I2,0,9\na,I3,1,9\nb,I1,0,9\nc,I1,1,9\nc,I2,1,9\nc,I3,1,9\n';
  const words = 'item;A;domain;B\r\nI1;TRUE;x;0,0\r\nI2;FALSE;x;1,0\r\nI3;1.0;y;1\r\n';
  it.each<[string, Texts, TableOptions?]>([
    ['items in another order', { responses: 'id,I3,I1,I2\na,1,1,0\nb,NA,0,\nc,1,1,1\n' }],
    ['semicolons and decimal commas', { responses: 'id;I1;I2;I3\na;1,0;0,0;1,0\nb;0,0;;NA\nc;1;1;1\n' }],
    ['TRUE and FALSE', { responses: ',I1,I2,I3\na,TRUE,FALSE,True\nb,false,,na\nc,TRUE,TRUE,TRUE\n' }],
    ['1.0 and 0.0', { responses: ',I1,I2,I3\na,1.0,0.00,1.0\nb,0.0,NaN,n/a\nc,1,1,1\n' }],
    ['missing', { responses: ',I1,I2,I3\na,1,0,1\nb,0,99,.\nc,1,1,1\n' }, { missing: ['99', '.'] }],
    ['columns to ignore, before and after the ids', { responses: wide }, { ignore: ['school', 'age'] }],
    ['one row per answer', { responses: long }],
    ['one row per answer, with further columns', { responses: timed }],
    ['one row per answer, with columns to ignore', { responses: timed }, { ignore: ['time'] }],
    ['a Q-matrix with words, decimals and a column to ignore', { qMatrix: words }, { ignore: ['domain'] }],
  ])('takes %s', (_name, texts, options) => {
    expect(tablesOf(texts, options)).toEqual(plain);
  });

  it('numbers learners without a column of ids', () => {
    const { learners } = tablesOf({ responses: 'I1,I2,I3\n1,0,1\n0,,NA\n1,1,1\n' });
    expect(learners.map(({ name }) => name)).toEqual(['1', '2', '3']);
    expect(learners.map(({ answers }) => answers)).toEqual(plain.learners.map(({ answers }) => answers));
  });

  it('leaves an ignored item out of both tables, in either form', () => {
    const wide = tablesOf({}, { ignore: ['I3'] });
    expect(wide).toMatchObject({ items: ['I1', 'I2'], kcsOf: [[0], [1]] });
    const long = { responses: 'learner,item,score\na,I1,1\na,I2,0\na,I3,1\nb,I1,0\nc,I1,1\nc,I2,1\n' };
    expect(tablesOf(long, { ignore: ['I3'] })).toEqual(wide);
  });

  it('reads back what it writes, names with separators and learners without answers too', () => {
    const odd = tablesOf({
      responses: '"id";"I;1";"learner";I3\n"a,b";1;0;1\nsilent;;;\n',
      qMatrix: 'item,A,"B, too"\n"I;1",1,0\nlearner,0,1\nI3,1,1\n',
    });
    const written = writeStudyTables(odd);
    expect(tablesOf({ responses: written['responses.csv'], qMatrix: written['q-matrix.csv'] })).toEqual(odd);
    expect(withAnswers(odd.learners).map(({ name }) => name)).toEqual(['a,b']);
  });

  const answers = (texts: string): Texts => ({ responses: texts });
  const q = (texts: string): Texts => ({ qMatrix: texts });
  it.each(
    Object.entries<Texts>({
      'r.csv: row 2, column "I2": found "99" (3 cells): if it marks a missing answer, add --missing 99':
        answers(',I1,I2,I3\na,1,99,0\nb,99,1,99\n'),
      'q.csv: row 2, column "A": found "yes"; expected 1 if the item needs the knowledge component, otherwise 0':
        q(',A,B\nI1,yes,0\nI2,0,1\nI3,1,1\n'),
      'r.csv: row 5: duplicate learner id "a" (first in row 2)': answers(`${responses}a,1,1,1\n`),
      'r.csv: row 1, column "age": give each learner an id of its own, or number the learners with --ignore age':
        answers('age,I1,I2,I3\n12,1,0,1\n12,0,0,1\n'),
      'r.csv: row 5: no learner id: add one, or, if this is no learner, leave it out with --ignore-rows "row 5"':
        answers(`${responses},1,1,1\n`),
      'q.csv: row 5: duplicate item "I1" (first in row 2)': q(`${qMatrix}I1,1,0\n`),
      'r.csv: row 1: no item of q.csv is named "sex", "age group": add --ignore "sex,age group"': answers(
        'id,I1,sex,I2,I3,age group\na,1,f,1,1,10\n',
      ),
      'q.csv: row 5: item "I4" is not in r.csv: give it the name that the item has there, remove the row, or add --ignore I4':
        q(`${qMatrix}I4,1,0\n`),
      'r.csv: row 1 contains answers instead of names: the header row is missing. Add a first row with the names of the 3 items, "id,I1,I2,I3,…"':
        answers('a,1,0,1\nb,0,1,1\n'),
      'r.csv: row 1: no column is named after an item of q.csv. row 1 contains "x", "y", "z"; the items of q.csv are "I1", "I2", "I3": give the items the same names in both tables, or add --by-position if the 3 items are in the same order. If the table has one row per answer, name its columns: --learner COL --item COL --score COL':
        answers('a,x,y,z\nb,0,1,1\n'),
      'r.csv: row 5: duplicate answer of learner "a" to item "I1" (first in row 2)': answers(
        'learner,item,score\na,I1,1\na,I2,1\na,I3,1\na,I1,0\n',
      ),
      'q.csv: column "A" contains only 1 and 0: the first column must name the items; if the 3 rows are in the order of the items of the answers, add --by-position':
        q('A,B\n1,0\n0,1\n1,1\n'),
      'q.csv: row 4: item "I3" needs no knowledge component: mark at least one, or remove the item': q(
        ',A,B\nI1,1,0\nI2,0,1\nI3,0,0\n',
      ),
      'q.csv: column "C": no item needs this knowledge component: remove the column, or add --ignore C': q(
        ',A,B,C\nI1,1,0,0\nI2,0,1,0\nI3,1,1,0\n',
      ),
    }),
  )('refuses with row, column and what to do: %s', (line, texts) => {
    const tables = read(texts);
    expect(tables.ok ? [] : tables.error).toContain(line);
  });

  it('refuses to ignore a column that neither table has', () => {
    const tables = read({}, { ignore: ['agee'] });
    expect(tables.ok ? [] : tables.error).toContain(
      '--ignore "agee": neither r.csv nor q.csv has this column',
    );
  });

  it('reports the defects of both tables at once, and only the beginning of a huge value', () => {
    const tables = read({
      responses: `,I1,I2,I3\na,1,0,${'9'.repeat(5000)}\n`,
      qMatrix: `${qMatrix}I1,x,0\n`,
    });
    const lines = tables.ok ? [] : tables.error;
    expect(lines.map((line) => line.slice(0, 12))).toEqual(['q.csv: row 5', 'q.csv: row 5', 'r.csv: row 2']);
    expect(lines[2]?.length).toBeLessThan(300);
  });
});
