import { describe, expect, it } from 'vitest';
import { seedFromResponses } from './from-responses.ts';
import type { ResponseFiles } from '#tools/terminal/study.ts';
import { bankFile, calibrationFile, learnersFile, policyFile } from './seed.ts';

const parameters = {
  name: 'Small study',
  model: 'dina',
  theta: { nodes: 5, min: -2, max: 2, mean: 0, sd: 1 },
  kcs: [
    { kc: 'A', slope: 1, location: 0, label: 'skill a' },
    { kc: 'B', slope: 2, location: 0.5 },
  ],
  items: [
    { item: 'I1', kcs: ['A'], guess: 0.1, slip: 0.2, stem: 'one' },
    { item: 'I2', kcs: ['A', 'B'], probabilities: [0.1, 0.2, 0.3, 0.9] },
  ],
};
const files: ResponseFiles = {
  'parameters.json': JSON.stringify(parameters),
  'q-matrix.csv': ',A,B\nI1,1,0\nI2,1,1\n',
  'responses.csv': ',I1,I2\n7,1,0\n8,1,1\n',
};
const given = { name: undefined, fallbackName: 'study' };

function convert(changes: Partial<ResponseFiles>) {
  return seedFromResponses({ ...files, ...changes }, given);
}
function defects(changes: Partial<ResponseFiles>): readonly string[] {
  const result = convert(changes);
  return result.ok ? [] : result.error;
}
const withParameters = (change: (copy: typeof parameters) => unknown): Partial<ResponseFiles> => ({
  'parameters.json': JSON.stringify(change(structuredClone(parameters))),
});

describe('a seed from responses', () => {
  it('holds the items, the parameters as they were fitted, and every learner’s answers', () => {
    const result = convert({});
    if (!result.ok) throw new Error(result.error.join('\n'));
    const seed = result.value;
    expect(seed['seed.json']).toMatchObject({
      name: 'small-study',
      title: 'Small study',
      banks: [{ name: 'small-study' }],
    });
    const bank = bankFile.parse(seed['small-study/bank.json']);
    expect(bank.items.map((item) => [item.name, item.stem, item.kcs])).toEqual([
      ['I1', 'one', ['A']],
      ['I2', 'I2', ['A', 'B']],
    ]);
    expect(bank.kcs).toEqual([
      { name: 'A', label: 'skill a' },
      { name: 'B', label: 'B' },
    ]);
    const calibration = calibrationFile.parse(seed['small-study/calibration.json']);
    expect(calibration.theta).toEqual(parameters.theta);
    expect(calibration.kcs[1]).toEqual({ kc: 'B', slope: 2, location: 0.5 });
    expect(calibration.items).toEqual([
      { item: 'I1', guess: 0.1, slip: 0.2 },
      { item: 'I2', probabilities: [0.1, 0.2, 0.3, 0.9] },
    ]);
    expect(learnersFile.parse(seed['small-study/learners.json']).learners).toEqual([
      { name: '7', answers: { I1: 1, I2: 0 } },
      { name: '8', answers: { I1: 1, I2: 1 } },
    ]);
    expect(policyFile.parse(seed['small-study/policy.json'])).toMatchObject({
      confidenceThreshold: 0.8,
      maxItems: 2,
    });
  });

  it('takes a byte order mark, CRLF, quotes, blanks, and columns and rows in any order', () => {
    const plain = convert({});
    const other = convert({
      'q-matrix.csv': '\uFEFF"","B","A"\r\n"I2",1,1\r\n"I1", 0 ,1\r\n\r\n',
      'responses.csv': '\uFEFFlearner,"I2","I1"\r\n7,0,1\r\n8,1,1',
      'parameters.json': `\uFEFF${files['parameters.json']}`,
    });
    expect(other).toEqual(plain);
  });

  it('is named by --name, the file, or the folder, and a name that cannot be one is refused', () => {
    const nameless = withParameters((p) => ({ ...p, name: undefined }));
    const named = (name: string | undefined) =>
      seedFromResponses({ ...files, ...nameless }, { name, fallbackName: 'My Study!' });
    const of = (name: string | undefined): unknown => {
      const result = named(name);
      return result.ok ? Object.keys(result.value)[1] : result.error;
    };
    expect(of('given')).toBe('given/bank.json');
    expect(of(undefined)).toBe('my-study/bank.json');
    expect(of('../up')).toEqual([expect.stringContaining('"../up"')]);
  });
});

describe('defects of the inputs', () => {
  it.each<[string, Partial<ResponseFiles>, string[]]>([
    [
      'a response that is not 0 or 1',
      { 'responses.csv': ',I1,I2\n7,1,0\n8,NA,2\n' },
      [
        'responses.csv: row 3 (learner "8"), column "I1": must be 0 or 1, is "NA"',
        'responses.csv: row 3 (learner "8"), column "I2": must be 0 or 1, is "2"',
      ],
    ],
    [
      'a learner twice',
      { 'responses.csv': ',I1,I2\n7,1,0\n7,1,1\n' },
      ['responses.csv: row 3: the name "7" stands in row 2 already'],
    ],
    [
      'a row that is too short, a nameless one, an open quote',
      { 'responses.csv': ',I1,I2\n7,1\n,1,1\n"9,1,1\n' },
      [
        'responses.csv: row 4: a quoted field has no end',
        'responses.csv: row 2: holds 1 values for 2 columns',
        'responses.csv: row 3: has no name',
      ],
    ],
    [
      'items in one file and not in the other',
      { 'responses.csv': ',I1,I3\n7,1,0\n', 'q-matrix.csv': ',A,B\nI1,1,0\nI4,1,1\n' },
      [
        'q-matrix.csv: has no row for the item "I2" of parameters.json',
        'q-matrix.csv: the row "I4" is no item of parameters.json',
        'responses.csv: has no column for the item "I2" of parameters.json',
        'responses.csv: the column "I3" is no item of parameters.json',
      ],
    ],
    [
      'a Q-matrix that disagrees with the parameters',
      { 'q-matrix.csv': ',A,B\nI1,1,1\nI2,0,1\n' },
      [
        'q-matrix.csv: row 2 (item "I1"), column "B": is 1, but parameters.json does not list it',
        'q-matrix.csv: row 3 (item "I2"), column "A": is not 1, but parameters.json lists it',
      ],
    ],
    [
      'knowledge components in one file and not in the other',
      { 'q-matrix.csv': ',A,C\nI1,1,0\nI2,1,0\n' },
      [
        'q-matrix.csv: has no column for the knowledge component "B" of parameters.json',
        'q-matrix.csv: the column "C" is no knowledge component of parameters.json',
      ],
    ],
    [
      'empty files',
      { 'responses.csv': '', 'q-matrix.csv': '\n\n', 'parameters.json': ' ' },
      ['parameters.json: is empty', 'q-matrix.csv: is empty', 'responses.csv: is empty'],
    ],
    [
      'files of another dialect of CSV, once each',
      {
        'responses.csv': ';"I,1";I2\n7;1;0\n8;1;1\n',
        'q-matrix.csv': '\tA\tB\nI1\t1\t0\nI2\t1\t1\n',
      },
      [
        expect.stringMatching(/^q-matrix\.csv: separates its columns with tabs; commas are needed/) as string,
        expect.stringMatching(/^responses\.csv: separates its columns with semicolons; commas/) as string,
      ],
    ],
    [
      'lines that end with a carriage return alone',
      { 'responses.csv': ',I1,I2\r7,1,0\r8,1,1\r' },
      [expect.stringMatching(/^responses\.csv: ends its lines with a carriage return alone; LF/) as string],
    ],
    [
      'responses without learners',
      { 'responses.csv': ',I1,I2\n' },
      ['responses.csv: holds no row below its first one'],
    ],
    [
      'parameters that are no JSON, or say something twice',
      { 'parameters.json': '{"theta":{"min":1,"min":2}}' },
      ['parameters.json#/theta: is not acceptable JSON (duplicate-key)'],
    ],
    [
      'a table of the wrong length',
      withParameters((p) => ({ ...p, items: [p.items[0], { ...p.items[1], probabilities: [0.1, 0.9] }] })),
      ["parameters.json#/items/1/probabilities: holds 2 numbers; the item's 2 knowledge components need 4"],
    ],
    [
      'a table that falls',
      withParameters((p) => ({
        ...p,
        items: [p.items[0], { ...p.items[1], probabilities: [0.2, 0.1, 0.3, 0.9] }],
      })),
      ['parameters.json#/items/1/probabilities/1: must not be lower than with one knowledge component fewer'],
    ],
    [
      'a guess above 1 - slip',
      withParameters((p) => ({ ...p, items: [{ ...p.items[0], guess: 0.9 }, p.items[1]] })),
      ['parameters.json#/items/0/guess: must be below 1 - slip'],
    ],
    [
      'both forms of an item at once',
      withParameters((p) => ({ ...p, items: [{ ...p.items[0], probabilities: [0.1, 0.2] }, p.items[1]] })),
      [expect.stringMatching(/^parameters\.json#\/items\/0: needs "item" and either/) as string],
    ],
    [
      'an unknown component and a repeated item',
      withParameters((p) => ({ ...p, items: [p.items[0], p.items[0], { ...p.items[1], kcs: ['A', 'Z'] }] })),
      [
        'parameters.json: the item "I1" stands there twice',
        'parameters.json#/items/2/kcs: "Z" is no knowledge component of the file',
        'q-matrix.csv: row 3 (item "I2"), column "B": is 1, but parameters.json does not list it',
      ],
    ],
    [
      'an unknown member',
      withParameters((p) => ({ ...p, teta: 1 })),
      ['parameters.json#/teta: is not a member that this version knows'],
    ],
  ])('%s', (_, changes, expected) => {
    expect(defects(changes)).toEqual(expected);
  });
});
