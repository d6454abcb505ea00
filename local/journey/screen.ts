import { renderLive, renderStep, type JourneyView } from './view.ts';
import type { Paint } from '#tools/terminal/paint.ts';
import { openDrawing, type Output } from '#tools/terminal/drawing.ts';

/** Where a journey is shown: it draws over itself in a terminal, and adds a line per state to anything else. */
interface JourneyScreen {
  readonly show: (view: JourneyView) => void;
  /** A line that stays. */
  readonly note: (line: string) => void;
}

export function openScreen(output: Output, paint: Paint): JourneyScreen {
  if (output.isTTY !== true) {
    return {
      show: (view) => output.write(`${renderStep(view)}\n`),
      note: (line) => output.write(`${line}\n`),
    };
  }
  const { draw, keep } = openDrawing(output);
  return {
    show: (view) => draw(renderLive(view, { width: output.columns ?? 80, height: output.rows ?? 24, paint })),
    note: (line) => keep([line]),
  };
}
