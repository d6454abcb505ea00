import { describe, expect, it } from 'vitest';
import { readBlocks } from './given-blocks.ts';

const kcs = ['A', 'B', 'C', 'D', 'E'];
const csv = 'kc,block,requires\nA,x,\nC,x,A;B\nB,x,A\nD,y,\nE,y,\n';

describe('readBlocks', () => {
  it.each([
    ['CSV', csv],
    ['CSV of a spreadsheet', csv.replace('kc,block,requires', 'KC,Block,Requires').replaceAll('\n', '\r\n')],
    [
      'JSON',
      JSON.stringify({
        A: { block: 'x' },
        B: { block: 'x', requires: ['A'] },
        C: { block: 'x', requires: ['B'] },
        D: { block: 'y' },
        E: { block: 'y', requires: [] },
      }),
    ],
  ])('reads blocks with all that is required through others from %s', (_, text) => {
    expect(readBlocks(text, kcs)).toEqual({
      ok: true,
      value: [
        { kcs: [0, 1, 2], required: [0, 1, 3, 0, 0] },
        { kcs: [3, 4], required: undefined },
      ],
    });
  });

  it('leaves out components without a block, and blocks of one', () => {
    expect(readBlocks('kc,block\nA,x\nB,\nC,x\nD,y\n', kcs)).toMatchObject({
      value: [{ kcs: [0, 2], required: undefined }],
    });
  });

  it.each([
    ['an unknown component', 'kc,block\nA,x\nZ,x\n', /^line 3: "Z" is not a knowledge component/],
    ['a component twice', 'kc,block\nA,x\nB,x\nA,y\n', /^line 4: "A" is there twice/],
    [
      'a prerequisite of another block',
      'kc,block,requires\nA,x,\nB,x,C\nC,y,\n',
      /^line 3: .* within a block/,
    ],
    ['itself', 'kc,block,requires\nA,x,A\nB,x,\n', /requires itself$/],
    ['a cycle', 'kc,block,requires\nA,x,B\nB,x,A\n', /remove one prerequisite of the cycle/],
    ['no column', 'component,strand\nA,x\n', /needs the columns kc, block, requires/],
    ['no block of two', 'kc,block\nA,x\nB,y\n', /no block has two/],
    ['JSON with another member', '{"A": {"strand": "x"}}', /^#\/A/],
    ['broken JSON', '{"A": ', /not valid JSON/],
  ])('refuses %s', (_, text, reason) => {
    const read = readBlocks(text, kcs);
    expect(read.ok ? '' : read.error[0]).toMatch(reason);
  });
});
