import { describe, expect, it } from 'vitest';
import { plain } from '#tools/terminal/paint.ts';
import { shellWord } from '#shared/kernel/shell-word.ts';
import { renderJson } from './render-json.ts';

describe('the terminal', () => {
  it('quotes a word for the shell only where it must', () => {
    expect(['a/b-1.json', 'my file', "it's", ''].map(shellWord)).toStrictEqual([
      'a/b-1.json',
      "'my file'",
      "'it'\\''s'",
      "''",
    ]);
  });

  it('paints names and values of JSON, and shows no control character', () => {
    const value = { name: 'a "b": 1', list: [1.5, true, null], 'c\u009b': '\u202e' };
    expect(JSON.parse(renderJson(value, plain))).toStrictEqual({
      name: 'a "b": 1',
      list: [1.5, true, null],
      'c\ufffd': '\ufffd',
    });
    const painted = renderJson(value, (style, text) => `<${String(style)} ${text}>`);
    expect(painted.split('\n').slice(1, 4)).toStrictEqual([
      '  <cyan "name">: <green "a \\"b\\": 1">,',
      '  <cyan "list">: [',
      '    <yellow 1.5>,',
    ]);
  });
});
