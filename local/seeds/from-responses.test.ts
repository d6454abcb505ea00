import { describe, expect, it } from 'vitest';
import { seedFromResponses } from './from-responses.ts';
import type { ResponseFiles } from '#tools/terminal/study.ts';
import type { TableOptions } from '#tools/terminal/study/options.ts';
import { bankFile, calibrationFile, learnersFile, policyFile } from './bank-files.ts';

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

function convert(changes: Partial<ResponseFiles>, options?: TableOptions) {
  return seedFromResponses({ ...files, ...changes }, given, options);
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
    const seed = result.value.files;
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
      eligibilityRules: { selectionTarget: 'unsettled_components', minimumDecisionGain: 0.01 },
    });
  });

  it('chooses for what is unmeasured where the bank has enough items for that to gain anything', () => {
    const names = Array.from({ length: 61 }, (_, n) => `I${n}`);
    const result = convert({
      ...withParameters((copy) => ({
        ...copy,
        kcs: copy.kcs.slice(0, 1),
        items: names.map((item) => ({ item, kcs: ['A'], guess: 0.1, slip: 0.2 })),
      })),
      'q-matrix.csv': `,A\n${names.map((item) => `${item},1\n`).join('')}`,
      'responses.csv': `,${names.join(',')}\n7,${names.map(() => 1).join(',')}\n8,${names.map(() => 0).join(',')}\n`,
    });
    if (!result.ok) throw new Error(result.error.join('\n'));
    const policy = policyFile.parse(result.value.files['small-study/policy.json']);
    expect(policy.eligibilityRules).toMatchObject({
      selectionTarget: 'unsettled_and_unmeasured',
      unmeasuredCredit: 0.1,
    });
  });

  it('holds blocks, and components without a curve only where a block states their weights', () => {
    const support = { learners: 2, bicGain: 12 };
    const saturated = { form: 'saturated', kcs: ['A', 'B'], slope: 1.7, weights: [1, 0.5, 0, 1], support };
    const bare = parameters.kcs.map(({ kc }) => ({ kc }));
    const result = convert(withParameters((copy) => ({ ...copy, kcs: bare, blocks: [saturated] })));
    if (!result.ok) throw new Error(result.error.join('\n'));
    const calibration = calibrationFile.parse(result.value.files['small-study/calibration.json']);
    expect(calibration).toMatchObject({ kcs: [{ kc: 'A' }, { kc: 'B' }], blocks: [saturated] });
    expect(defects(withParameters((copy) => ({ ...copy, kcs: bare })))).toEqual([
      'parameters.json#/kcs/0: needs "slope" and "location"',
      'parameters.json#/kcs/1: needs "slope" and "location"',
    ]);
    const unknown = { ...saturated, kcs: ['A', 'C'] };
    expect(defects(withParameters((copy) => ({ ...copy, blocks: [unknown] })))).toEqual([
      'parameters.json#/blocks/0/kcs: "C" is not listed under kcs',
    ]);
  });

  it('leaves missing answers out, and learners without any, and numbers those who answered everything', () => {
    const result = convert({ 'responses.csv': ';I1;I2\n7;1;\n8;NA;x\n9;1,0;FALSE\n' }, { missing: ['x'] });
    if (!result.ok) throw new Error(result.error.join('\n'));
    const { files: seed, leftOut, complete } = result.value;
    expect(learnersFile.parse(seed['small-study/learners.json']).learners).toEqual([
      { name: '7', answers: { I1: 1 } },
      { name: '9', answers: { I1: 1, I2: 0 } },
    ]);
    expect({ leftOut, complete }).toEqual({ leftOut: 1, complete: [2] });
    expect(JSON.stringify(seed['small-study/calibration.json'])).toContain('Fitted to 2 learners');
  });

  it('is named by --name, the file, or the folder, and a name that cannot be one is refused', () => {
    const nameless = withParameters((p) => ({ ...p, name: undefined }));
    const of = (name: string | undefined): unknown => {
      const result = seedFromResponses({ ...files, ...nameless }, { name, fallbackName: 'My Study!' });
      return result.ok ? Object.keys(result.value.files)[1] : result.error;
    };
    expect(of('given')).toBe('given/bank.json');
    expect(of(undefined)).toBe('my-study/bank.json');
    expect(of('../up')).toEqual([expect.stringContaining('"../up"')]);
  });
});

const withItems = (one: object, two: object, ...more: object[]): Partial<ResponseFiles> =>
  withParameters((p) => ({ ...p, items: [{ ...p.items[0], ...one }, { ...p.items[1], ...two }, ...more] }));
const items = 'parameters.json#/items';

describe('defects of the inputs', () => {
  const of = (q: string, r: string): Partial<ResponseFiles> => ({ 'q-matrix.csv': q, 'responses.csv': r });
  const text = (own: string): Partial<ResponseFiles> => ({ 'parameters.json': own });
  const Q = 'q-matrix.csv: item';
  it.each<[Partial<ResponseFiles>, ...string[]]>([
    [
      of(',A,B\nI1,1,0\nI4,1,1\n', ',I1,I4\n7,1,0\n'),
      `${Q} "I2" of parameters.json is missing`,
      'parameters.json: item "I4" of q-matrix.csv is missing',
    ],
    [
      { 'q-matrix.csv': ',A,B\nI1,1,1\nI2,0,1\n' },
      `${Q} "I1", column "B": found 1, but parameters.json does not list it`,
      `${Q} "I2", column "A": found 0, but parameters.json lists it`,
    ],
    [
      { 'q-matrix.csv': ',A,C\nI1,1,0\nI2,1,1\n' },
      'q-matrix.csv: knowledge component "B" of parameters.json is missing',
      'parameters.json: knowledge component "C" of q-matrix.csv is missing',
      `${Q} "I2", column "C": found 1, but parameters.json does not list it`,
    ],
    [
      { ...of('\n\n', ''), ...text(' ') },
      'parameters.json: is empty',
      ...['q-matrix.csv', 'responses.csv'].map((file) => `${file}: the file is empty`),
    ],
    [text('{"theta":{"min":1,"min":2}}'), 'parameters.json#/theta/min: is not valid JSON (duplicate-key)'],
    [
      withParameters((p) => ({ ...p, teta: 1 })),
      'parameters.json#/teta: is not a member that this version knows',
    ],
    [
      withItems({}, { probabilities: [0.1, 0.9] }),
      `${items}/1/probabilities: found 2 numbers; the item's 2 knowledge components need 4`,
    ],
    [
      withItems({}, { probabilities: [0.2, 0.1, 0.3, 0.9] }),
      `${items}/1/probabilities/1: must not be lower than with one knowledge component fewer`,
    ],
    [withItems({ guess: 0.9 }, {}), `${items}/0/guess: must be below 1 - slip`],
    [
      withItems({ probabilities: [0.1, 0.2] }, {}),
      expect.stringMatching(/^parameters\.json#\/items\/0: needs "item" and either/) as string,
    ],
    [
      withItems({}, { kcs: ['A', 'Z'] }, parameters.items[0]!),
      'parameters.json: the item "I1" is listed twice',
      `${items}/1/kcs: "Z" is not listed under kcs`,
      `${Q} "I2", column "B": found 1, but parameters.json does not list it`,
    ],
  ])('%j', (changes, ...expected) => {
    expect(defects(changes)).toEqual(expected);
  });
});
