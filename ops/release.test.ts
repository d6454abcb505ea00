import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { scaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { eligibilityRules, namesTable, selectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import {
  actions,
  analysisPolicy,
  analysisTrigger,
  metrics,
  reasons,
} from '#shared/contract/reports/analysis-policy.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { createMemoryRecordsTable, type MemoryRecordsTable } from '#test/support/memory-records.ts';
import { exposureMethod, exposureMethods } from '#test/reference/exposure-methods.ts';
import { bindTable } from '#shared/records/fitted-table.ts';
import { INSISTED, calibrationParameters } from '#shared/records/records.ts';
import { createRecordStore } from '#shared/records/store.ts';
import {
  KC_A,
  KC_C,
  STANDARD_1,
  sampleAnalysisPolicyFile,
  sampleCalibrationFile,
  sampleParameters,
  samplePolicyFile,
  sampleTrigger,
} from '#test/support/sample-files.ts';
import { block, deprecate, releaseFile, releaseRecord, type ReleaseRuntime } from './release.ts';
import { UsageError } from '#tools/terminal/command.ts';

const anywhere = { stage: undefined, table: 'records' };
const POLICY = { kind: 'policy', id: 'fractions-policy-7' } as const;

interface TestRuntime extends ReleaseRuntime {
  readonly lines: readonly string[];
  readonly warnings: readonly string[];
  readonly table: MemoryRecordsTable;
}

function runtimeWith(files: Readonly<Record<string, unknown>>): TestRuntime {
  const table = createMemoryRecordsTable();
  const lines: string[] = [];
  const warnings: string[] = [];
  return {
    table,
    lines,
    warnings,
    readFile: (path) => {
      const content = files[path];
      if (content === undefined) return Promise.reject(new Error('no such file'));
      return Promise.resolve(typeof content === 'string' ? content : JSON.stringify(content));
    },
    openTable: () => Promise.resolve(ok(table)),
    print: (line) => lines.push(line),
    warn: (line) => warnings.push(line),
  };
}

/** Releases a file of a runtime: a policy, into its table, unless told otherwise. */
const release = (
  runtime: ReleaseRuntime,
  path: string,
  options: Partial<Parameters<typeof releaseFile>[3]> = {},
  kind: Parameters<typeof releaseFile>[1] = 'policy',
): ReturnType<typeof releaseFile> =>
  releaseFile(runtime, kind, path, { ...anywhere, dryRun: false, ...options });

function linesOf(refused: Awaited<ReturnType<typeof releaseFile>>): string[] {
  return refused.ok || refused.error instanceof UsageError ? [] : refused.error.split('\n');
}

describe('release FILE', () => {
  it('warns of a calibration that its own checks forbid', async () => {
    const forbidden = sampleCalibrationFile({ limitations: [INSISTED] });
    const runtime = runtimeWith({ 'c.json': forbidden });
    expect(await release(runtime, 'c.json', { dryRun: true }, 'calibration')).toEqual(ok(undefined));
    expect(runtime.warnings.join()).toContain('the checks of npm run calibrate forbid this calibration');
  });

  it('writes a record once, and never other content under its id, which one of another kind may have [MA-228, RP-146]', async () => {
    const id = 'same-id';
    const said: unknown[] = [];
    const files: Record<string, unknown> = {};
    const runtime = runtimeWith(files);
    for (const [kind, fileOf, change] of [
      ['policy', samplePolicyFile, { maxItems: 13 }],
      ['analysis-policy', sampleAnalysisPolicyFile, { triggers: [sampleTrigger()] }],
    ] as const) {
      const file = fileOf({ id });
      Object.assign(files, { a: file, again: JSON.stringify(file, null, 2), b: fileOf({ id, ...change }) });
      expect(await release(runtime, 'a', {}, kind)).toEqual(ok(undefined));
      const written = await runtime.table.read({ kind, id });
      expect(JSON.parse(written?.document ?? '')).toMatchObject(file['document'] as object);
      expect(await release(runtime, 'again', {}, kind)).toEqual(ok(undefined));
      expect(await release(runtime, 'b', {}, kind)).toEqual(
        err(expect.stringContaining('give the correction a new id')),
      );
      expect(await runtime.table.read({ kind, id })).toEqual(written);
      const line = (text: string): unknown =>
        expect.stringMatching(new RegExp(`^${kind} same-id \\(system\\) ${text}, checksum [0-9a-f]{64}$`));
      const hint = (text: string): unknown[] => (kind === 'policy' ? [] : [expect.stringContaining(text)]);
      said.push(line('released'), ...hint('set ANALYSIS_POLICY_ID to same-id in the service profile'));
      said.push(line('was already released'), ...hint('a tenant’s new runs'));
    }
    expect(runtime.lines).toEqual(said);
  });

  it('releases a policy of sympson_hetter with the table that it names, and says which one it is given', async () => {
    const table = { 'item-1': 0.25, 'item-2': 0.5 };
    const under = (tableSha256: string) =>
      samplePolicyFile({ eligibilityRules: { exposure: { method: 'sympson_hetter', tableSha256 } } });
    const runtime = runtimeWith({
      'p.json': under(hashCanonical(table)),
      'wrong.json': under('0'.repeat(64)),
      'table.json': table,
      'bad.json': { 'item-1': 2 },
    });
    const releaseWith = (path: string, exposureTable?: string) => release(runtime, path, { exposureTable });
    expect(await releaseWith('p.json')).toEqual(err(expect.stringContaining('needs its table')));
    expect(await releaseWith('wrong.json', 'table.json')).toEqual(
      err(expect.stringContaining(hashCanonical(table))),
    );
    expect(await releaseWith('p.json', 'bad.json')).toEqual(
      err(expect.stringMatching(/^bad\.json cannot be released, one defect:\n {2}\/item-1: /)),
    );
    expect(await releaseWith('p.json', 'table.json')).toEqual(ok(undefined));
    const store = createRecordStore({ table: runtime.table, mayReadSystem: () => true, now: Date.now });
    expect(await store.policy('tenant-1', 'fractions-policy-7')).toMatchObject(ok({ exposureTable: table }));
  });

  it('releases a fitted table only with a policy of the selection that it was fitted for', async () => {
    const probabilities = { 'item-1': 0.25 };
    const under = (maxItems: number, learners: { mean: number; sd: number }) => {
      const exposure = { method: 'sympson_hetter', tableSha256: hashCanonical(probabilities) };
      const file = samplePolicyFile({ maxItems, eligibilityRules: { exposure } });
      const policy = selectionPolicy.omit({ checksum: true }).parse(file['document']);
      return { file, table: bindTable(probabilities, policy, learners) };
    };
    const { theta } = calibrationParameters.parse(sampleParameters());
    const { file, table } = under(12, { mean: theta.mean, sd: theta.sd });
    const runtime = runtimeWith({
      'p.json': file,
      'c.json': sampleCalibrationFile(),
      'table.json': table,
      'longer.json': under(13, table.fittedFor.population).table,
      'abler.json': under(12, { mean: theta.mean + 1, sd: theta.sd }).table,
      'changed.json': { ...table, fittedFor: { ...table.fittedFor, population: { mean: 9, sd: 1 } } },
      'plain.json': probabilities,
      'bad.json': { ...table, sha256: undefined },
    });
    const releaseWith = (exposureTable: string) =>
      release(runtime, 'p.json', { exposureTable, calibration: 'c.json' });
    expect(linesOf(await releaseWith('longer.json'))).toEqual([
      'longer.json cannot be released, one defect:',
      expect.stringMatching(/^ {2}\/fittedFor\/selection\/maxItems: is 13, and 12 in the policy/),
    ]);
    expect(linesOf(await releaseWith('changed.json'))).toContainEqual(
      expect.stringMatching(/^ {2}\/sha256: is not the hash of this table/),
    );
    expect(linesOf(await releaseWith('bad.json'))).toContainEqual('  /sha256: is required');
    expect(await runtime.table.read(POLICY)).toBeUndefined();
    const aboutTables = (): readonly string[] =>
      runtime.warnings.filter((line) => /exposure table|plain\.json/.test(line));
    for (const [name, warnings] of [
      ['table.json', []],
      ['abler.json', [expect.stringContaining('mean 1 and SD 1; the calibration has mean 0')]],
      ['plain.json', [expect.stringContaining('plain.json does not state what it was fitted for')]],
    ] as const) {
      const before = aboutTables().length;
      expect(await releaseWith(name)).toEqual(ok(undefined));
      expect(aboutTables().slice(before)).toEqual(warnings);
    }
    const store = createRecordStore({ table: runtime.table, mayReadSystem: () => true, now: Date.now });
    expect(await store.policy('tenant-1', POLICY.id)).toMatchObject(ok({ exposureTable: probabilities }));
  });

  const randomesque = { method: 'randomesque', size: 2 };
  it.each<[Readonly<Record<string, unknown>>, RegExp[]]>([
    [{ exposure: randomesque, priorUse: 'avoid' }, []],
    [
      { exposure: randomesque, priorUse: 'exclude' },
      [/eligibilityRules\/priorUse is "exclude".*422.*"avoid"/],
    ],
    [{ exposure: randomesque, priorUse: 'allow' }, [/eligibilityRules\/priorUse is "allow".*"avoid"/]],
    [{ exposure: randomesque }, [/eligibilityRules\/priorUse is missing.*"avoid"/]],
    [{ priorUse: 'avoid' }, [/eligibilityRules\/exposure is missing.*"randomesque"/]],
    [{}, [/exposure is missing/, /priorUse is missing/]],
  ])(
    'releases a policy with %j and warns %j, also at a dry run [MA-113]',
    async (eligibilityRules, warnings) => {
      const runtime = runtimeWith({ 'p.json': samplePolicyFile({ eligibilityRules }) });
      for (const dryRun of [true, false])
        expect(await release(runtime, 'p.json', { dryRun })).toEqual(ok(undefined));
      expect(runtime.lines).toHaveLength(2);
      expect(runtime.warnings).toEqual(
        [...warnings, ...warnings].map((text) => expect.stringMatching(text) as string),
      );
    },
  );

  it('lists every defect of a calibration, the engine’s findings included, with pointers into the file', async () => {
    const parameters = sampleParameters();
    const items = parameters['items'] as Record<string, unknown>[];
    items[1]!['artifactVersionId'] = 'av-1';
    parameters['scale'] = [400, 400, 600];
    const runtime = runtimeWith({ 'c.json': sampleCalibrationFile({ id: 'latest' }, { parameters }) });
    const refused = await release(runtime, 'c.json', {}, 'calibration');
    expect(linesOf(refused)).toEqual([
      'c.json cannot be released, 3 defects:',
      expect.stringMatching(/^ {2}\/document\/id: /),
      expect.stringMatching(/^ {2}\/parameters\/items\/1\/artifactVersionId: /),
      expect.stringMatching(/^ {2}\/parameters\/scale\/1: /),
    ]);
    expect(await runtime.table.read({ kind: 'calibration', id: 'latest' })).toBeUndefined();
  });

  it.each([
    ['{"document": {}, "document": {}}', 'repeats the member /document'],
    ['{"document": {"a": 1, "a": 2}}', 'repeats the member /document/a'],
    ['{', 'is not JSON'],
    ['{"x": 1e999}', 'RFC 7493'],
  ])('says what is wrong with the text %s', async (content, message) => {
    const runtime = runtimeWith({ 'p.json': content });
    expect(await release(runtime, 'p.json', { dryRun: true })).toEqual(err(expect.stringContaining(message)));
  });
});

describe('release policy FILE --calibration', () => {
  /** Its calibration has one item that may be offered, which measures the components A and B. */
  const impossible = samplePolicyFile({
    coverageFloors: [
      { caseCompetencyGuid: KC_A, minimumEvidenceItems: 2 },
      { caseCompetencyGuid: KC_C, minimumEvidenceItems: 1 },
    ],
  });
  const files = { 'p.json': samplePolicyFile(), 'bad.json': impossible, 'c.json': sampleCalibrationFile() };

  it('refuses, with every finding, what no learner could be given; nothing is written [MA-112, MA-113]', async () => {
    const runtime = runtimeWith(files);
    const refused = await release(runtime, 'bad.json', { calibration: 'c.json' });
    expect(linesOf(refused)).toEqual([
      'bad.json cannot be released with calibration c.json, 2 defects:',
      expect.stringMatching(
        /^ {2}\/document\/coverageFloors\/0\/minimumEvidenceItems: cannot be met: 1 item /,
      ),
      expect.stringMatching(
        /^ {2}\/document\/coverageFloors\/1\/minimumEvidenceItems: cannot be met: no item /,
      ),
    ]);
    expect(runtime.lines).toEqual([]);
    expect(await runtime.table.read(POLICY)).toBeUndefined();
    // The same file is released without the calibration: by itself it contradicts nothing.
    expect(await release(runtime, 'bad.json', { dryRun: true })).toEqual(ok(undefined));
  });

  it('releases what can be met, and says what it could not check', async () => {
    const runtime = runtimeWith(files);
    expect(await release(runtime, 'p.json', { calibration: 'c.json' })).toEqual(ok(undefined));
    expect(runtime.lines).toEqual([
      expect.stringMatching(
        new RegExp(`^not checked: /document/eligibilityRules/contentConstraints/${STANDARD_1}/minItems: `),
      ),
      'calibration c.json can meet every checked requirement of the policy',
      expect.stringMatching(/^policy fractions-policy-7 \(system\) released, /),
    ]);
  });

  it('finds a released calibration by its id, a tenant’s own before a system one, and no other tenant’s', async () => {
    const runtime = runtimeWith({
      ...files,
      'own.json': samplePolicyFile({ visibility: 'tenant' }, { tenantId: 'tenant-1' }),
    });
    const against = (path: string) =>
      release(runtime, path, { dryRun: true, calibration: 'fractions-2026.1' });
    const unknown = err(
      'calibration fractions-2026.1 was never released here (a file name must end in .json)',
    );
    const tenantCalibration = (tenantId: string, parameters: object = {}): object =>
      sampleCalibrationFile({ visibility: 'tenant' }, { tenantId, ...parameters });

    await releaseRecord(runtime.table, 'calibration', tenantCalibration('tenant-2'));
    expect([await against('p.json'), await against('own.json')]).toEqual([unknown, unknown]);

    await releaseRecord(runtime.table, 'calibration', sampleCalibrationFile());
    expect([await against('p.json'), await against('own.json')]).toEqual([ok(undefined), ok(undefined)]);
    expect(await against('bad.json')).toMatchObject({ ok: false });

    // The tenant's own calibration has no item left that may be offered.
    const parameters = sampleParameters();
    parameters['items'] = (parameters['items'] as Record<string, unknown>[]).filter(
      (item) => item['qtiIdentifier'] !== 'item-2',
    );
    await releaseRecord(runtime.table, 'calibration', tenantCalibration('tenant-1', { parameters }));
    expect(await against('p.json')).toEqual(ok(undefined));
    expect(await against('own.json')).toEqual(
      err(expect.stringContaining(`no item on ${KC_A} may be offered`)),
    );
    expect(await runtime.table.read(POLICY)).toBeUndefined();
  });

  it('says when a calibration cannot be used', async () => {
    const runtime = runtimeWith({ ...files, 'broken.json': sampleCalibrationFile({ id: 'latest' }) });
    const of = (path: string, calibration: string) => release(runtime, path, { dryRun: true, calibration });
    expect(await of('p.json', 'broken.json')).toEqual(
      err(expect.stringMatching(/^broken\.json cannot be released, one defect:\n {2}\/document\/id: /)),
    );
    expect(await of('p.json', 'absent.json')).toEqual(
      err(expect.stringContaining('cannot read absent.json')),
    );
    await releaseRecord(runtime.table, 'calibration', sampleCalibrationFile());
    runtime.table.corrupt({ kind: 'calibration', id: 'fractions-2026.1' }, { parameters: '{}' });
    expect(await of('p.json', 'fractions-2026.1')).toEqual(err(expect.stringContaining('it is damaged')));
  });
});

describe('release deprecate', () => {
  const options = { ...anywhere, at: '2026-09-01T00:00:00Z', sunset: undefined, tenant: undefined };

  it('sets deprecation and sunset of a released record [MA-049, MA-050]', async () => {
    const runtime = runtimeWith({});
    await releaseRecord(runtime.table, 'policy', samplePolicyFile());
    const sunset = '2026-12-01T00:00:00Z';
    expect(await deprecate(runtime, 'policy', POLICY.id, { ...options, sunset })).toEqual(ok(undefined));
    expect((await runtime.table.read(POLICY))?.lifecycle).toEqual({
      deprecatedAt: options.at,
      sunsetAt: sunset,
    });
  });

  it('refuses a sunset before it, a time that is none and a record that is not there [MA-050]', async () => {
    const runtime = runtimeWith({});
    await releaseRecord(runtime.table, 'policy', samplePolicyFile());
    for (const [change, message, kind] of [
      [{ sunset: '2026-08-31T00:00:00Z' }, /^--sunset must not be earlier/, UsageError],
      [{ at: 'tomorrow' }, /^--at /, UsageError],
      [
        { tenant: 'tenant-1' },
        /^policy fractions-policy-7 \(tenant tenant-1\) was never released here/,
        String,
      ],
    ] as const) {
      const refused = await deprecate(runtime, 'policy', POLICY.id, { ...options, ...change });
      const error = refused.ok ? undefined : refused.error;
      expect(error).toEqual(expect.any(kind));
      expect(error instanceof UsageError ? error.message : error).toMatch(message);
    }
    expect((await runtime.table.read(POLICY))?.lifecycle).toEqual({});
  });
});

describe('release block', () => {
  const options = { ...anywhere, why: 'the key of item 7 was wrong' };
  const now = new Date('2026-09-01T00:00:00.000Z');
  const lifecycleOf = async ({ table }: TestRuntime) => (await table.read(POLICY))?.lifecycle;

  it('blocks a released record by its id, with the time and the reason, and lifts the block', async () => {
    const runtime = runtimeWith({});
    await releaseRecord(runtime.table, 'policy', samplePolicyFile());
    expect(await block(runtime, POLICY.id, options, now)).toEqual(ok(undefined));
    const blocked = { blockedAt: now.toISOString(), blockedBecause: options.why };
    expect(await lifecycleOf(runtime)).toEqual(blocked);
    expect(await block(runtime, POLICY.id, anywhere, now)).toEqual(ok(undefined));
    expect(await lifecycleOf(runtime)).toEqual({});
  });

  it('refuses an id that was never released, and one of a policy and a calibration without the kind', async () => {
    const runtime = runtimeWith({});
    await releaseRecord(runtime.table, 'policy', samplePolicyFile());
    await releaseRecord(runtime.table, 'calibration', sampleCalibrationFile({ id: POLICY.id }));
    expect(await block(runtime, 'other', options, now)).toEqual(
      err(
        'policy other (system) and calibration other (system) were never released here; a tenant’s own record needs --tenant',
      ),
    );
    expect(await block(runtime, POLICY.id, options, now)).toMatchObject(
      err({ message: expect.stringMatching(/--kind$/) as string }),
    );
    expect(await lifecycleOf(runtime)).toEqual({});
    expect(await block(runtime, POLICY.id, { ...options, kind: 'policy' }, now)).toEqual(ok(undefined));
    expect(await lifecycleOf(runtime)).toHaveProperty('blockedAt');
  });
});

describe('docs/records.md', () => {
  const page = (): Promise<string> => readFile(new URL('../docs/records.md', import.meta.url), 'utf8');

  it('shows files that can be released as they stand', async () => {
    const examples = [...(await page()).matchAll(/```json\n(.*?)```/gs)].map((match) => match[1]);
    const kinds = ['policy', 'calibration', 'analysis-policy'] as const;
    expect(examples).toHaveLength(kinds.length);
    const runtime: TestRuntime = {
      ...runtimeWith(Object.fromEntries(kinds.map((kind, index) => [kind, examples[index]]))),
      openTable: () => Promise.reject(new Error('a dry run needs no table')),
    };
    for (const kind of kinds)
      expect(await release(runtime, kind, { dryRun: true }, kind)).toEqual(ok(undefined));
    expect(runtime.warnings).toEqual([]);
  });

  it('explains every field of the documents, every rule and every parameter [MA-113]', async () => {
    const rows = (await page()).split('\n').filter((line) => line.startsWith('|'));
    const explained = rows.flatMap((row) => row.split('|')[1]?.match(/[A-Za-z]+/g) ?? []);
    expect(explained).toEqual(
      expect.arrayContaining([
        ...Object.keys(selectionPolicy.shape),
        ...Object.keys(eligibilityRules.shape),
        ...Object.keys(scaleCalibration.shape),
        ...Object.keys(calibrationParameters.shape),
        ...Object.keys(analysisPolicy.shape),
        ...Object.keys(analysisTrigger.shape),
      ]),
    );
  });

  it.each([
    ['records.md', exposureMethods],
    ['engine.md', exposureMethods],
    ['recovery.md', exposureMethods],
    ['seeds.md', exposureMethods.filter((method) => !namesTable(exposureMethod(method).example([]).rule))],
  ])('docs/%s names every method of exposure control', async (name, methods) => {
    const text = await readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8');
    expect(methods.filter((method) => !new RegExp(`[\`"]${method}[\`"]`).test(text))).toEqual([]);
  });

  it('has a row for every measure, action and reason, with what goes with it', async () => {
    const rows = (await page())
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');
    const documented = (first: string, ...others: readonly string[]): void => {
      const cells = [first, ...others];
      expect(rows.map((row) => row.slice(1, cells.length + 1))).toContainEqual(cells);
    };
    for (const [metric, { measures }] of Object.entries(metrics)) {
      for (const { name, unit, least, greatest } of measures) {
        documented(code([metric]), code([name]), unit, rangeOf(least, greatest));
      }
    }
    for (const [action, { targetModule, subjects }] of Object.entries(actions)) {
      documented(code([action]), code([targetModule]), subjects.length === 0 ? 'none' : code(subjects));
    }
    for (const [reason, fits] of Object.entries(reasons)) {
      documented(code([reason]), code(fits.metrics), code(fits.actions));
    }
  });

  function rangeOf(least: number, greatest: number): string {
    if (least === -Infinity) return 'any number';
    return greatest > 100 ? `from ${least}` : `${least} to ${greatest}`;
  }
});
