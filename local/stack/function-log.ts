import { parsedJson } from '#local/parsed-json.ts';

export interface FunctionLogLine {
  readonly function: string;
  /** The line itself: parsed when it is JSON, as text otherwise. */
  readonly line: unknown;
}

/**
 * Cuts what one environment of a function writes, which comes in pieces, into lines.
 * @param onLine gets each line as soon as it has ended; empty ones are left out
 */
export function createLineReader(
  functionName: string,
  onLine: (line: FunctionLogLine) => void,
): (piece: string) => void {
  let partial = '';
  return (piece) => {
    const lines = (partial + piece).split('\n');
    partial = lines.pop() ?? '';
    for (const text of lines) {
      if (text !== '') onLine({ function: functionName, line: parsedJson(text) ?? text });
    }
  };
}
