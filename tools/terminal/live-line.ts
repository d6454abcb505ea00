import { plainText } from './plain-text.ts';

/** Where a live line goes: a terminal, or anything else that takes text. */
export interface LineStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

/** One line that tells how far a command is. */
export interface LiveLine {
  /** Puts a text in place of the one before. */
  readonly show: (text: string) => void;
  /** Leaves the line empty, for what the command prints next. */
  readonly clear: () => void;
}

/** A terminal that does not say how wide it is, or says 0, has so many columns. */
const USUAL_COLUMNS = 80;
/** To the start of the line, and erase what follows (ECMA-48: CR, EL). */
const ERASE = '\r\u001B[K';

/**
 * One line on a terminal that rewrites itself; silent elsewhere. It is cut to one column less than the terminal is wide, for a full line
 * may wrap, and only its last part would be erased. It writes only when there is something new to see.
 */
export function liveLine(stream: LineStream): LiveLine {
  if (stream.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  let shown = '';
  const put = (text: string): void => {
    if (text === shown) return;
    shown = text;
    stream.write(`${ERASE}${text}`);
  };
  return {
    show: (text) => {
      put(beginning(plainText(text), columnsOf(stream) - 1));
    },
    clear: () => {
      put('');
    },
  };
}

function columnsOf({ columns = 0 }: LineStream): number {
  return columns > 0 ? columns : USUAL_COLUMNS;
}

/** So many characters of a text, none of them halved. */
function beginning(text: string, length: number): string {
  return Array.from(text).slice(0, length).join('');
}
