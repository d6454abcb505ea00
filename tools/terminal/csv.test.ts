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
  ])('takes %s', (_name, text) => {
    expect(readCsv(text)).toEqual(ok(plainTable));
  });

  it.each([
    ['\uFEFF \n', /^the file is empty$/],
    [',A\nx,1\n\ny,1\n', /^row 3: the row is empty: remove it$/],
    [',A\nx,1\ny,"1\nz,1\n', /^row 3: a quoted field has no closing quote$/],
    [',A\n"x\ny",1\n', /^row 3: a quoted field contains a line break/],
    ['x\ny\n', /^row 1 has only one column: separate columns with/],
    ['"id" "I1"\n"a" 1\n', /^row 1 has only one column/],
    [',A\rx,1\r', /^lines end with a carriage return only: save/],
    [',A,B\nx,1\ny,1,0\n', /^row 2: found 2 values, but row 1 names 3 columns$/],
    [',A,B\nx,1,0,0,0\ny,1,1\n', /^row 2: .* 3 columns: if numbers have decimal commas/],
    ['A,B\nx,1,0\ny,1,1\n', /^row 1 names 2 columns, but every other row has 3/],
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
        expect(readCsv(writeCsv(rows))).toEqual(ok({ header: rows[0], rows: [{ line: 2, cells: rows[1] }] }));
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
    ['a workbook', Buffer.from('PK\u0003\u0004\0\0'), /^this is not a text file: export/],
  ])('refuses %s with what to do', (_name, bytes, sentence) => {
    expect(decodeText(bytes)).toEqual(err(expect.stringMatching(sentence) as string));
  });
});
