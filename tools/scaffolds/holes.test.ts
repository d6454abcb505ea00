import { describe, expect, it } from 'vitest';
import { projectRoot } from '#tools/checks/checks.ts';
import { hole, holesIn, openHoles, typeHole } from './holes.ts';

describe('holes', () => {
  it('are none in this tree: `npm run new -- holes` lists them', () => {
    expect(openHoles(projectRoot)).toEqual([]);
  });

  it('are found in code, types, comments and pages, with their lines', () => {
    const text = `a: ${hole('one')},\n/** ${hole('two')} */\nb: ${typeHole('three')};\nFILL_IN(\n  "four’s",\n)`;
    expect(holesIn('x.ts', text)).toEqual([
      { file: 'x.ts', line: 1, what: 'one' },
      { file: 'x.ts', line: 2, what: 'two' },
      { file: 'x.ts', line: 3, what: 'three' },
      { file: 'x.ts', line: 4, what: 'four’s' },
    ]);
  });
});
