import { describe, expect, it } from 'vitest';
import { createLineReader, type FunctionLogLine } from './function-log.ts';

describe('createLineReader', () => {
  it('joins pieces, cuts lines, and parses those that are JSON', () => {
    const lines: FunctionLogLine[] = [];
    const read = createLineReader('f', (line) => lines.push(line));
    read('{"code":"A"');
    expect(lines).toStrictEqual([]);
    read('}\nplain {text\n\n{"code"');
    read(':"B"}\n');
    expect(lines).toStrictEqual([
      { function: 'f', line: { code: 'A' } },
      { function: 'f', line: 'plain {text' },
      { function: 'f', line: { code: 'B' } },
    ]);
  });
});
