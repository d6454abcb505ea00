/** The part of an output stream that is needed here. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly write: (text: string) => unknown;
}

/** Lines at the end of a terminal that are drawn over, below lines that stay. */
export interface Drawing {
  readonly draw: (lines: readonly string[]) => void;
  /** Takes the drawing away and adds lines that stay. */
  readonly keep: (lines: readonly string[]) => void;
}

export function openDrawing(output: Output): Drawing {
  let drawn = 0;
  const erase = (): string => (drawn === 0 ? '' : `\u001b[${drawn}A\u001b[0J`);
  const write = (lines: readonly string[]): void => {
    output.write(`${erase()}${lines.map((line) => `${line}\n`).join('')}`);
  };
  return {
    draw(lines) {
      write(lines);
      drawn = lines.length;
    },
    keep(lines) {
      write(lines);
      drawn = 0;
    },
  };
}
