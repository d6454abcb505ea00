import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { useCommands } from '#test/support/commands.ts';
import { createMemoryRecordsTable } from '#test/support/memory-records.ts';
import { INSISTED, calibrationRecord } from '#shared/records/records.ts';
import { KC_A, KC_B, sampleCalibrationFile } from '#test/support/sample-files.ts';
import { pairedQ, simulateAnswers } from '#test/support/simulate-study.ts';
import { createDesign, randomParameters, startingParameters } from './calibrate/model.ts';
import { uniformFrom } from './calibrate/numbers.ts';
import { releaseRecord } from '#ops/release.ts';
import { readCsv, writeCsv } from '#tools/terminal/csv.ts';

const shared = join(import.meta.dirname, '../../shared/data/fraction-subtraction');

const directory = await mkdtemp(join(tmpdir(), 'calibrate-command-'));
beforeAll(writeStudy);

const hostile = '<script>alert("1")</script>&\u202E';

/** 300 simulated learners; the last item's name is markup. */
async function writeStudy(): Promise<void> {
  const q = pairedQ(2);
  const design = createDesign('gdina', 2, q, { bound: 0.001, penalty: 'weak' });
  const uniform = uniformFrom(12);
  const answers = simulateAnswers(design, randomParameters(design, uniform), 300, uniform);
  const items = q.map((_, j) => (j === q.length - 1 ? hostile : `I${j + 1}`));
  const quoted = items.map((item) => `"${item.replaceAll('"', '""')}"`);
  const rows = Array.from({ length: 300 }, (_, n) =>
    [n + 1, ...answers.subarray(n * q.length, (n + 1) * q.length)].join(','),
  );
  await write('responses.csv', `,${quoted.join(',')}\n${rows.join('\n')}\n`);
  await write(
    'q-matrix.csv',
    `,A,B\n${q.map((kcs, j) => [quoted[j], ...[0, 1].map((k) => Number(kcs.includes(k)))].join(',')).join('\n')}\n`,
  );
}

function write(path: string, text: string): Promise<void> {
  return writeFile(join(directory, path), text);
}

function read(path: string): Promise<string> {
  return readFile(join(directory, path), 'utf8');
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await read(path)) as unknown;
}

/** The cells of a table. */
function csvOf(text: string): {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const table = readCsv(text);
  if (!table.ok) throw new Error(table.error.join('\n'));
  return { header: table.value.header, rows: table.value.rows.map(({ cells }) => cells) };
}

const command = useCommands();
const calibrate = (...args: readonly string[]) => command('psychometrics/calibrate.ts', args, directory);

const study = ['--responses', 'responses.csv', '--q-matrix', 'q-matrix.csv'];
const dina = (out: string, ...more: readonly string[]) =>
  calibrate(...study, '--model', 'dina', '--out', out, ...more);

const fitFile = z.looseObject({
  logLikelihood: z.number(),
  iterations: z.int(),
  converged: z.boolean(),
  scoreLength: z.number(),
  items: z.array(z.looseObject({ item: z.string(), guess: z.number(), slip: z.number() })),
  ability: z.looseObject({ reliabilityCeiling: z.number() }),
  kcs: z.array(
    z.looseObject({ kc: z.string(), slope: z.number(), location: z.number(), slopeSeFromPrior: z.boolean() }),
  ),
});

const verdictFile = z.looseObject({
  verdict: z.object({
    level: z.string(),
    conditions: z.array(z.object({ code: z.string(), subjects: z.array(z.string()), sentence: z.string() })),
  }),
});

describe.each(['dina', 'gdina'])('npm run calibrate, %s', (model) => {
  it('writes the same bytes twice: a calibration, its figures, a report, a seed’s parameters', async () => {
    const files = ['calibration.json', 'fit.json', 'parameters.json', 'report.html'];
    const texts: string[][] = [];
    for (const out of [`${model}-1`, `${model}-2`]) {
      const ended = await calibrate(...study, '--model', model, '--out', out);
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(ended.stdout).toMatch(/300 learners, 5 items, 2 knowledge components\nlog-likelihood −?-?\d/);
      expect(ended.stdout).toMatch(
        /at most 0\.\d{3} on any test .* below 0\.80, .* too coarse for an individual/,
      );
      expect(ended.stdout).toMatch(
        model === 'dina'
          ? /^log-likelihood given up: \d+\.\d\d by the priors of the curves$/m
          : /^log-likelihood given up: \d+\.\d\d by the priors of the curves, \d+\.\d\d by monotonicity$/m,
      );
      texts.push(await Promise.all(files.map((file) => read(`${out}/${file}`))));
    }
    expect(texts[1]).toEqual(texts[0]);
  });

  it('its calibration is released as it stands, and its figures hold together', async () => {
    const fit = fitFile.parse(await readJson(`${model}-1/fit.json`));
    expect(fit).toMatchObject({
      model,
      converged: true,
      parameters: model === 'dina' ? 14 : 16,
      data: { learners: 300, items: 5, kcs: 2, missing: 0 },
      standardErrors: { singular: expect.any(Boolean) as boolean },
      tolerance: 0.001,
      // G-DINA has short runs, and DINA on a complete Q-matrix with many learners has none.
      starts: {
        shortRuns: { length: model === 'dina' ? 0 : 6 },
        objectives: { length: model === 'dina' ? 1 : 2 },
      },
      prices: {
        penalty: expect.any(Number) as number,
        monotonicity: model === 'dina' ? null : (expect.any(Number) as number),
      },
    });
    expect(fit.scoreLength).toBeLessThan(0.001);
    // Two KCs have one association: their slopes have the error of the prior, and the report marks them.
    expect(fit.kcs.map(({ slopeSeFromPrior }) => slopeSeFromPrior)).toEqual([true, true]);
    expect(await read(`${model}-1/report.html`)).toMatch(/>\d\.\d\d†</);
    const file = await readJson(`${model}-1/calibration.json`);
    expect(JSON.stringify(file)).toContain('placeholders');
    expect(await releaseRecord(createMemoryRecordsTable(), 'calibration', file)).toMatchObject({ ok: true });
    const record = calibrationRecord.parse(file);
    expect(record.parameters.reliabilityCeiling).toBeCloseTo(fit.ability.reliabilityCeiling, 6);
    expect(record.parameters.reliabilityCeiling).toBeLessThan(0.8);
    record.parameters.items.forEach(({ probabilities }, j) => {
      expect(probabilities[0]).toBeCloseTo(fit.items[j]!.guess, 8);
      expect(probabilities.at(-1)).toBeCloseTo(1 - fit.items[j]!.slip, 8);
    });
  });

  // studies.slow.test.ts opens it in a browser.
  it('its report has no name of the study unescaped, and no figure that is no number', async () => {
    const html = await read(`${model}-1/report.html`);
    expect(html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;');
    expect(html).not.toMatch(/<script|\u202E|NaN|Infinity|undefined|\[object/);
    // Whether the calibration can be used comes before every figure.
    expect(html).toMatch(
      /<main>\s*<section id="verdict"[^>]*><h2[^>]*>Verdict<\/h2>\s*<p><strong>(?:Releasable|Not releasable)/,
    );
  });
});

describe('npm run calibrate', () => {
  it('takes ids, framework and validity from a metadata file', async () => {
    const fixed = ['visibility', 'modelFamily', 'modelVersion', 'numericPrecision', 'runtimeVersion'];
    const document = Object.fromEntries(
      Object.entries(sampleCalibrationFile()['document']!).filter(([name]) => !fixed.includes(name)),
    );
    const own = (name: string, guid: string): object => ({
      guid,
      uri: `https://case.example/${name}`,
      label: name,
    });
    const items = ['I1', 'I2', 'I3', 'I4', hostile];
    const meta = {
      tenantId: 'tenant-aurora',
      document,
      scale: { base: 200, perTheta: 10 },
      // The second column of the Q-matrix has the lower GUID, and so comes first in the record.
      kcs: { A: own('A', KC_B), B: own('B', KC_A) },
      items: Object.fromEntries(
        items.map((item, j) => [
          item,
          { artifactVersionId: `artifact-${j}@2`, qtiIdentifier: `item-${j}`, accessibility: ['braille'] },
        ]),
      ),
    };
    await write('meta.json', JSON.stringify(meta));
    const ended = await dina('known', '--meta', 'meta.json', '--with-data');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).not.toContain('placeholder');
    const record = calibrationRecord.parse(await readJson('known/calibration.json'));
    const { verdict } = verdictFile.parse(await readJson('known/fit.json'));
    // Its own limitations come first, then those of the verdict.
    const limitations = [
      ...z.array(z.string()).parse(document['limitations']),
      ...verdict.conditions.flatMap(({ code, sentence }) => (code === 'coarse_scores' ? [] : [sentence])),
    ];
    expect(record).toMatchObject({
      tenantId: 'tenant-aurora',
      document: { ...document, visibility: 'tenant', limitations },
    });
    expect(record.parameters.kcs.map(({ guid, uri }) => [guid, uri])).toEqual([
      [KC_A, 'https://case.example/B'],
      [KC_B, 'https://case.example/A'],
    ]);
    expect(record.parameters.items[4]).toMatchObject({
      artifactVersionId: 'artifact-4@2',
      kcs: [KC_A, KC_B],
      accessibility: ['braille'],
    });
    const fit = fitFile.parse(await readJson('known/fit.json'));
    expect(record.parameters.kcs[0]!.slope).toBeCloseTo(fit.kcs[1]!.slope, 8);
    expect(record.parameters.kcs[1]!.slope).toBeCloseTo(fit.kcs[0]!.slope, 8);
    expect([record.parameters.scale[0], record.parameters.scale.at(-1)]).toEqual([140, 260]);
    expect(readCsv(await read('known/responses.csv'))).toEqual(readCsv(await read('responses.csv')));
  });

  it.each([
    ['no member of metadata', { documents: 1 }, /meta\.json#\/documents/],
    [
      'names of nothing',
      { kcs: { C: {} }, items: { I9: {} } },
      /#\/kcs\/C: is not a knowledge component.*\n.*#\/items\/I9: is not an item/,
    ],
    [
      'GUIDs in capitals',
      { kcs: { A: { guid: `{${KC_A.toUpperCase()}}` } } },
      new RegExp(`meta\\.json#/kcs/A/guid: .* must be written as "${KC_A}"`),
    ],
    [
      'one GUID for two components',
      { kcs: { A: { guid: KC_A }, B: { guid: KC_A } } },
      /meta\.json#\/kcs\/B\/guid: repeats the GUID before it/,
    ],
    [
      'a place of an item',
      { items: { I3: { accessibility: ['braille', 'braille'] } } },
      /meta\.json#\/items\/I3\/accessibility\/1: /,
    ],
    [
      'what spoils the record',
      { document: { limitations: ['Gives percentiles.'] } },
      /#\/document\/limitations\/0: claims a percentile/,
    ],
  ])('names the defects of metadata with %s', async (_, meta, message) => {
    await write('meta.json', JSON.stringify(meta));
    const ended = await dina('no', '--meta', 'meta.json');
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(message);
    expect(existsSync(join(directory, 'no'))).toBe(false);
  });

  it('takes both tables as arguments in either order, and states first what it understood', async () => {
    const given = await calibrate('q-matrix.csv', 'responses.csv', '--model', 'dina', '--out', 'arguments');
    expect(given).toMatchObject({ code: 0, stderr: '' });
    expect(given.stdout).toMatch(
      /^learners {2}300: "1" to "300", .*\nitems {5}5: .*\ncodes {5}"[01]".*\nscoring {3}"1" correct.*\nbooklets {2}1: .*\nnote {6}the answers are in responses\.csv, the Q-matrix is in q-matrix\.csv\n\n300 learners/,
    );
    await dina('options');
    expect(await read('arguments/fit.json')).toBe(await read('options/fit.json'));
  });

  it.each([
    [['responses.csv'], /FILES are two, the answers and the Q-matrix: found 1/],
    [['responses.csv', ...study], /give either two FILES, or --responses and --q-matrix/],
    [['responses.csv', 'q-matrix.csv', '--correct-from', 'x'], /It must be a number, for example 2 or 80%/],
    [['responses.csv', 'q-matrix.csv', '--attempts', 'some'], /Allowed choices are first, last, best/],
  ])('refuses the arguments %j', async (args, message) => {
    const ended = await calibrate(...args, '--model', 'dina', '--out', 'no');
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(message);
  });

  it('does not overwrite other files without --force', async () => {
    await dina('mine');
    await rm(join(directory, 'mine/fit.json'));
    const refused = await dina('mine');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') as string });
    expect((await dina('mine', '--force')).code).toBe(0);
    await rm(join(directory, 'mine/fit.json'));
    await mkdir(join(directory, 'mine/fit.json'));
    expect(await dina('mine')).toMatchObject({
      ...{ code: 1, stderr: expect.stringMatching(/cannot read .*fit\.json: it is a directory/) as string },
    });
    await rm(join(directory, 'mine'), { recursive: true });
  });

  it.each([
    [[...study, '--model', 'rasch', '--out', 'no'], 2, /Allowed choices are dina, gdina/],
    [[...study, '--model', 'dina', '--out', 'no', '--name', 'No Name'], 2, /'--name <NAME>'.*must be/],
    [
      ['--responses', 'absent.csv', '--q-matrix', 'q-matrix.csv', '--model', 'dina', '--out', 'no'],
      1,
      /^cannot read absent\.csv: no such file or directory$/m,
    ],
    [
      ['--responses', 'q-matrix.csv', '--q-matrix', 'q-matrix.csv', '--model', 'dina', '--out', 'no'],
      1,
      /^the answers and the Q-matrix are the same table: q-matrix\.csv, q-matrix\.csv$/m,
    ],
  ])('refuses %j without a stack trace', async (args, code, message) => {
    const ended = await calibrate(...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).not.toMatch(/ at .*\.ts/);
  });

  it('writes what it has when the steps run out, and says so', async () => {
    const ended = await dina('short', '--max-iterations', '2');
    expect(ended).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^! Not converged after 2 E-steps/m) as string,
      stderr: expect.stringMatching(/^not releasable: calibration\.json is not written/) as string,
    });
    expect(await readJson('short/fit.json')).toMatchObject({
      converged: false,
      verdict: { level: 'not_releasable' },
    });
  });

  describe('of a study that is not releasable', () => {
    const reversed = ['--responses', 'reversed.csv', '--q-matrix', 'q-matrix.csv', '--model', 'dina'];

    beforeAll(async () => {
      const { header, rows } = csvOf(await read('responses.csv'));
      const turned = rows.map(([id = '', first, ...others]) => [id, first === '1' ? '0' : '1', ...others]);
      await write('reversed.csv', writeCsv([header, ...turned]));
    });

    it('writes no calibration, and removes an earlier one', async () => {
      await dina('turned');
      expect(existsSync(join(directory, 'turned/calibration.json'))).toBe(true);
      const ended = await calibrate(...reversed, '--out', 'turned');
      expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('add --insist') as string });
      expect(ended.stdout).not.toContain('npm run release');
      expect(existsSync(join(directory, 'turned/calibration.json'))).toBe(false);
      expect(existsSync(join(directory, 'turned/parameters.json'))).toBe(true);
      const { verdict } = verdictFile.parse(await readJson('turned/fit.json'));
      expect(verdict.level).toBe('not_releasable');
      expect(verdict.conditions[0]).toMatchObject({ code: 'reversed_items', subjects: ['I1'] });
      // The verdict comes last, in at most ten lines; the report has it first.
      const lines = ended.stdout
        .trimEnd()
        .split('\n')
        .slice(-1 - verdict.conditions.length);
      expect(lines[0]).toMatch(/^Not releasable, because of \d conditions?:$/);
      expect(lines.slice(1)).toEqual(verdict.conditions.map(({ sentence }) => `! ${sentence}`));
      expect(await read('turned/report.html')).toMatch(
        /<strong>Not releasable, .*?<\/strong><\/p>\s*<ul class="warnings"><li>[^<]*I1[^<]*<code>reversed_items<\/code>/,
      );
    });

    it('writes it with --insist, with the cause among its limitations', async () => {
      expect((await calibrate(...reversed, '--out', 'insisted', '--insist')).code).toBe(0);
      const record = calibrationRecord.parse(await readJson('insisted/calibration.json'));
      const { verdict } = verdictFile.parse(await readJson('insisted/fit.json'));
      expect(record.document.limitations).toContain(verdict.conditions[0]?.sentence);
      expect(record.document.limitations).toContain(INSISTED);
    });
  });

  describe('of two groups that nothing links', () => {
    const groups = ['--responses', 'groups.csv', '--q-matrix', 'groups-q.csv', '--model', 'dina'];

    beforeAll(async () => {
      const { header, rows } = csvOf(await read('responses.csv'));
      // The second form has the same items under other names, answered by the second half of the learners.
      const names = header.slice(1, 5);
      const others = names.map((name) => `percentile ${name}`);
      const blank = names.map(() => '');
      const halves = rows.map(([id = '', ...cells], n) =>
        n < 150 ? [id, ...cells.slice(0, 4), ...blank] : [id, ...blank, ...cells.slice(0, 4)],
      );
      await write('groups.csv', writeCsv([['', ...names, ...others], ...halves]));
      const q = csvOf(await read('q-matrix.csv'));
      const needs = q.rows.slice(0, 4);
      await write(
        'groups-q.csv',
        writeCsv([q.header, ...needs, ...needs.map(([, ...cells], j) => [others[j] ?? '', ...cells])]),
      );
    });

    it('names the parts, in the calibration without a claim that it may not contain', async () => {
      expect((await calibrate(...groups, '--out', 'groups')).code).toBe(0);
      const { verdict } = verdictFile.parse(await readJson('groups/fit.json'));
      expect(verdict.conditions[0]).toMatchObject({
        code: 'unlinked_parts',
        subjects: ['I1, I2, I3, I4', 'percentile I1, percentile I2, percentile I3, percentile I4'],
      });
      const record = calibrationRecord.parse(await readJson('groups/calibration.json'));
      expect(record.document.limitations).toContain(
        'Meets the condition unlinked_parts (docs/calibrate.md).',
      );
      expect(await read('groups/report.html')).toContain('Parts that nothing links');
    });

    it.each([
      ['/scale', { scale: { base: 500, perTheta: 100 } }],
      [
        '/document/anchor',
        {
          document: { anchor: { source: 's', version: '1', checksum: 'a'.repeat(64), licenseScope: 'all' } },
        },
      ],
    ])('refuses %s without --assume-equal-groups', async (pointer, meta) => {
      await write('scale.json', JSON.stringify(meta));
      const refused = await calibrate(...groups, '--meta', 'scale.json', '--out', 'no-scale');
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(`scale.json#${pointer}: Nothing links the parts "I1, I2`);
      expect(refused.stderr).toContain('--assume-equal-groups');
      expect(existsSync(join(directory, 'no-scale'))).toBe(false);
      const assumed = await calibrate(
        ...[...groups, '--meta', 'scale.json', '--out', 'a-scale', '--assume-equal-groups'],
      );
      expect(assumed.code).toBe(0);
    });
  });

  it('compares structures with a given hierarchy, and draws a p value', async () => {
    const ended = await dina('structure', '--hierarchy', 'A>B', '--bootstrap', '3');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^structure: independent given ability, BIC .*; bootstrap p \d/m);
    const { structure } = z
      .looseObject({
        structure: z.looseObject({
          candidates: z.array(z.looseObject({ kind: z.string(), detail: z.string(), bic: z.number() })),
          bootstrap: z.object({ draws: z.literal(3), statistic: z.number(), p: z.number() }),
        }),
      })
      .parse(await readJson('structure/fit.json'));
    expect(structure.candidates.map(({ kind, detail }) => [kind, detail])).toContainEqual([
      'given_hierarchy',
      'A → B',
    ]);
    expect(await read('structure/report.html')).toContain('given prerequisites: A → B');
    await write('chains.txt', 'A>B\nB>A\n');
    for (const [value, message] of [
      ['A>Z', '--hierarchy: "Z" is not a knowledge component'],
      ['chains.txt', '--hierarchy: "A" requires itself'],
    ] as const) {
      const refused = await dina('no', '--hierarchy', value);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(message) as string });
    }
  });

  it('random starts are those of their seed, and never end below the fixed one', async () => {
    await dina('s1', '--starts', '3', '--seed', '5');
    await dina('s2', '--starts', '3', '--seed', '5');
    expect(await read('s1/fit.json')).toBe(await read('s2/fit.json'));
    const several = fitFile.extend({
      objective: z.number(),
      starts: z.object({ objectives: z.array(z.number()) }),
    });
    const fit = several.parse(await readJson('s1/fit.json'));
    expect(fit.starts.objectives).toHaveLength(4);
    expect(fit.objective).toBeCloseTo(Math.max(...fit.starts.objectives), 3);
  });
});

// The study's answers stay outside the project (NOTICE): where they are absent, this is skipped.
describe.skipIf(!existsSync(shared))('the fraction-subtraction study', () => {
  const published = z.object({
    kcs: z.array(z.object({ slope: z.number(), location: z.number() })),
    items: z.array(z.object({ guess: z.number(), slip: z.number() })),
  });

  it('is fitted at least as well as its published parameters, and close to them', async () => {
    const data = ['--responses', join(shared, 'responses.csv'), '--q-matrix', join(shared, 'q-matrix.csv')];
    const ended = await calibrate(...data, '--model', 'dina', '--out', 'fractions');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const fit = fitFile.parse(await readJson('fractions/fit.json'));
    expect(fit.logLikelihood).toBeGreaterThan(-4431.55);
    expect(fit.iterations).toBeLessThan(100);
    const known = published.parse(JSON.parse(await readFile(join(shared, 'parameters.json'), 'utf8')));
    known.items.forEach(({ guess, slip }, j) => {
      expect(Math.abs(fit.items[j]!.guess - guess)).toBeLessThan(0.01);
      expect(Math.abs(fit.items[j]!.slip - slip)).toBeLessThan(0.01);
    });
    known.kcs.forEach(({ slope, location }, k) => {
      expect(Math.abs(fit.kcs[k]!.slope - slope)).toBeLessThan(0.15);
      expect(Math.abs(fit.kcs[k]!.location - location)).toBeLessThan(0.1);
    });
    const saturated = await calibrate(...data, '--model', 'gdina', '--starts', '0', '--out', 'saturated');
    expect(saturated).toMatchObject({ code: 0, stderr: '' });
    const other = fitFile.parse(await readJson('saturated/fit.json'));
    expect(other.logLikelihood).toBeGreaterThan(-4292.93);
    expect(other.iterations).toBeLessThan(300);
    const record = await readJson('fractions/calibration.json');
    expect(await releaseRecord(createMemoryRecordsTable(), 'calibration', record)).toMatchObject({
      ok: true,
    });
  }, 300_000);
});

describe('prerequisites that the answers do not show', () => {
  const plain = (out: string, ...more: readonly string[]) =>
    calibrate('plain.csv', 'q-matrix.csv', '--model', 'dina', '--out', out, ...more);

  /** 400 learners, of whom many have one of two components only. */
  beforeAll(async () => {
    const design = createDesign('dina', 2, pairedQ(2), { bound: 0.001, penalty: 'weak' });
    const answers = simulateAnswers(design, startingParameters(design), 400, uniformFrom(6));
    const header = (await read('responses.csv')).split('\n', 1)[0];
    const rows = Array.from({ length: 400 }, (_, n) =>
      [n + 1, ...answers.subarray(5 * n, 5 * n + 5)].join(','),
    );
    await write('plain.csv', `${header}\n${rows.join('\n')}\n`);
  });

  it('[MA-102] are not in the calibration; with --insist they are, and the release refuses it for that', async () => {
    const ended = await plain('not-shown', '--hierarchy', 'A>B');
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('! The answers do not show the prerequisites that were given (A → B)');
    const record = calibrationRecord.parse(await readJson('not-shown/calibration.json'));
    expect(record.document.runtimeVersion).toBe('ho-cdm-grid-1');
    expect(record.parameters.blocks).toBeUndefined();

    const insisted = await plain('insisted', '--hierarchy', 'A>B', '--insist');
    expect(insisted.code).toBe(0);
    const file = await readJson('insisted/calibration.json');
    const { document, parameters } = calibrationRecord.parse(file);
    expect(document.runtimeVersion).toBe('ho-cdm-block-1');
    expect(document.limitations[1]).toBe(INSISTED);
    expect(parameters.blocks).toMatchObject([{ form: 'hierarchy', support: { learners: 400 } }]);
    expect(await releaseRecord(createMemoryRecordsTable(), 'calibration', file)).toMatchObject({
      ok: false,
      error: { defects: [{ pointer: '/parameters/blocks/0/support/bicGain' }] },
    });
  });

  it('are read from a file of blocks, which leaves no place for --hierarchy', async () => {
    await write('blocks.csv', 'kc,block,requires\nA,x,\nB,x,A\n');
    const ended = await plain('blocks', '--blocks', 'blocks.csv');
    expect(ended.stdout).toContain('! The answers do not show the prerequisites that were given (A → B)');
    expect(await plain('blocks', '--blocks', 'blocks.csv', '--hierarchy', 'A>B')).toMatchObject({ code: 2 });
    await write('broken.csv', 'kc,block\nA,x\nC,x\n');
    const broken = await plain('blocks', '--blocks', 'broken.csv');
    expect(broken.stderr).toContain('broken.csv: line 3: "C" is not a knowledge component');
  });
});
