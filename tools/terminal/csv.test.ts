import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { decodeText, readCsv, writeCsv } from './csv.ts';

const plainTable = {
  header: ['', 'I1', 'I2'],
  rows: [
    { line: 2, cells: ['a', '1', '0'] },
    { line: 3, cells: ['b', '', 'NA'] },
  ],
  notes: [],
};

describe('readCsv', () => {
  it.each([
    ['LF', ',I1,I2\na,1,0\nb,,NA\n'],
    ['CRLF', ',I1,I2\r\na,1,0\r\nb,,NA\r\n'],
    ['a byte order mark', '\uFEFF,I1,I2\na,1,0\nb,,NA'],
    ['blank lines at the end', ',I1,I2\na,1,0\nb,,NA\n\n  \n'],
    ['quotes and spaces around fields', '"" , "I1",I2 \n" a ",1,"0"\nb , "",NA\n'],
    ['semicolons', ';"I1";I2\na;1;0\nb;;NA\n'],
    ['tabs', '\tI1\tI2\na\t1\t0\nb\t\tNA\n'],
    ['a line that names the separator', '\uFEFFsep=;\r\n;I1;I2\r\na;1;0\r\nb;;NA\r\n'],
    ['R’s row names', 'I1,I2\na,1,0\nb,,NA\n'],
    ['separators at the end of rows', ',I1,I2\na,1,0,\nb,,NA,\n'],
    ['empty columns and rows at the end', ',I1,I2,,\na,1,0,,\nb,,NA,,\n,,,,\n,,,,\n'],
    ['invisible characters around fields', ',I1\u200B,I2\n\u2060a,1,\u00A00\nb,,NA\n'],
  ])('takes %s', (_name, text) => {
    const read = readCsv(text);
    const rows = plainTable.rows.map(({ cells }) => cells);
    expect(read.ok && [read.value.header, ...read.value.rows.map(({ cells }) => cells)]).toEqual([
      plainTable.header,
      ...rows,
    ]);
  });

  it('notes what it does not read as it stands', () => {
    const notesOf = (text: string) => {
      const read = readCsv(text);
      return read.ok ? read.value.notes : read.error;
    };
    expect(notesOf(',I1\na,1\n')).toEqual([]);
    expect(notesOf(',I1,\na,1,\n,,\n')).toEqual([
      'empty rows at the end: 1',
      'columns without name and values: 1',
    ]);
    expect(notesOf('I1\tI2\na\t1\t0\nb\t1\t0\n')).toEqual([expect.stringMatching(/R’s write\.table/)]);
  });

  it('takes a line break inside a quoted name as a blank, and counts rows by lines', () => {
    expect(readCsv('id,"Q1. Solve\n3/4 - 1/2"\na,1\n')).toEqual(
      ok({ header: ['id', 'Q1. Solve 3/4 - 1/2'], rows: [{ line: 3, cells: ['a', '1'] }], notes: [] }),
    );
  });

  it('leaves out rows before it compares their lengths', () => {
    const read = readCsv(
      'id,A,B\nx,1,0\nTotal: 1\n',
      () =>
        ({ line }) =>
          line === 3,
    );
    expect(read.ok && read.value.rows).toEqual([{ line: 2, cells: ['x', '1', '0'] }]);
  });

  it.each([
    ['\uFEFF \n', /^the file is empty$/],
    [',A\nx,1\n\ny,1\n', /^row 3: the row is empty: remove it$/],
    [',A\nx,1\ny,"1\nz,1\n', /^row 3: a quoted field has no closing quote$/],
    [',A\nx,1\n"y,1\nz,1\nu",1\n', /^row 3: a quoted field goes on over the next rows: close the quote$/],
    ['x\ny\n', /^row 1 has only one column: separate columns with/],
    ['"id" "I1"\n"a" 1\n', /^row 1 has only one column/],
    [',A\rx,1\r', /^lines end with a carriage return only: save/],
    [',A,B\nx,1\ny,1,0\n', /^row 2: found 2 values, but row 1 names 3 columns$/],
    [',A,B\nx,1,0,0,0\ny,1,1\n', /^row 2: .* 3 columns: if numbers have decimal commas/],
    ['A,B\nx,1,0\nx,1,1\n', /^row 1 names 2 columns, but every other row has 3/],
    [
      'Report of 5b\n\nid,A\nx,1\n',
      /^row 1 has only one column, and row 3 has several: remove the rows above/,
    ],
    ['id,A,B\nx,1,0\nTotal: 1\n', /^row 3: "Total: 1" is a note and no row .* add --ignore-rows "row 3"$/],
    [',A\n', /^there are no rows below row 1$/],
  ])('refuses %j with what to do', (text, sentence) => {
    const read = readCsv(text);
    expect(read.ok ? [] : read.error).toEqual([expect.stringMatching(sentence)]);
  });

  it('reads back all names that were written', () => {
    const word = fc.string({ minLength: 1 }).filter((text) => !/[\r\n]/.test(text) && text.trim() === text);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (names) => {
        const rows = [
          ['', ...names],
          ['row', ...names],
        ];
        expect(readCsv(writeCsv(rows))).toEqual(
          ok({ header: rows[0], rows: [{ line: 2, cells: rows[1] }], notes: [] }),
        );
      }),
    );
  });

  it('returns a table or sentences for every text', () => {
    const piece = fc.constantFrom(',', '"', '\n', '\r\n', '\r', 'a', ' ', '\uFEFF', ';', '\t', '\u0000');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const read = readCsv(pieces.join(''));
        expect(read.ok || read.error.length > 0).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('decodeText', () => {
  const text = '\uFEFFid;Übung\r\na;1\r\n';
  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-16, little-endian', Buffer.from(text, 'utf16le')],
    ['UTF-16, big-endian', Buffer.from(text, 'utf16le').swap16()],
  ])('takes %s with a byte order mark', (_name, bytes) => {
    expect(decodeText(bytes)).toEqual(ok(text.slice(1)));
  });

  it.each([
    ['Windows-1252', Buffer.from('id,I1\nM\xfcller,1\n', 'latin1'), /^row 2: the text is not UTF-8: save/],
    ['another file', Buffer.from('id,I1\0\0'), /^this is not a text file: export/],
    [
      'a workbook',
      Buffer.from('PK\u0003\u0004\0\0'),
      /^this is no table, but an Excel workbook \(\.xlsx\), .*: export/,
    ],
    ['an old workbook', Buffer.from('\xd0\xcf\x11\xe0\0', 'latin1'), /an old Excel workbook \(\.xls\)/],
    ['a PDF', Buffer.from('%PDF-1.7\n'), /^this is no table, but a PDF: export/],
    [
      'a login page',
      Buffer.from('\uFEFF\n<!DOCTYPE html><title>Log in'),
      /a web page \(HTML\), often that of a login/,
    ],
    ['JSON', Buffer.from('[{"id": 1}]'), /^this is no table, but JSON/],
    [
      'a compressed table',
      Buffer.from('\x1f\x8b\b', 'latin1'),
      /^this is no table, but a compressed file: unpack/,
    ],
  ])('refuses %s with what to do', (_name, bytes, sentence) => {
    expect(decodeText(bytes)).toEqual(err(expect.stringMatching(sentence) as string));
  });
});
