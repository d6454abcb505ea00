import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BundledFile } from './stack.ts';

/** The clock of functions, which stands still until it is put forward, while their containers stay warm. */
export interface MovedClock {
  /** A bundle under this clock: a file that loads the very bytes which deploy. */
  readonly wrap: (bundle: BundledFile) => BundledFile;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly advance: (milliseconds: number) => void;
  readonly close: () => void;
}

/** How far it begins ahead, so that no token comes from its future. */
const AHEAD_MS = 5 * 60_000;

export function openMovedClock(): MovedClock {
  const folder = mkdtempSync(join(tmpdir(), 'clock-'));
  const file = join(folder, 'now');
  let now = Date.now() + AHEAD_MS;
  const show = (): void => writeFileSync(file, String(now));
  show();
  return {
    wrap({ operationId, file: bundle }) {
      const wrapped = join(folder, `${operationId}.mjs`);
      writeFileSync(wrapped, wrapperOf(pathToFileURL(bundle).href, file));
      return { operationId, file: wrapped };
    },
    now: () => now,
    advance(milliseconds) {
      now += milliseconds;
      show();
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}

/** A module that shows its function another time, and leaves it the time that it truly has for an invocation. */
function wrapperOf(bundleUrl: string, clockFile: string): string {
  return `
import { readFileSync } from 'node:fs';
const real = Date.now;
Date.now = () => Number(readFileSync(${JSON.stringify(clockFile)}, 'utf8'));
const { handler: inner } = await import(${JSON.stringify(bundleUrl)});
const given = (context) => {
  const end = real() + context.getRemainingTimeInMillis() + Date.now() - real();
  return { ...context, getRemainingTimeInMillis: () => Math.max(0, end - real()) };
};
export const handler = Object.getOwnPropertySymbols(inner).length > 0
  ? awslambda.streamifyResponse((event, stream, context) => inner(event, stream, given(context)))
  : (event, context) => inner(event, given(context));
`;
}
