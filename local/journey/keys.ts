import { on } from 'node:events';
import { emitKeypressEvents } from 'node:readline';
import type { ReadStream } from 'node:tty';
import * as z from 'zod';

const pressed = z.tuple([
  z.unknown(),
  z.object({ name: z.string().optional(), ctrl: z.boolean().optional(), sequence: z.string().optional() }),
]);

/**
 * Returns the keys that a person presses, by name, `ctrl-c` and its like included: nothing interrupts the process meanwhile. Ends with the input,
 * and leaves the terminal as it was when the reader ends.
 */
export async function* keysOf(
  input: Pick<ReadStream, 'setRawMode' | 'pause' | 'resume'> & NodeJS.ReadableStream,
): AsyncGenerator<string, void> {
  emitKeypressEvents(input);
  const presses = on(input, 'keypress', { close: ['end', 'close'] });
  input.setRawMode(true);
  input.resume();
  try {
    for await (const event of presses) {
      const [, { name, ctrl, sequence }] = pressed.parse(event);
      yield `${ctrl === true ? 'ctrl-' : ''}${name ?? sequence ?? ''}`;
    }
  } finally {
    input.setRawMode(false);
    input.pause();
  }
}
