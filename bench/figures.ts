/** A value with a unit. A ratio, a guard and a share have none: they follow from the figures. */
const FIGURE = /^([\d.]+) (ms|s|KB|MB)$/;
/** Milliseconds and kilobytes. */
const SCALE: Readonly<Record<string, number>> = { ms: 1, s: 1_000, KB: 1, MB: 1_000 };

interface Figure {
  /** As the table shows it, for example `12.3 ms`. */
  readonly text: string;
  /** Milliseconds or kilobytes. */
  readonly value: number;
}

/**
 * Reads the figures out of the output of one part, by row and column. The tables are the one form in which every commit prints them:
 * at least two spaces between columns, the first one aligned to the left, the others to the right.
 */
export function figuresOf(output: string): ReadonlyMap<string, Figure> {
  const figures = new Map<string, Figure>();
  let head: ReadonlyMap<number, string> = new Map();
  for (const line of output.split('\n')) {
    const cells = new Map(
      [...line.matchAll(/\S+(?: \S+)*/g)].map(({ index, 0: text }) => [
        index === 0 ? 0 : index + text.length,
        text,
      ]),
    );
    const found = [...cells].filter(([, text]) => FIGURE.test(text));
    if (found.length === 0) head = cells;
    for (const [place, text] of found) {
      const first = cells.get(0) ?? '';
      const row = FIGURE.test(first) ? '' : first;
      const name = [row, head.get(place) ?? ''].filter((part) => part !== '').join(', ');
      const [, number, unit = ''] = FIGURE.exec(text) ?? [];
      figures.set(name, { text, value: Number(number) * (SCALE[unit] ?? NaN) });
    }
  }
  return figures;
}
