/** What a command may write progress to. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

/** The characters of the bar. */
const WIDTH = 30;

/** A bar on one line of a terminal that rewrites itself; silent elsewhere. It writes only when there is something new to see. */
export function progressBar(stream: ProgressStream): {
  readonly show: (done: number, what: string) => void;
  readonly clear: () => void;
} {
  if (stream.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  let shown = '';
  return {
    show: (done, what) => {
      const full = Math.min(WIDTH, Math.floor(WIDTH * done));
      const percent = String(Math.min(100, Math.floor(100 * done))).padStart(3);
      const line = `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${percent} % ${what}`;
      if (line === shown) return;
      shown = line;
      stream.write(`\r\u001B[K${line.slice(0, (stream.columns ?? 80) - 1)}`);
    },
    clear: () => void stream.write('\r\u001B[K'),
  };
}
