import { expect, it } from 'vitest';
import { WHITE_SPACE } from './text-forms.ts';

it('has as white space what Unicode or JavaScript has, and nothing else [RP-050]', () => {
  const ours = new RegExp(`[${WHITE_SPACE}]`);
  const theirs = /[\p{White_Space}\s]/u;
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const text = String.fromCodePoint(code);
    if (ours.test(text) !== theirs.test(text)) expect.fail(`U+${code.toString(16)}`);
  }
});
