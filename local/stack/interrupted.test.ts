import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { interrupted } from './interrupted.ts';

function setUp() {
  const codes: number[] = [];
  const emitter = new EventEmitter();
  const process = {
    on: (signal: string, listener: () => void) => emitter.on(signal, listener),
    exit: (code: number) => {
      codes.push(code);
    },
  };
  const clock = { now: 1000 };
  const ended = interrupted(process, () => clock.now);
  return { codes, clock, ended, send: (signal: string) => emitter.emit(signal) };
}

it('lets the first interruption end the process in order, and takes the echo of npm for the same one', async () => {
  const { codes, clock, ended, send } = setUp();
  send('SIGINT');
  await ended;
  clock.now += 20;
  send('SIGINT');
  expect(codes).toEqual([]);
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])('ends at once at a second %s, with code %d', async (signal, code) => {
  const { codes, clock, ended, send } = setUp();
  send('SIGINT');
  await ended;
  clock.now += 600;
  send(signal);
  expect(codes).toEqual([code]);
});
