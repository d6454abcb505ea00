import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { sampleTrigger } from '#test/support/sample-files.ts';
import { generatorFile } from './bank-files.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from './load.ts';
import { renderDefects } from './seed.ts';
import type { SeedDefect } from './seed.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/seeds.md'), 'utf8');

/** The example of a file in docs/seeds.md. */
function example(file: string): unknown {
  const section = page.slice(page.indexOf(`\n### ${file}\n`));
  return JSON.parse(/```json\n(.*?)```/s.exec(section)![1]!);
}

function builtIn(file: string): unknown {
  return JSON.parse(readFileSync(join(DEFAULT_SEED_DIRECTORY, file), 'utf8'));
}

const BANK = 'my-bank';
const exampleSeed: Readonly<Record<string, unknown>> = Object.fromEntries<unknown>([
  ...['seed.json', 'reports.json', 'analysis-policy.json'].map((file): [string, unknown] => [
    file,
    example(file),
  ]),
  ...['bank.json', 'calibration.json', 'policy.json', 'learners.json'].map((file): [string, unknown] => [
    `${BANK}/${file}`,
    example(file),
  ]),
]);

let directory: string | undefined;
afterEach(() => {
  if (directory !== undefined) rmSync(directory, { recursive: true });
  directory = undefined;
});

/** The defects of a seed with other contents: a value at `file`, which `undefined` removes, or at `file#/pointer`. */
async function defectsOf(
  seed: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<readonly SeedDefect[]> {
  const root = mkdtempSync(join(tmpdir(), 'seed-'));
  directory = root;
  const files = structuredClone(seed) as Record<string, unknown>;
  for (const [place, value] of Object.entries(changes)) {
    const [file = '', pointer] = place.split('#/');
    const steps = [file, ...(pointer?.split('/') ?? [])];
    const last = steps.pop()!;
    const parent = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], files);
    (parent as Record<string, unknown>)[last] = value;
  }
  for (const [file, value] of Object.entries(files)) {
    if (value === undefined) continue;
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), typeof value === 'string' ? value : JSON.stringify(value));
  }
  const loaded = await loadSeed(root);
  return loaded.ok ? [] : loaded.error;
}

/** What is wrong, where, the value that makes it so, where it is found if elsewhere, and what the message names. */
type Row = [what: string, place: string, value: unknown, found?: string | undefined, message?: RegExp];

const B = `${BANK}/bank.json`;
const C = `${BANK}/calibration.json`;
const P = `${BANK}/policy.json`;
const L = `${BANK}/learners.json`;
const rules = `${P}#/eligibilityRules`;

describe('a seed directory', () => {
  it('may contain the examples of docs/seeds.md', async () => {
    expect(await defectsOf(exampleSeed)).toEqual([]);
    expect(generatorFile.parse(example('generator.json'))).toEqual(builtIn('generated/generator.json'));
  });

  it.each<Row>([
    ['no seed.json', 'seed.json', undefined, 'seed.json', /not found/],
    ['no policy', P, undefined, P, /not found/],
    ['no JSON', P, '{', P, /JSON/],
    ['a member twice', P, '{"a":1,"a":2}', P, /duplicate-key/],
    ['a folder outside', 'seed.json#/banks/0/directory', '../b', undefined, /a-z/],
    ['a bank twice', 'seed.json#/banks/1', { name: BANK }, 'seed.json#/banks/1/name', /"my-bank"/],
    ['an unknown member', `${B}#/colour`, 1, undefined, /not a member/],
    ['a standard twice', `${B}#/standards/1`, { name: 'subtract', statement: 's' }, `${B}#/standards/1/name`],
    ['a component twice', `${B}#/kcs/1/name`, 'A', undefined, /duplicate knowledge component "A"/],
    ['an item twice', `${B}#/items/1/name`, 'I1', undefined, /duplicate item "I1"/],
    ['a component twice in an item', `${B}#/items/1/kcs`, ['A', 'A'], `${B}#/items/1/kcs/1`],
    ['a standard twice in an item', `${B}#/items/0/standards/1`, 'subtract'],
    ['an unknown component', `${B}#/items/1/kcs/1`, 'Z', undefined, /"Z" is not a knowledge component/],
    ['an unknown standard', `${B}#/items/0/standards/0`, 'Z', undefined, /"Z" is not a standard/],
    ['an uncalibrated component', `${C}#/kcs/1/kc`, 'Z', `${C}#/kcs`, /"B" of bank.json is missing/],
    ['a calibrated component of no bank', `${C}#/kcs/1/kc`, 'Z', undefined, /"Z"/],
    ['a component calibrated twice', `${C}#/kcs/1/kc`, 'A'],
    ['an uncalibrated item', `${C}#/items/1/item`, 'Z', `${C}#/items`, /"I2" of bank.json is missing/],
    ['a calibrated item of no bank', `${C}#/items/1/item`, 'Z', undefined, /"Z"/],
    ['an item calibrated twice', `${C}#/items/1/item`, 'I1'],
    ['half an item', `${C}#/items/0/slip`, undefined, `${C}#/items/0`, /"slip"/],
    ['a short table', `${C}#/items/1/probabilities`, [0.1, 0.9], undefined, /need 4/],
    ['a falling table', `${C}#/items/1/probabilities/3`, 0.25, undefined, /lower/],
    ['a guess above 1 - slip', `${C}#/items/0/guess`, 0.95, undefined, /1 - slip/],
    ['a flat scale', `${C}#/scale`, { name: 's', values: [1, 2, 2] }, `${C}#/scale/values/2`, /above/],
    ['a short scale', `${C}#/scale`, { name: 's', values: [1, 2, 3] }, `${C}#/scale/values`, /61 theta/],
    ['a grid upside down', `${C}#/theta/min`, 7, undefined, /below/],
    ['an empty validity', `${C}#/validUntil`, '2026-01-01T00:00:00.000Z', undefined, /later/],
    ['an unknown floor', `${P}#/coverageFloors/0/standard`, 'Z', undefined, /"Z"/],
    ['a floor of two kinds', `${P}#/coverageFloors/0/kc`, 'A', `${P}#/coverageFloors/0`, /exactly one/],
    [
      'a floor twice',
      `${P}#/coverageFloors/1`,
      { standard: 'subtract', minimumEvidenceItems: 1 },
      `${P}#/coverageFloors/1/standard`,
    ],
    [
      'an unknown constraint',
      rules,
      { contentConstraints: [{ kc: 'Z' }] },
      `${rules}/contentConstraints/0/kc`,
    ],
    [
      'minimum above maximum',
      rules,
      { contentConstraints: [{ kc: 'A', minItems: 2, maxItems: 1 }] },
      `${rules}/contentConstraints/0`,
      /above/,
    ],
    ['an unknown scope', rules, { kcScope: ['Z'] }, `${rules}/kcScope/0`],
    ['a scope twice', rules, { kcScope: ['A', 'A'] }, `${rules}/kcScope/1`],
    ['an unknown excluded item', rules, { excludedItems: ['I9'] }, `${rules}/excludedItems/0`],
    ['an item excluded twice', rules, { excludedItems: ['I1', 'I1'] }, `${rules}/excludedItems/1`],
    [
      'an unknown enemy',
      rules,
      { enemySets: [['I1', 'I9']] },
      `${rules}/enemySets/0/1`,
      /"I9" is not an item/,
    ],
    ['an enemy of itself', rules, { enemySets: [['I1', 'I1']] }, `${rules}/enemySets/0/1`],
    [
      'a floor out of reach',
      `${P}#/coverageFloors/0/minimumEvidenceItems`,
      9,
      `${BANK}: the policy of "my-bank"`,
      /cannot be reached/,
    ],
    ['a learner twice', `${L}#/learners/1`, { name: '1', answers: {} }, `${L}#/learners/1/name`],
    ['an answer to no item', `${L}#/learners/0/answers/I9`, 1, undefined, /"I9"/],
    ['an answer that is none', `${L}#/learners/0/answers/I1`, 2],
    [
      'an unknown generator',
      `${BANK}/generator.json`,
      { generator: 'x' },
      `${BANK}/generator.json#/generator`,
    ],
    ['an analysis policy without triggers', 'analysis-policy.json#/triggers', [], undefined, /Too small/],
    [
      'a threshold out of reach',
      'analysis-policy.json#/triggers',
      [sampleTrigger({ threshold: { operator: 'gt', value: 1 } })],
      'analysis-policy.json',
      /cannot be released: \/document\/triggers\/0\/threshold\/value cannot be reached/,
    ],
  ])('is refused where it is wrong: %s', async (_, place, value, found = place, message = /./) => {
    const defects = await defectsOf(exampleSeed, { [place]: value });
    const places = defects.map(({ file, pointer }) => (pointer === '' ? file : `${file}#${pointer}`));
    expect(places, renderDefects(defects)).toContain(found);
    const messages = defects.filter((_defect, at) => places[at] === found).map((defect) => defect.message);
    expect(messages.join('\n')).toMatch(message);
  });

  it('has one version of the one anchor table, whatever number of banks', async () => {
    const other = Object.fromEntries(
      ['bank.json', 'calibration.json', 'policy.json'].map((file) => [
        `other/${file}`,
        structuredClone(exampleSeed[`${BANK}/${file}`]),
      ]),
    );
    expect(
      await defectsOf(
        { ...exampleSeed, ...other },
        { 'seed.json#/banks/1': { name: 'other' }, 'other/calibration.json#/anchor/version': '2' },
      ),
    ).toMatchObject([{ file: 'other/calibration.json', pointer: '/anchor/version' }]);
  });

  it('has defects of which the first twenty are rendered, one per line with file, pointer and message', () => {
    const defect = { file: 'b/bank.json', pointer: '/items/3', message: 'is wrong' };
    expect(renderDefects([defect])).toBe('b/bank.json#/items/3: is wrong');
    const lines = renderDefects(Array.from({ length: 25 }, () => defect)).split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([21, '… and 5 more']);
  });
});

describe('a reports.json', () => {
  const seed = { ...exampleSeed, 'reports.json': builtIn('reports.json') };
  const rows = '/attempts/0/record/mastery';
  const sources = '/testSpecs/0/alignment/sources';
  const first = '/administrations/0/analyses/0';
  const item = `${first}/metrics/0/artifact`;
  const publication = {
    sourceTest: 'State Mathematics 5',
    sourceVersion: '2026',
    crosswalkVersion: '4',
    coverageFraction: null,
    dokDominance: 'satisfied',
  };

  it('may be the built-in one', async () => {
    expect(await defectsOf(seed)).toEqual([]);
  });

  it.each<[string, string, unknown, string?]>([
    ['an unknown grade', '/schools/0/grades/0/grade', '5'],
    ['a grade twice', '/schools/0/grades/1/grade', '05'],
    ['a class twice', '/classes/1/name', 'class-5a'],
    ['an unknown class for runs', '/runClass', 'nowhere'],
    ['an id with a blank', '/students/0/idSuffix', ' x'],
    ['an id that a list of ids would split', '/students/0/idSuffix', ',x'],
    [
      'a framework of both forms',
      '/frameworks/0/generated',
      many('standards', 'kcsPerStandard'),
      '/frameworks/0',
    ],
    ['a code twice', '/frameworks/0/standards/1/code', '5.NF.A.1'],
    ['a spec of an unknown framework', '/testSpecs/0/framework', 'nothing'],
    ['a form of two specs', '/testSpecs/1/forms/0', 'gate-a'],
    ['criteria of a formative spec', '/testSpecs/4/criteria', { version: '1', required: 1 }],
    ['a publication twice', '/testSpecs/0/crosswalks/1', publication],
    ['a coverage above 1', '/testSpecs/0/crosswalks/0/coverageFraction', 1.5],
    [
      'an equivalence of an unknown form',
      '/equivalences/0',
      equivalence('gate-z', 'gate-b'),
      '/equivalences/0/form',
    ],
    [
      'an equivalence of two specs',
      '/equivalences/0',
      equivalence('gate-a', 'large-form'),
      '/equivalences/0/comparedWith/0',
    ],
    ['an equivalence twice', '/equivalences/1', equivalence('gate-a', 'gate-b'), '/equivalences/1/form'],
    ['a form without its size', '/equivalences/1/sampleSizes', { 'gate-b': 1 }],
    ['an administration of no cohort', '/administrations/0/class', undefined, '/administrations/0'],
    ['an administration of an unknown class', '/administrations/0/class', 'nothing'],
    ['an administration of an unknown school', '/administrations/1/school', 'nothing'],
    ['an administration of an unknown spec', '/administrations/0/testSpec', 'nothing'],
    ['an unknown candidate', '/attempts/0/student', 'nobody'],
    ['an attempt on an unknown form', '/attempts/0/form', 'nothing'],
    ['an attempt of an unknown administration', '/attempts/0/administration', 'nothing'],
    ['another spec’s administration', '/attempts/0/administration', 'week-12'],
    ['a record of what is not scored', '/attempts/0/status', 'submitted', '/attempts/0/record'],
    ['a gate without its decision', '/attempts/0/record/gate', null],
    ['a diagnostic without its scale', '/attempts/4/record/diagnostic', null],
    ['an unknown gap', '/attempts/1/record/gate/gaps/0', '9.X'],
    ['a row about nothing', `${rows}/0/standard`, undefined, `${rows}/0`],
    ['a row of another kind', `${rows}/1/kc`, '5.NF.B.6'],
    ['a row on an unknown standard', `${rows}/0/standard`, '9.X'],
    ['a row twice', `${rows}/2/standard`, '5.NF.A.1'],
    ['evidence of no item', `${rows}/0/evidence/0/item`, 11],
    ['no rows at all', rows, undefined, '/attempts/0/record'],
    [
      'more generated evidence than items',
      '/attempts/11/items',
      1,
      '/attempts/11/record/generatedMastery/evidencePerRow',
    ],
    ['a time with an offset', '/attempts/0/record/modifiedAt', '2026-05-12T09:00:00+02:00'],
    ['a late settlement of nothing', '/attempts/9/record', null, '/attempts/9/settledAtStart'],
    ['a late settlement of generated rows', '/attempts/11/settledAtStart', false],
    ['a history of nobody', '/histories/0/student', 'nobody'],
    ['an unknown template', '/histories/0/templates/0', 'nothing'],
    ['a template of thousands of rows', '/histories/0/templates/0', 'with-five-thousand-rows'],
    ['a template that is not settled', '/histories/0/templates/0', 'scored-but-not-settled'],
    ['a role of nobody', '/fixtures/candidates/empty', 'nobody'],
    ['a role of no attempt', '/fixtures/attempts/stale', 'nothing'],
    ['a role of a form without analysis', '/fixtures/forms/equivalent', 'gate-c'],
    ['a role that is missing', '/fixtures/attempts/stale', undefined],
    ['a role that does not exist', '/fixtures/attempts/other', 'gate-passed'],
    ['an administration to analyze that is none', '/fixtures/administrations/0', 'nowhere'],
    ['an administration to analyze twice', '/fixtures/administrations/1', 'spring-gate'],
    ['one that is not scored', '/fixtures/administrations/0', 'open-gate'],
    ['one without analysis', '/fixtures/administrations/0', 'without-analysis'],
    [
      'an alignment of both forms',
      '/testSpecs/0/alignment/generated',
      many('sources', 'requirements'),
      '/testSpecs/0/alignment',
    ],
    ['an alignment of neither form', '/testSpecs/0/alignment', {}],
    ['a source twice', `${sources}/1/key`, 'state-mathematics-5'],
    ['a requirement twice', `${sources}/0/requirements/1/id`, 'SM5.NF.01'],
    ['a source without requirements', `${sources}/0/requirements`, []],
    ['a requirement without weight', `${sources}/0/requirements/0/weight`, 0],
    ['a depth of knowledge that does not exist', `${sources}/0/requirements/0/dok`, 5],
    ['a mapping to nothing', `${sources}/0/requirements/0/mappings/0/code`, '9.X'],
    ['a metric twice', `${first}/metrics/1/metric`, 'item_difficulty'],
    ['a metric that does not exist', `${first}/metrics/1/metric`, 'item_length'],
    ['a row on another form', `${item}/rows/0/form`, 'diagnostic-pool'],
    ['a row on an unknown competency', `${item}/rows/0/codes/0`, '9.X'],
    ['a row of an item without its number', `${item}/rows/0/item`, undefined],
    ['a row of a form with an item', `${first}/metrics/3/artifact/rows/0/item`, 1],
    ['a measure of another metric', `${item}/rows/0/measures/discrimination_index`, 0.5],
    ['a value out of reach', `${item}/rows/0/measures/proportion_correct`, 1.5],
    ['generated rows beside written ones', `${item}/generatedRows`, 5],
    ['generated rows of a form', '/administrations/7/analyses/0/metrics/3/artifact/generatedRows', 5],
    ['a comparison with a source of another spec', `${first}/comparisons/0/source`, 'ratio-benchmark'],
    ['a comparison twice', `${first}/comparisons/1/source`, 'state-mathematics-5'],
    ['a comparison on another form', `${first}/comparisons/0/artifact/form`, 'diagnostic-pool'],
    ['a comparison on an unknown competency', `${first}/comparisons/0/artifact/codes/0`, '9.X'],
    [
      'a refusal of another module’s action',
      '/administrations/10/receivers/bank/refuses/0',
      'repair_crosswalk',
    ],
  ])('is refused where it is wrong: %s', async (_, place, value, found = place) => {
    const defects = await defectsOf(seed, { [`reports.json#${place}`]: value });
    expect(defects.map(({ file, pointer }) => `${file}${pointer}`)).toContain(`reports.json${found}`);
  });

  function many(...names: readonly string[]): object {
    return Object.fromEntries(names.map((name) => [name, 1]));
  }

  function equivalence(form: string, other: string): object {
    const [first] = (builtIn('reports.json') as { equivalences: object[] }).equivalences;
    return { ...first, form, comparedWith: [other], sampleSizes: { [form]: 1, [other]: 1 } };
  }
});
