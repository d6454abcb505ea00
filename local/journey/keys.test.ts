import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { keysOf } from './keys.ts';

/** A terminal's input that notes in which mode it is. */
function terminal(): {
  readonly input: Parameters<typeof keysOf>[0];
  readonly modes: boolean[];
  readonly type: PassThrough;
} {
  const stream = new PassThrough();
  const modes: boolean[] = [];
  const input = Object.assign(stream, {
    setRawMode: (raw: boolean) => {
      modes.push(raw);
      return input;
    },
  }) as unknown as Parameters<typeof keysOf>[0];
  return { input, modes, type: stream };
}

describe('keysOf', () => {
  it('names the keys, until the input ends', async () => {
    const { input, modes, type } = terminal();
    type.end('\u001b[A\u001b[Bq\r\u0003\u0004é');
    const keys: string[] = [];
    for await (const key of keysOf(input)) keys.push(key);
    expect(keys).toStrictEqual(['up', 'down', 'q', 'return', 'ctrl-c', 'ctrl-d', 'é']);
    expect(modes).toStrictEqual([true, false]);
  });

  it('gives the terminal back when its reader has had enough', async () => {
    const { input, modes, type } = terminal();
    type.write('ab');
    for await (const key of keysOf(input)) {
      expect(key).toBe('a');
      break;
    }
    expect(modes).toStrictEqual([true, false]);
    expect(type.isPaused()).toBe(true);
  });
});
