import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { actions, metrics } from '#shared/contract/reports/analysis-policy.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { ok } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import { checkAnalysisPolicy } from '#shared/records/check-analysis-policy.ts';
import { calibrationRecord, policyRecord } from '#shared/records/records.ts';
import { sampleTrigger } from '#test/support/sample-files.ts';
import { generateBank } from './generator.ts';
import { instantiateSeed } from './instantiate.ts';
import type { SeededTenant } from './instantiate.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from './load.ts';
import { generatorFile, renderDefects } from './seed.ts';
import type { GeneratorFile, Seed, SeedDefect } from './seed.ts';
import { localTenant, localTenantIds } from './tenants.ts';

/** What the generator calls the competencies of a framework. */
const GENERATED_CODE = /^S\d+(\.K\d+)?$|^(Standard|Knowledge component|Generated assessment) \d/;

let seed: Seed;
let aurora: SeededTenant;
let borealis: SeededTenant;

beforeAll(async () => {
  const loaded = await loadSeed(DEFAULT_SEED_DIRECTORY);
  if (!loaded.ok) throw new Error(renderDefects(loaded.error));
  seed = loaded.value;
  aurora = instantiateSeed(seed, localTenantIds[0]);
  borealis = instantiateSeed(seed, localTenantIds[1]);
});

/** A value in which what is made on demand has been made. */
function made(value: unknown): unknown {
  if (typeof value === 'function') return made((value as () => unknown)());
  // Of half a million requirements some are enough: their list has a digest of each crosswalk.
  if (value instanceof Map)
    return Object.fromEntries(
      [...value].map(([id, entity], at) => [id, isAlignment(id) && at > 1 ? null : made(entity)]),
    );
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, made(member)]));
}

function isAlignment(id: unknown): boolean {
  return String(id).startsWith('alignment-');
}

/** Every text in a value, member names included. */
function texts(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === 'string') found.add(value);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      found.add(key);
      texts(member, found);
    }
  }
  return found;
}

describe('the default seed', () => {
  it('has a small and a large bank, and a policy for every way to stop', () => {
    expect(aurora.fixtures.mastery.banks.map(({ name, items, kcs }) => ({ name, items, kcs }))).toEqual([
      { name: 'fraction-subtraction', items: 20, kcs: 8 },
      { name: 'fraction-subtraction-short', items: 20, kcs: 8 },
      { name: 'fraction-subtraction-timed', items: 20, kcs: 8 },
      { name: 'generated', items: 400, kcs: 24 },
    ]);
    const policies = new Map(seed.banks.map((bank) => [bank.name, bank.policy]));
    expect(policies.get('fraction-subtraction')).toMatchObject({ kcCutScore: 0.5, confidenceThreshold: 0.8 });
    expect(policies.get('fraction-subtraction-short')).toMatchObject({ maxItems: 5 });
    expect(policies.get('fraction-subtraction-timed')).toMatchObject({ timeBudgetSeconds: 2 });
  });

  it('gives the platform entities that the owners’ schemas take', () => {
    const { platform } = aurora;
    for (const entity of platform.blueprints) operations.readTestSpec.answer.parse(entity);
    for (const entity of platform.bankMembers) operations.validateAdaptiveBankIdentity.answer.parse(entity);
    for (const entity of platform.manifests) operations.readAdaptivePoolManifest.answer.parse(entity);
    for (const entity of platform.artifacts) operations.readAdaptivePoolRoot.answer.parse(entity);
    for (const entity of platform.caseItems) operations.resolveMapping.answer.parse(entity);
    operations.verifyAnchor.answer.parse(platform.anchorTable);
  });

  it('names members, items and components so that manifest, calibration and CASE agree', () => {
    const items = new Map(aurora.platform.caseItems.map((item) => [item.identifier, item]));
    for (const [at, manifest] of aurora.platform.manifests.entries()) {
      const { parameters, document } = aurora.calibrations[at]!;
      const calibrated = new Map(parameters.items.map((item) => [item.artifactVersionId, item]));
      expect(manifest.members).toHaveLength(calibrated.size);
      for (const member of manifest.members!) {
        const item = calibrated.get(member.artifactVersionId)!;
        expect(item.qtiIdentifier).toBe(member.qtiIdentifier);
        expect(item.kcs).toEqual(member.kcGuids);
        expect(member.caseGuids.length).toBeGreaterThan(0);
        for (const guid of [...member.caseGuids, ...member.kcGuids]) expect(items.has(guid)).toBe(true);
      }
      for (const kc of parameters.kcs) expect(items.get(kc.guid)!.uri).toBe(kc.uri);
      const point = aurora.platform.anchorTable.sourcePoints[at]!;
      expect(document.anchor).toMatchObject({
        source: point.source,
        version: aurora.platform.anchorTable.tableVersion,
      });
      expect(point.sourceRef).not.toBeNull();
    }
  });

  it('gives records whose digests are those of their content', () => {
    for (const record of aurora.policies) {
      policyRecord.parse(record);
      const { checksum, ...document } = record.document;
      expect(checksum).toBe(hashCanonical(document));
    }
    for (const record of aurora.calibrations) {
      calibrationRecord.parse(record);
      const { checksum, ...document } = record.document;
      expect(checksum).toBe(hashCanonical(document));
      expect(record.parametersHash).toBe(hashCanonical(record.parameters));
    }
  });

  it('has an analysis policy with a trigger for every metric and every action, which can be released', () => {
    const { triggers } = aurora.analysisPolicy.document;
    expect(new Set(triggers.map(({ metric }) => metric))).toEqual(new Set(Object.keys(metrics)));
    expect(new Set(triggers.map(({ requestedAction }) => requestedAction))).toEqual(
      new Set(Object.keys(actions)),
    );
    expect(checkAnalysisPolicy(aurora.analysisPolicy)).toEqual(ok(aurora.analysisPolicy));
    expect(aurora.fixtures.reports.analysisPolicyId).toBe(aurora.analysisPolicy.document.id);
  });

  it('turns guess and slip into a table over the patterns, and the scale into a rising one', () => {
    const { parameters } = aurora.calibrations[0]!;
    // Item06: one component, guess 0.016075, slip 0.043161. Item02: two components.
    expect(parameters.items[5]!.probabilities).toEqual([0.016075, 0.956839]);
    expect(parameters.items[1]!.probabilities).toEqual([0.026713, 0.026713, 0.026713, 0.963935]);
    expect(parameters.scale).toHaveLength(61);
    expect([parameters.scale[0], parameters.scale[30], parameters.scale[60]]).toEqual([-100, 500, 1100]);
  });

  it('exercises every rule of eligibility somewhere', () => {
    const rules = new Set(aurora.policies.flatMap(({ document }) => Object.keys(document.eligibilityRules)));
    expect([...rules].sort()).toEqual([
      'contentConstraints',
      'enemySets',
      'excludedItems',
      'exposure',
      'poolMembership',
      'priorUse',
      'requiredAccessibility',
      'selectionTarget',
    ]);
    expect(aurora.policies.some(({ document }) => document.coverageFloors.length > 0)).toBe(true);
  });

  it('names policies that control exposure and avoid what a learner met before; earlier ones stay released', () => {
    const named = aurora.fixtures.mastery.banks.map(({ selectionPolicyId }) => selectionPolicyId);
    const released = aurora.policies.map(({ document }) => document);
    for (const { id, eligibilityRules } of released.filter((policy) => named.includes(policy.id))) {
      expect(eligibilityRules.exposure, id).toBeDefined();
      expect(eligibilityRules.priorUse, id).toBe('avoid');
    }
    expect(released.map(({ id }) => id)).toEqual([
      ...named,
      'policy-fraction-subtraction-497ba4a35937',
      'policy-fraction-subtraction-10bc52365222',
      'policy-fraction-subtraction-short-590994fbfaaf',
      'policy-fraction-subtraction-timed-0dc0532717f3',
      'policy-fraction-subtraction-timed-f1f6738a6e4b',
      'policy-generated-389c9faae8fd',
      'policy-generated-e11fef040fd1',
    ]);
  });

  it('holds learners who answer every item of their bank', () => {
    for (const bank of seed.banks) {
      expect(bank.learners.length).toBeGreaterThan(0);
      for (const learner of bank.learners) {
        expect(Object.keys(learner.answers)).toHaveLength(bank.bank.items.length);
      }
    }
    const names = new Set(seed.banks.flatMap((bank) => bank.bank.items.map((item) => item.name)));
    for (const member of aurora.platform.manifests.flatMap((manifest) => manifest.members!)) {
      expect(names.has(aurora.itemNames[member.artifactVersionId]!)).toBe(true);
    }
  });
});

describe('two tenants', () => {
  it('share no id', () => {
    // Words of the seed itself, constants of the standards and plain values are the same everywhere; ids are not.
    const neutral = texts(seed);
    for (const word of ['ho-cdm-grid/1', 'ho-cdm-grid-1', 'alignment-v1', 'sha256', CALIPER_CONTEXT])
      neutral.add(word);
    const isPlain = (text: string): boolean =>
      /^\d*$/.test(text) || parseInstant(text) !== undefined || GENERATED_CODE.test(text);
    const own = [...texts(made(aurora))].filter(
      (text) => /\d/.test(text) && !isPlain(text) && !neutral.has(text),
    );
    const other = texts(made(borealis));
    expect(own.length).toBeGreaterThan(10_000);
    expect(own.filter((text) => other.has(text))).toEqual([]);
    expect(localTenant('tenant-aurora').sub).not.toBe(localTenant('tenant-borealis').sub);
  });

  it('have the same ids at the next start', () => {
    expect(made(instantiateSeed(seed, 'tenant-aurora'))).toEqual(made(aurora));
  });

  it('get a new version id when the content changes', () => {
    const [first, ...rest] = seed.banks;
    const changed = { ...seed, banks: [{ ...first!, policy: { ...first!.policy, maxItems: 3 } }, ...rest] };
    const seeded = instantiateSeed(changed, 'tenant-aurora');
    expect(seeded.policies[0]!.document.id).not.toBe(aurora.policies[0]!.document.id);
    expect(seeded.policies[1]!.document.id).toBe(aurora.policies[1]!.document.id);
    expect(seeded.analysisPolicy).toEqual(aurora.analysisPolicy);
    const { triggers } = seed.analysisPolicy;
    const other = { ...seed, analysisPolicy: { ...seed.analysisPolicy, triggers: triggers.slice(1) } };
    expect(instantiateSeed(other, 'tenant-aurora').analysisPolicy.document.id).not.toBe(
      aurora.analysisPolicy.document.id,
    );
  });
});

describe('the generator', () => {
  const settings: GeneratorFile = {
    generator: 'standards-by-components/1',
    seed: 's',
    title: 'T',
    subject: 'mathematics',
    grades: ['06'],
    standards: 5,
    kcsPerStandard: 3,
    items: 45,
    learners: 2,
  };

  it('gives the same bank for the same settings and another for another seed', () => {
    expect(generateBank(settings)).toEqual(generateBank(settings));
    expect(generateBank({ ...settings, seed: 't' })).not.toEqual(generateBank(settings));
  });

  it('keeps every item inside one standard’s components and leaves no component without items', () => {
    const { bank } = generateBank(settings);
    const used = new Set(bank.items.flatMap((item) => item.kcs));
    expect(used.size).toBe(15);
    for (const item of bank.items) {
      expect(new Set(item.kcs.map((kc) => kc.split('.')[0])).size).toBe(1);
      expect(new Set(item.kcs).size).toBe(item.kcs.length);
      expect(item.kcs.length).toBeLessThanOrEqual(3);
    }
    expect(new Set(bank.items.map((item) => item.kcs.length))).toEqual(new Set([1, 2, 3]));
  });
});

describe('a seed directory with a defect', () => {
  let directory: string | undefined;
  afterEach(async () => {
    if (directory !== undefined) await rm(directory, { recursive: true });
    directory = undefined;
  });

  const good: Readonly<Record<string, unknown>> = {
    'seed.json': { name: 's', title: 'S', banks: [{ name: 'b' }] },
    'b/bank.json': {
      title: 'B',
      subject: 'mathematics',
      grades: ['05'],
      framework: 'F',
      standards: [{ name: 'S1', statement: 'one' }],
      kcs: [
        { name: 'A', label: 'a' },
        { name: 'B', label: 'b' },
      ],
      items: [
        { name: 'I1', stem: '1', kcs: ['A'], standards: ['S1'] },
        { name: 'I2', stem: '2', kcs: ['A', 'B'], standards: ['S1'] },
      ],
    },
    'b/calibration.json': {
      theta: { nodes: 3, min: -1, max: 1, mean: 0, sd: 1 },
      kcs: [
        { kc: 'A', slope: 1, location: 0 },
        { kc: 'B', slope: 1, location: 0 },
      ],
      items: [
        { item: 'I1', guess: 0.1, slip: 0.1 },
        { item: 'I2', probabilities: [0.1, 0.2, 0.3, 0.9] },
      ],
      scale: { name: 's', values: [1, 2, 3] },
      anchor: { source: 'a', version: '1', licenseScope: 'local' },
      mappingVersion: 'm',
      numericPrecision: 12,
      validFrom: '2026-01-01T00:00:00.000Z',
      validUntil: '2027-01-01T00:00:00.000Z',
      recoveryTolerance: 1,
      limitations: ['local'],
    },
    'b/policy.json': {
      kcCutScore: 0.5,
      confidenceThreshold: 0.8,
      precisionTarget: 0.1,
      maxItems: 2,
      timeBudgetSeconds: null,
    },
    'b/learners.json': { learners: [{ name: 'l', answers: { I1: 1 } }] },
  };

  /** The good seed with members replaced; `file#/pointer` names the place. */
  async function load(changes: Readonly<Record<string, unknown>>): Promise<readonly SeedDefect[]> {
    directory = await mkdtemp(join(tmpdir(), 'seed-'));
    const files = structuredClone(good) as Record<string, unknown>;
    for (const [place, value] of Object.entries(changes)) {
      const [file = '', pointer = ''] = place.split('#/');
      if (pointer === '') {
        files[file] = value;
        continue;
      }
      const steps = pointer.split('/');
      const last = steps.pop()!;
      let at = files[file] as Record<string, unknown>;
      for (const step of steps) at = at[step] as Record<string, unknown>;
      at[last] = value;
    }
    for (const [file, value] of Object.entries(files)) {
      if (value === undefined) continue;
      await mkdir(dirname(join(directory, file)), { recursive: true });
      await writeFile(join(directory, file), typeof value === 'string' ? value : JSON.stringify(value));
    }
    const loaded = await loadSeed(directory);
    return loaded.ok ? [] : loaded.error;
  }

  it('loads without one, with or without learners', async () => {
    expect(await load({})).toEqual([]);
    expect(await load({ 'b/learners.json': undefined })).toEqual([]);
  });

  it('is not a file, and is there', async () => {
    const file = join(import.meta.dirname, 'load.ts');
    for (const [given, message] of [
      [file, `not found: ${file} is a file, not a directory`],
      [join(file, 'below'), `not found: there is no directory ${join(file, 'below')}`],
    ] as const) {
      expect(await loadSeed(given)).toEqual({
        ok: false,
        error: [{ file: 'seed.json', pointer: '', message }],
      });
    }
  });

  it.each<[string, Readonly<Record<string, unknown>>, string, string, RegExp]>([
    ['no seed.json', { 'seed.json': undefined }, 'seed.json', '', /not found/],
    [
      'a study that was not turned into a seed',
      { 'seed.json': undefined, 'responses.csv': ',I1\n1,1\n' },
      'seed.json',
      '',
      /contains a study: .* npm run seed -- from-responses \S+ --out SEED/,
    ],
    [
      'a mark that is no hash',
      { 'seed.json#/fromResponses': { a: 'x' } },
      'seed.json',
      '/fromResponses/a',
      /SHA-256/,
    ],
    ['a missing file', { 'b/bank.json': undefined }, 'b/bank.json', '', /not found/],
    ['broken JSON', { 'b/policy.json': '{' }, 'b/policy.json', '', /JSON/],
    ['a repeated member', { 'b/policy.json': '{"a":1,"a":2}' }, 'b/policy.json', '', /duplicate-key/],
    [
      'a folder outside',
      { 'seed.json#/banks/0/directory': '../b' },
      'seed.json',
      '/banks/0/directory',
      /a-z/,
    ],
    [
      'a bank named twice',
      { 'seed.json#/banks/1': { name: 'b' } },
      'seed.json',
      '/banks/1/name',
      /duplicate bank "b"/,
    ],
    ['an unknown member', { 'b/bank.json#/colour': 1 }, 'b/bank.json', '/colour', /not a member/],
    [
      'an item twice',
      { 'b/bank.json#/items/1/name': 'I1' },
      'b/bank.json',
      '/items/1/name',
      /duplicate item "I1"/,
    ],
    ['an unknown component', { 'b/bank.json#/items/1/kcs/1': 'Z' }, 'b/bank.json', '/items/1/kcs/1', /"Z"/],
    [
      'an unknown standard',
      { 'b/bank.json#/items/0/standards/0': 'Z' },
      'b/bank.json',
      '/items/0/standards/0',
      /"Z"/,
    ],
    [
      'an uncalibrated component',
      { 'b/calibration.json#/kcs': [{ kc: 'A', slope: 1, location: 0 }] },
      'b/calibration.json',
      '/kcs',
      /"B"/,
    ],
    [
      'an uncalibrated item',
      { 'b/calibration.json#/items': [{ item: 'I1', guess: 0.1, slip: 0.1 }] },
      'b/calibration.json',
      '/items',
      /"I2"/,
    ],
    [
      'a half item',
      { 'b/calibration.json#/items/0': { item: 'I1', guess: 0.1 } },
      'b/calibration.json',
      '/items/0',
      /"slip"/,
    ],
    [
      'a short table',
      { 'b/calibration.json#/items/1/probabilities': [0.1, 0.9] },
      'b/calibration.json',
      '/items/1/probabilities',
      /need 4/,
    ],
    [
      'a falling table',
      { 'b/calibration.json#/items/1/probabilities/3': 0.25 },
      'b/calibration.json',
      '/items/1/probabilities/3',
      /lower/,
    ],
    [
      'a useless item',
      { 'b/calibration.json#/items/0/guess': 0.95 },
      'b/calibration.json',
      '/items/0/guess',
      /1 - slip/,
    ],
    [
      'a flat scale',
      { 'b/calibration.json#/scale/values/2': 2 },
      'b/calibration.json',
      '/scale/values/2',
      /above/,
    ],
    [
      'a short scale',
      { 'b/calibration.json#/scale/values': [1, 2, 3, 4] },
      'b/calibration.json',
      '/scale/values',
      /3 theta/,
    ],
    [
      'a grid upside down',
      { 'b/calibration.json#/theta/min': 2 },
      'b/calibration.json',
      '/theta/min',
      /below/,
    ],
    [
      'an empty validity',
      { 'b/calibration.json#/validUntil': '2026-01-01T00:00:00.000Z' },
      'b/calibration.json',
      '/validUntil',
      /later/,
    ],
    [
      'an unknown floor',
      { 'b/policy.json#/coverageFloors': [{ kc: 'Z', minimumEvidenceItems: 1 }] },
      'b/policy.json',
      '/coverageFloors',
      /"Z"/,
    ],
    [
      'a floor of two kinds',
      { 'b/policy.json#/coverageFloors': [{ kc: 'A', standard: 'S1', minimumEvidenceItems: 1 }] },
      'b/policy.json',
      '/coverageFloors/0',
      /exactly one/,
    ],
    [
      'an unknown enemy',
      { 'b/policy.json#/eligibilityRules': { enemySets: [['I1', 'I9']] } },
      'b/policy.json',
      '/eligibilityRules/enemySets/0/1',
      /"I9"/,
    ],
    [
      'minimum above maximum',
      { 'b/policy.json#/eligibilityRules': { contentConstraints: [{ kc: 'A', minItems: 2, maxItems: 1 }] } },
      'b/policy.json',
      '/eligibilityRules/contentConstraints/0',
      /above/,
    ],
    [
      'a floor out of reach',
      { 'b/policy.json#/coverageFloors': [{ kc: 'A', minimumEvidenceItems: 9 }] },
      'b: the policy of "b"',
      '',
      /cannot be reached/,
    ],
    [
      'an analysis policy of another form',
      { 'analysis-policy.json': { name: 't', version: '1', triggers: [] } },
      'analysis-policy.json',
      '/triggers',
      /Too small/,
    ],
    [
      'a threshold out of reach',
      {
        'analysis-policy.json': {
          name: 't',
          version: '1',
          triggers: [sampleTrigger({ threshold: { operator: 'gt', value: 1 } })],
        },
      },
      'analysis-policy.json',
      '',
      /cannot be released: \/document\/triggers\/0\/threshold\/value cannot be reached/,
    ],
    [
      'an answer to no item',
      { 'b/learners.json#/learners/0/answers': { I9: 1 } },
      'b/learners.json',
      '/learners/0/answers',
      /"I9"/,
    ],
    [
      'an answer that is none',
      { 'b/learners.json#/learners/0/answers': { I1: 2 } },
      'b/learners.json',
      '/learners/0/answers/I1',
      /./,
    ],
    [
      'a generator that is unknown',
      { 'b/generator.json': { generator: 'x' } },
      'b/generator.json',
      '/generator',
      /./,
    ],
  ])('is refused where it stands: %s', async (_, changes, file, pointer, message) => {
    const defects = await load(changes);
    const defect = defects.find((candidate) => candidate.file === file && candidate.pointer === pointer);
    expect(defect, renderDefects(defects)).toBeDefined();
    expect(defect!.message).toMatch(message);
  });

  it('has two banks that ask for different versions of the one anchor table', async () => {
    const calibration = good['b/calibration.json'] as { readonly anchor: object };
    const found = await load({
      'seed.json': { name: 's', title: 'S', banks: [{ name: 'b' }, { name: 'c' }] },
      'c/bank.json': good['b/bank.json'],
      'c/policy.json': good['b/policy.json'],
      'c/calibration.json': { ...calibration, anchor: { ...calibration.anchor, version: '2' } },
    });
    expect(found).toMatchObject([{ file: 'c/calibration.json', pointer: '/anchor/version' }]);
  });

  it('is not the example of docs/seeds.md', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/seeds.md'), 'utf8');
    const example = (file: string): unknown => {
      const section = page.slice(page.indexOf(`\n### ${file}\n`));
      return JSON.parse(/```json\n(.*?)```/s.exec(section)![1]!);
    };
    const folder = (file: string): [string, unknown] => [`my-bank/${file}`, example(file)];
    expect(
      await load({
        'seed.json': example('seed.json'),
        'reports.json': example('reports.json'),
        'analysis-policy.json': example('analysis-policy.json'),
        ...Object.fromEntries(['bank.json', 'calibration.json', 'policy.json', 'learners.json'].map(folder)),
      }),
    ).toEqual([]);
    expect(generatorFile.parse(example('generator.json'))).toEqual(
      JSON.parse(await readFile(join(DEFAULT_SEED_DIRECTORY, 'generated/generator.json'), 'utf8')),
    );
  });

  it('is described with file, pointer and message, the first twenty of them', () => {
    const defect = { file: 'b/bank.json', pointer: '/items/3', message: 'is wrong' };
    expect(renderDefects([defect])).toBe('b/bank.json#/items/3: is wrong');
    expect(
      renderDefects(Array.from({ length: 25 }, () => defect))
        .split('\n')
        .at(-1),
    ).toBe('… and 5 more');
  });
});
