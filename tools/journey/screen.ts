import { renderLive, renderStep } from './view.ts';
import type { JourneyView } from './view.ts';
import type { Paint } from '../terminal/paint.ts';

/** Where a journey is shown: it draws over itself in a terminal, and adds a line per state to anything else. */
interface JourneyScreen {
  readonly show: (view: JourneyView) => void;
  /** A line that stays. */
  readonly note: (line: string) => void;
}

/** The part of an output stream that is needed here. */
interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly write: (text: string) => unknown;
}

export function openScreen(output: Output, paint: Paint): JourneyScreen {
  if (output.isTTY !== true) {
    return {
      show: (view) => output.write(`${renderStep(view)}\n`),
      note: (line) => output.write(`${line}\n`),
    };
  }
  let drawn = 0;
  const erase = (): string => (drawn === 0 ? '' : `\u001b[${drawn}A\u001b[0J`);
  return {
    show(view) {
      const lines = renderLive(view, { width: output.columns ?? 80, height: output.rows ?? 24, paint });
      output.write(`${erase()}${lines.join('\n')}\n`);
      drawn = lines.length;
    },
    note(line) {
      output.write(`${erase()}${line}\n`);
      drawn = 0;
    },
  };
}
