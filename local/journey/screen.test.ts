import { describe, expect, it } from 'vitest';
import { plain } from '#tools/terminal/paint.ts';
import { openScreen } from './screen.ts';
import { openView } from './view.ts';

const view = openView('heading', new Map(), undefined);

function written(isTTY: boolean): {
  readonly text: string[];
  readonly screen: ReturnType<typeof openScreen>;
} {
  const text: string[] = [];
  const screen = openScreen({ isTTY, columns: 40, rows: 20, write: (piece) => text.push(piece) }, plain);
  return { text, screen };
}

describe('openScreen', () => {
  it('adds lines without any escape code to what is no terminal', () => {
    const { text, screen } = written(false);
    screen.show(view);
    screen.note('again');
    expect(text).toStrictEqual(['heading\n', 'again\n']);
  });

  it('draws over its last drawing in a terminal, and keeps notes', () => {
    const { text, screen } = written(true);
    screen.show(view);
    screen.show(view);
    screen.note('kept');
    screen.show(view);
    expect(text).toStrictEqual([
      'heading\nstarting …\n',
      '\u001b[2A\u001b[0Jheading\nstarting …\n',
      '\u001b[2A\u001b[0Jkept\n',
      'heading\nstarting …\n',
    ]);
  });
});
