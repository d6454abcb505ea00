import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleTrigger } from '#test/support/sample-files.ts';
import { generatorFile } from './bank-files.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from './load.ts';
import { renderDefects, type SeedDefect } from './seed.ts';

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
const files = ['seed.json', 'reports.json', 'analysis-policy.json'];
const bankFiles = ['bank.json', 'calibration.json', 'policy.json', 'learners.json'];
const exampleSeed: Readonly<Record<string, unknown>> = Object.fromEntries([
  ...files.map((file) => [file, example(file)] as const),
  ...bankFiles.map((file) => [`${BANK}/${file}`, example(file)] as const),
]);

/** The defects of a seed with other contents: a value at `file`, which `undefined` removes, or at `file#/pointer`. */
async function defectsOf(
  seed: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<readonly SeedDefect[]> {
  const root = mkdtempSync(join(tmpdir(), 'seed-'));
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

/** Where the seed is wrong, the value that makes it so, where it is found if elsewhere, and what the message names. */
type Row = [place: string, value: unknown, found?: string | undefined, message?: RegExp];

const B = `${BANK}/bank.json`;
const C = `${BANK}/calibration.json`;
const P = `${BANK}/policy.json`;
const L = `${BANK}/learners.json`;
const G = `${BANK}/generator.json`;
const T = 'analysis-policy.json#/triggers';
const R = 'reports.json';
const floors = `${P}#/coverageFloors`;
const rules = `${P}#/eligibilityRules`;
const crossed = { kc: 'A', minItems: 2, maxItems: 1 };
const outOfReach = sampleTrigger({ threshold: { operator: 'gt', value: 1 } });

const reports = builtIn('reports.json') as {
  equivalences: object[];
  testSpecs: { crosswalks: object[] }[];
};
const withReports = { ...exampleSeed, [R]: reports };
const record = '/attempts/0/record';
const rows = `${record}/mastery`;
const sources = '/testSpecs/0/alignment/sources';
const first = '/administrations/0/analyses/0';
const item = `${first}/metrics/0/artifact`;
const row = `${item}/rows/0`;
const forms = '/administrations/7/analyses/0/metrics/3/artifact';

function equivalence(form: string, other: string): object {
  const sampleSizes = { [form]: 1, [other]: 1 };
  return { ...reports.equivalences[0], form, comparedWith: [other], sampleSizes };
}

/** Where the reports of the built-in seed are wrong, and where it is found if elsewhere. */
const reportRows: readonly (readonly [place: string, value: unknown, found?: string])[] = [
  ['/schools/0/grades/0/grade', '5'],
  ['/schools/0/grades/1/grade', '05'],
  ['/classes/1/name', 'class-5a'],
  ['/runClass', 'nowhere'],
  ['/students/0/idSuffix', ' x'],
  // A list of ids would split it.
  ['/students/0/idSuffix', ',x'],
  ['/frameworks/0/generated', { standards: 1, kcsPerStandard: 1 }, '/frameworks/0'],
  ['/frameworks/0/standards/1/code', '5.NF.A.1'],
  ['/testSpecs/0/framework', 'nothing'],
  ['/testSpecs/1/forms/0', 'gate-a'],
  ['/testSpecs/4/criteria', { version: '1', required: 1 }],
  ['/testSpecs/0/crosswalks/1', reports.testSpecs[0]!.crosswalks[0]],
  ['/testSpecs/0/crosswalks/0/coverageFraction', 1.5],
  ['/testSpecs/0/alignment/generated', { sources: 1, requirements: 1 }, '/testSpecs/0/alignment'],
  ['/testSpecs/0/alignment', {}],
  [`${sources}/1/key`, 'state-mathematics-5'],
  [`${sources}/0/requirements/1/id`, 'SM5.NF.01'],
  [`${sources}/0/requirements`, []],
  [`${sources}/0/requirements/0/weight`, 0],
  [`${sources}/0/requirements/0/dok`, 5],
  [`${sources}/0/requirements/0/mappings/0/code`, '9.X'],
  ['/testSpecs/0/alignment/lacks', { codes: ['9.X'] }, '/testSpecs/0/alignment/lacks/codes/0'],
  ['/equivalences/0', equivalence('gate-z', 'gate-b'), '/equivalences/0/form'],
  ['/equivalences/0', equivalence('gate-a', 'large-form'), '/equivalences/0/comparedWith/0'],
  ['/equivalences/1', equivalence('gate-a', 'gate-b'), '/equivalences/1/form'],
  ['/equivalences/1/sampleSizes', { 'gate-b': 1 }],
  ['/administrations/0/class', undefined, '/administrations/0'],
  ['/administrations/0/class', 'nothing'],
  ['/administrations/1/school', 'nothing'],
  ['/administrations/0/testSpec', 'nothing'],
  ['/administrations/10/receivers/bank/refuses/0', 'repair_crosswalk'],
  ['/attempts/0/student', 'nobody'],
  ['/attempts/0/form', 'nothing'],
  ['/attempts/0/administration', 'nothing'],
  // Another spec's.
  ['/attempts/0/administration', 'week-12'],
  ['/attempts/0/status', 'submitted', record],
  [`${record}/gate`, null],
  ['/attempts/4/record/diagnostic', null],
  ['/attempts/1/record/gate/gaps/0', '9.X'],
  [`${rows}/0/standard`, undefined, `${rows}/0`],
  [`${rows}/1/kc`, '5.NF.B.6'],
  [`${rows}/0/standard`, '9.X'],
  [`${rows}/2/standard`, '5.NF.A.1'],
  [`${rows}/0/evidence/0/item`, 11],
  [rows, undefined, record],
  ['/attempts/11/items', 1, '/attempts/11/record/generatedMastery/evidencePerRow'],
  [`${record}/modifiedAt`, '2026-05-12T09:00:00+02:00'],
  // A late settlement of nothing, and one of generated rows.
  ['/attempts/9/record', null, '/attempts/9/settledAtStart'],
  ['/attempts/11/settledAtStart', false],
  ['/histories/0/student', 'nobody'],
  // Templates that are unknown, of thousands of rows, not settled.
  ['/histories/0/templates/0', 'nothing'],
  ['/histories/0/templates/0', 'with-five-thousand-rows'],
  ['/histories/0/templates/0', 'scored-but-not-settled'],
  ['/fixtures/candidates/empty', 'nobody'],
  ['/fixtures/attempts/stale', 'nothing'],
  ['/fixtures/attempts/stale', undefined],
  ['/fixtures/attempts/other', 'gate-passed'],
  ['/fixtures/forms/equivalent', 'gate-c'],
  ['/fixtures/administrations/0', 'nowhere'],
  ['/fixtures/administrations/1', 'spring-gate'],
  // Not scored, and without analysis.
  ['/fixtures/administrations/0', 'open-gate'],
  ['/fixtures/administrations/0', 'without-analysis'],
  [`${first}/metrics/1/metric`, 'item_difficulty'],
  [`${first}/metrics/1/metric`, 'item_length'],
  [`${row}/form`, 'diagnostic-pool'],
  [`${row}/codes/0`, '9.X'],
  [`${row}/item`, undefined],
  [`${first}/metrics/3/artifact/rows/0/item`, 1],
  [`${row}/measures/discrimination_index`, 0.5],
  [`${row}/measures/proportion_correct`, 1.5],
  [`${item}/generatedRows`, 5],
  [`${forms}/generatedRows`, 5],
  [`${first}/comparisons/0/source`, 'ratio-benchmark'],
  [`${first}/comparisons/1/source`, 'state-mathematics-5'],
  [`${first}/comparisons/0/artifact/form`, 'diagnostic-pool'],
  [`${first}/comparisons/0/artifact/codes/0`, '9.X'],
];

describe('a seed directory', () => {
  it('may contain the examples of docs/seeds.md, and the reports of the built-in one', async () => {
    expect(await defectsOf(exampleSeed)).toEqual([]);
    expect(await defectsOf(withReports)).toEqual([]);
    expect(generatorFile.parse(example('generator.json'))).toEqual(builtIn('generated/generator.json'));
  });

  it.each<Row>([
    ['seed.json', undefined, 'seed.json', /not found/],
    [P, undefined, P, /not found/],
    [P, '{', P, /JSON/],
    [P, '{"a":1,"a":2}', `${P}#/a`, /duplicate-key/],
    ['seed.json#/banks/0/directory', '../b', undefined, /a-z/],
    ['seed.json#/banks/1', { name: BANK }, 'seed.json#/banks/1/name', /"my-bank"/],
    [`${B}#/colour`, 1, undefined, /not a member/],
    [`${B}#/standards/1`, { name: 'subtract', statement: 's' }, `${B}#/standards/1/name`],
    [`${B}#/kcs/1/name`, 'A', undefined, /duplicate knowledge component "A"/],
    [`${B}#/items/1/name`, 'I1', undefined, /duplicate item "I1"/],
    [`${B}#/items/1/kcs`, ['A', 'A'], `${B}#/items/1/kcs/1`],
    [`${B}#/items/0/standards/1`, 'subtract'],
    [`${B}#/items/1/kcs/1`, 'Z', undefined, /"Z" is not a knowledge component/],
    [`${B}#/items/0/standards/0`, 'Z', undefined, /"Z" is not a standard/],
    [`${C}#/kcs/1/kc`, 'Z', `${C}#/kcs`, /"B" of bank.json is missing/],
    [`${C}#/kcs/1/kc`, 'Z', undefined, /"Z"/],
    [`${C}#/kcs/1/kc`, 'A'],
    [`${C}#/items/1/item`, 'Z', `${C}#/items`, /"I2" of bank.json is missing/],
    [`${C}#/items/1/item`, 'Z', undefined, /"Z"/],
    [`${C}#/items/1/item`, 'I1'],
    [`${C}#/items/0/slip`, undefined, `${C}#/items/0`, /"slip"/],
    [`${C}#/items/1/probabilities`, [0.1, 0.9], undefined, /need 4/],
    [`${C}#/items/1/probabilities/3`, 0.25, undefined, /lower/],
    [`${C}#/items/0/guess`, 0.95, undefined, /1 - slip/],
    [`${C}#/scale`, { name: 's', values: [1, 2, 2] }, `${C}#/scale/values/2`, /above/],
    [`${C}#/scale`, { name: 's', values: [1, 2, 3] }, `${C}#/scale/values`, /61 theta/],
    [`${C}#/theta/min`, 7, undefined, /below/],
    [`${C}#/validUntil`, '2026-01-01T00:00:00.000Z', undefined, /later/],
    [`${floors}/0/standard`, 'Z', undefined, /"Z"/],
    [`${floors}/0/kc`, 'A', `${floors}/0`, /exactly one/],
    [`${floors}/1`, { standard: 'subtract', minimumEvidenceItems: 1 }, `${floors}/1/standard`],
    [`${floors}/0/minimumEvidenceItems`, 9, `${BANK}: the policy of "my-bank"`, /cannot be reached/],
    [rules, { contentConstraints: [{ kc: 'Z' }] }, `${rules}/contentConstraints/0/kc`],
    [rules, { contentConstraints: [crossed] }, `${rules}/contentConstraints/0`, /above/],
    [rules, { kcScope: ['Z'] }, `${rules}/kcScope/0`],
    [rules, { kcScope: ['A', 'A'] }, `${rules}/kcScope/1`],
    [
      rules,
      { exposure: { method: 'sympson_hetter', tableSha256: 'a'.repeat(64) } },
      `${rules}/exposure`,
      /a seed has none/,
    ],
    [rules, { excludedItems: ['I9'] }, `${rules}/excludedItems/0`],
    [rules, { excludedItems: ['I1', 'I1'] }, `${rules}/excludedItems/1`],
    [rules, { enemySets: [['I1', 'I9']] }, `${rules}/enemySets/0/1`, /"I9" is not an item/],
    [rules, { enemySets: [['I1', 'I1']] }, `${rules}/enemySets/0/1`],
    [`${L}#/learners/1`, { name: '1', answers: {} }, `${L}#/learners/1/name`],
    [`${L}#/learners/0/answers/I9`, 1, undefined, /"I9"/],
    [`${L}#/learners/0/answers/I1`, 2],
    [G, { generator: 'x' }, `${G}#/generator`],
    [T, [], undefined, /Too small/],
    [T, [outOfReach], 'analysis-policy.json', /\/document\/triggers\/0\/threshold\/value cannot be reached/],
    ...reportRows.map(([place, value, found = place]): Row => [`${R}#${place}`, value, `${R}#${found}`]),
  ])('is refused where it is wrong: %s = %j', async (place, value, found = place, message = /./) => {
    const defects = await defectsOf(place.startsWith(R) ? withReports : exampleSeed, { [place]: value });
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
