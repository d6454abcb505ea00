import { cut } from './line.ts';
import { plainText } from './plain-text.ts';

/** Where a live line goes: a terminal, or anything else that takes text. */
export interface LineStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

/** Puts a text in place of the one before. */
export type ShowLine = (text: string) => void;

/** The width in columns of a terminal that reports none, or 0. */
const USUAL_COLUMNS = 80;
/** To the start of the line, and erase what follows (ECMA-48: CR, EL). */
const ERASE = '\r\u001B[K';

/**
 * Runs `work` with one line on a terminal that rewrites itself; the line does nothing elsewhere. It is cut to one column less than the
 * terminal is wide, because a full line may wrap, and only its last part would be erased. It writes only when there is something new to
 * see. The line is erased when `work` ends, even if it throws; the cursor is never hidden, so Ctrl-C leaves nothing to restore.
 */
export async function withLiveLine<T>(
  stream: LineStream,
  work: (show: ShowLine) => T | Promise<T>,
): Promise<T> {
  let shown = '';
  const put = (text: string): void => {
    if (stream.isTTY !== true || text === shown) return;
    shown = text;
    stream.write(`${ERASE}${text}`);
  };
  try {
    return await work((text) => {
      put(cut(plainText(text), (stream.columns || USUAL_COLUMNS) - 1));
    });
  } finally {
    put('');
  }
}
