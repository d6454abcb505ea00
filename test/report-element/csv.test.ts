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
