import { expect, it } from 'vitest';
import { countLines, describeLines, keepLine } from './function-lines.ts';

const line = (requestId: string, code: string, rest: object = {}) => ({
  function: 'readReadiness',
  line: { level: 'INFO', code, requestId, ...rest },
});

it('shows the request with an error first, and the statement that it came from', () => {
  const from = countLines();
  expect(describeLines(from)).toBeUndefined();
  const frames = [`${import.meta.filename}:1:1`];
  keepLine(line('one', 'REQUEST_FAILED', { level: 'ERROR', error: 'RangeError', frames }));
  keepLine(line('two', 'REQUEST_COMPLETED', { status: 200 }));
  expect(describeLines(from)?.split('\n')).toEqual([
    'The functions have logged during this test:',
    '  ERROR readReadiness REQUEST_FAILED requestId=one error=RangeError',
    "      at test/support/function-lines.test.ts:1  import { expect, it } from 'vitest';",
    '  INFO readReadiness REQUEST_COMPLETED requestId=two status=200',
  ]);
});

it('shows the lines of three requests, each cut, and counts the rest', () => {
  const from = countLines();
  for (let at = 0; at < 5; at += 1) keepLine(line(`request ${at}`, 'X', { long: 'x'.repeat(5_000) }));
  const shown = describeLines(from)!;
  expect(shown).toMatch(/request 4[^]*request 3[^]*request 2[^]*and 2 more lines$/);
  expect(shown.length).toBeLessThan(2_000);
});
