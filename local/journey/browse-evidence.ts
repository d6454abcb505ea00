import type { MasteryRow } from '#client/index.ts';
import type { Paint } from '#tools/terminal/paint.ts';
import { openDrawing, type Output } from '#tools/terminal/drawing.ts';
import { fit } from '#tools/terminal/line.ts';
import { nameOf, renderEvidence, type ReportNames } from './report-view.ts';

/** What a key does: chooses a row, shows the evidence of rows, or ends. */
type Step =
  | { readonly kind: 'choose'; readonly at: number }
  | { readonly kind: 'show'; readonly rows: readonly MasteryRow[] }
  | { readonly kind: 'end' };

function stepOf(key: string, at: number, rows: readonly MasteryRow[]): Step {
  switch (key) {
    case 'up':
    case 'k':
      return { kind: 'choose', at: Math.max(0, at - 1) };
    case 'down':
    case 'j':
      return { kind: 'choose', at: Math.min(rows.length - 1, at + 1) };
    case 'e':
    case 'return':
      return { kind: 'show', rows: rows.slice(at, at + 1) };
    case 'a':
      return { kind: 'show', rows };
    case 'q':
    case 'escape':
    case 'ctrl-c':
    case 'ctrl-d':
      return { kind: 'end' };
    default:
      return { kind: 'choose', at };
  }
}

/**
 * Lets a person look at the evidence of one row after the other. What was shown stays above; resolves when the person ends it or no key
 * comes any more.
 * @param rows at least one, in the order in which they are offered
 * @param keys names of pressed keys
 */
export async function browseEvidence(
  rows: readonly MasteryRow[],
  names: ReportNames,
  keys: AsyncIterable<string>,
  { output, paint }: { readonly output: Output; readonly paint: Paint },
): Promise<void> {
  const { draw, keep } = openDrawing(output);
  const space = (): { width: number; paint: Paint } => ({ width: output.columns ?? 80, paint });
  let at = 0;
  const offer = (): void => {
    const row = rows[at];
    if (row === undefined) return;
    draw([
      fit(space(), [
        ['cyan', '▸ '],
        ['none', `${nameOf(row, names)}  ${row.state}`],
        ['dim', `  ${at + 1} of ${rows.length}`],
      ]),
      fit(space(), [['dim', '↑ ↓ choose   e its evidence   a all evidence   q end']]),
    ]);
  };
  offer();
  for await (const key of keys) {
    const step = stepOf(key, at, rows);
    if (step.kind === 'end') break;
    if (step.kind === 'choose') at = step.at;
    else keep(step.rows.flatMap((row) => [...renderEvidence(row, names, space()), '']));
    offer();
  }
  keep([]);
}
