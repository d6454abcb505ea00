import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readNamedTable, readTable } from './csv.ts';

const plainTable = {
  columns: ['I1', 'I2'],
  rows: [
    { line: 2, name: 'a', cells: ['1', '0'] },
    { line: 3, name: 'b', cells: ['', 'NA'] },
  ],
};

describe('readNamedTable', () => {
  it.each([
    ['LF', ',I1,I2\na,1,0\nb,,NA\n'],
    ['CRLF', ',I1,I2\r\na,1,0\r\nb,,NA\r\n'],
    ['a byte order mark', '\uFEFF,I1,I2\na,1,0\nb,,NA'],
    ['blank lines at the end', ',I1,I2\na,1,0\nb,,NA\n\n  \n'],
    ['quotes and spaces around fields', '"" , "I1",I2 \n" a ",1,"0"\nb , "",NA\n'],
  ])('takes %s', (_name, text) => {
    expect(readNamedTable(text)).toEqual({ ok: true, value: plainTable });
  });

  it('takes commas and doubled quotes in quoted names, and a quote inside a plain one', () => {
    const read = readTable('id,"a, b","say ""x""",5" ruler\n1,1,0,1\n');
    expect(read.defects).toEqual([]);
    expect(read.table.columns).toEqual(['a, b', 'say "x"', '5" ruler']);
  });

  it.each([
    ['an empty text', '\uFEFF \n', ['is empty']],
    [
      'a blank line between rows',
      ',A\nx,1\n\ny,1\n',
      ['row 3: holds 0 values for 1 columns', 'row 3: has no name'],
    ],
    [
      'a name twice',
      ',A,A\nx,1,1\nx,1,1\n',
      [
        'row 1, column 3: the name "A" stands in row 1, column 2 already',
        'row 3: the name "x" stands in row 2 already',
      ],
    ],
    ['a quote without an end', ',A\nx,1\ny,"1\nz,1\n', ['row 3: a quoted field has no end']],
    ['a line break in quotes', ',A\n"x\ny",1\n', ['row 3: a quoted field has a line break in it']],
    ['no column', 'x\ny\n', ['row 1: names no column']],
  ])('tells %s', (_name, text, defects) => {
    expect(readNamedTable(text)).toEqual({ ok: false, error: defects });
  });

  it('reads a field of a megabyte', () => {
    const name = 'x'.repeat(1_000_000);
    expect(readTable(`,A\n${name},1\n`)).toMatchObject({ defects: [], table: { rows: [{ name }] } });
  });

  it('reads back whatever names were quoted', () => {
    const word = fc.string({ minLength: 1 }).filter((text) => !/[\r\n]/.test(text) && text.trim() === text);
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: 5 }), (names) => {
        const quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`);
        const { table, defects } = readTable(`,${quoted.join(',')}\nrow${',1'.repeat(names.length)}\n`);
        expect(defects).toEqual([]);
        expect(table.columns).toEqual(names);
      }),
    );
  });

  it('answers every text with a table or sentences', () => {
    const piece = fc.constantFrom(',', '"', '\n', '\r\n', '\r', 'a', ' ', '\uFEFF', ';', '\t', '\u0000');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const read = readNamedTable(pieces.join(''));
        expect(read.ok || read.error.length > 0).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
