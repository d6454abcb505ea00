import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import type { Seed } from '#local/seeds/seed.ts';
import { chooseLearner, findBank, startRequest } from './bank.ts';
import type { JourneyBank } from './bank.ts';

let seed: Seed;
let bank: JourneyBank;
beforeAll(async () => {
  const loaded = await loadSeed(DEFAULT_SEED_DIRECTORY);
  if (!loaded.ok) throw new Error('the default seed does not load');
  seed = loaded.value;
  const found = findBank(seed, 'tenant-aurora', 'fraction-subtraction');
  if (!found.ok) throw new Error(found.error);
  bank = found.value;
});

describe('findBank', () => {
  it('takes the first bank when none is named, and names the known ones otherwise', () => {
    expect(findBank(seed, 'tenant-aurora', undefined)).toMatchObject({
      ok: true,
      value: { fixture: { name: seed.banks[0]?.name } },
    });
    expect(findBank(seed, 'tenant-aurora', 'nope')).toStrictEqual({
      ok: false,
      error: `unknown bank "nope": expected ${seed.banks.map(({ name }) => name).join(' or ')}`,
    });
  });

  it('knows what items and knowledge components are called', () => {
    const [item] = bank.parameters.items;
    const [first] = seed.banks[0]?.bank.items ?? [];
    expect(bank.textOf(item?.artifactVersionId ?? '')).toStrictEqual({
      name: first?.name,
      stem: first?.stem,
    });
    expect(bank.textOf('elsewhere')).toStrictEqual({ name: 'elsewhere', stem: '' });
    expect([...bank.labels.keys()].sort()).toStrictEqual(bank.parameters.kcs.map(({ guid }) => guid).sort());
    expect(bank.reportNames.item(item?.qtiIdentifier ?? '')).toBe(first?.name);
    expect(bank.reportNames.item('elsewhere')).toBeUndefined();
    const [guid = '', label] = [...bank.labels][0] ?? [];
    expect(bank.reportNames.component(guid)).toBe(label);
    expect(bank.reportNames.component('elsewhere')).toBeUndefined();
    expect([...bank.labels.values()]).toStrictEqual(seed.banks[0]?.bank.kcs.map(({ label }) => label));
  });
});

describe('chooseLearner', () => {
  it('draws a learner who can answer every item of the bank', () => {
    const learner = chooseLearner(bank, undefined, 5);
    if (!learner.ok) throw new Error(learner.error);
    const answers = bank.parameters.items.map((item) => learner.value.answer(item.artifactVersionId));
    expect(answers).not.toContain(undefined);
    expect(learner.value.description).toContain('random seed 5');
  });

  it('replays a learner of the seed by number', () => {
    const learner = chooseLearner(bank, 2, 1);
    if (!learner.ok) throw new Error(learner.error);
    const recorded = bank.learners[1];
    for (const { artifactVersionId } of bank.parameters.items) {
      const name = bank.itemNames[artifactVersionId] ?? '';
      expect(learner.value.answer(artifactVersionId)).toBe(recorded?.answers[name] === 1);
    }
    expect(learner.value.description).toContain(recorded?.name);
  });

  it('says how many learners there are, or how to have any', () => {
    expect(chooseLearner(bank, 9999, 1)).toMatchObject({
      error: expect.stringContaining(`learners 1 to ${bank.learners.length}`) as string,
    });
    expect(chooseLearner({ ...bank, learners: [] }, 1, 1)).toMatchObject({
      error: expect.stringContaining('learners.json') as string,
    });
  });
});

describe('startRequest', () => {
  it('names the learner exactly in a learner’s run [MA-057]', () => {
    expect(startRequest(bank, 'production_learner')).toMatchObject({
      runMode: 'production_learner',
      resultsStudentId: bank.resultsStudentId,
      testBankId: bank.fixture.testBankId,
    });
    expect(startRequest(bank, 'owner_conformance')).not.toHaveProperty('resultsStudentId');
  });
});
