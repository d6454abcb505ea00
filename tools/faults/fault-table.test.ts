import { expect, it } from 'vitest';
import { faultTable } from './fault-table.ts';

const flow = (answer: string, status: string, failureMessages: readonly string[] = []) => ({
  ...{ ancestorTitles: ['readReadiness'], title: `readReadiness ${answer}`, status, failureMessages },
});
const cells = [
  flow('200: GET readUser late [RP-028]', 'passed'),
  flow('503 dependency-unavailable qti: GET lookupAttempt 500', 'passed'),
  flow('503 dependency-incomplete results: GET readSettledRecord 404', 'failed', ['expected 500\nto be 503']),
  flow('503 never run', 'skipped'),
  { ancestorTitles: ['while the store kms'], title: 'hangs: every route …', status: 'passed' },
];

it('has a row per flow and store, with its answers and what differs, and counts nothing that was not run', () => {
  const { lines, tried, differences } = faultTable(cells);
  expect({ tried, differences }).toEqual({ tried: 4, differences: 1 });
  expect(lines).toEqual([
    'under fault          cells  differ  answers',
    'readReadiness        3      1       200 × 1, 503 × 2',
    'while the store kms  1      0',
    'all                  4      1',
    '',
    'Differences:',
    '  readReadiness > readReadiness 503 dependency-incomplete results: GET readSettledRecord 404',
    '    expected 500',
  ]);
});
