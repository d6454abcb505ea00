import { expect, it } from 'vitest';
import { csvOf } from '#report-element/csv.ts';

it('quotes what needs it, and disarms what a spreadsheet would take for a formula', () => {
  const rows = [
    ['=HYPERLINK("x")', 'a "b", c'].map((text) => ({ text })),
    ['-1', 'ä'].map((text) => ({ text })),
  ];
  expect(csvOf({ caption: '', columns: ['Learner', 'Fractions'], rows })).toBe(
    'Learner,Fractions\r\n"\'=HYPERLINK(""x"")","a ""b"", c"\r\n\'-1,ä\r\n',
  );
});

it('writes no formula into the cell that a spreadsheet makes by splitting at a semicolon or a tab', () => {
  const rows = [[{ text: 'Ng;=1+1' }, { text: 'a\t@b' }, { text: '＝1' }, { text: '1-1' }]];
  expect(csvOf({ caption: '', columns: [], rows })).toBe(`\r\n"Ng;'=1+1","a\t'@b",'＝1,1-1\r\n`);
});
