import { describe, expect, it } from 'vitest';
import { anExampleOf, equivalenceFacts } from '#test/support/report-facts.ts';
import { scriptedOwners, sentenceOf } from '#test/support/scripted-owners.ts';
import type { Script, Scripted } from '#test/support/scripted-owners.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';
import { readEquivalenceFacts } from './read-facts.ts';

// What each owner's fact makes of the route: test/lemmas/contradictions; in how many waves it reads: test/contract/reports/budget.

const facts = anExampleOf(equivalenceFacts);
const form = facts.form.value;
const script = {
  readForm: { value: form },
  readFormEquivalence: { value: facts.equivalence.value },
  readReportCriteria: { value: facts.criteria.value },
  readFormEvidence: { value: facts.formEvidence.value },
} satisfies Script;
type Name = keyof typeof script;

const changed = (name: Name, changes: object): Scripted => ({ value: { ...script[name].value, ...changes } });

async function read(changes: Script) {
  const owners = scriptedOwners({ ...script, ...changes });
  const result = await readEquivalenceFacts(
    createSourceReader(owners, () => 1),
    form.qtiTestId,
  );
  return { owners, said: sentenceOf(result) };
}

describe('owners that speak of different things', () => {
  const newer = { contentTestSpecVersion: 'newer' };
  const aheadOfForm = { readFormEquivalence: changed('readFormEquivalence', newer) };

  it.each<[string, Script]>([
    [
      'Analytics, of a newer version',
      {
        ...aheadOfForm,
        readForm: [script.readForm, changed('readForm', newer)],
        readReportCriteria: [script.readReportCriteria, changed('readReportCriteria', { version: 'newer' })],
        readFormEvidence: [
          script.readFormEvidence,
          changed('readFormEvidence', { testSpecVersion: 'newer' }),
        ],
      },
    ],
    ...(
      [
        ['Analytics, of other forms', 'readFormEquivalence', { comparisonQtiTestIds: ['other'] }],
        ['the blueprint, of another version', 'readFormEvidence', { testSpecVersion: 'other' }],
        ['Content, of another version', 'readReportCriteria', { version: 'other' }],
      ] as const
    ).map(([what, name, other]): [string, Script] => [
      what,
      { [name]: [changed(name, other), script[name]] },
    ]),
  ])('are read once more, side by side: %s [RP-028]', async (_, changes) => {
    const { owners, said } = await read(changes);
    expect(said).toBe('facts');
    const names = Object.keys(script);
    expect(owners.names()).toEqual([...names, ...names].toSorted());
  });

  it.each([
    ['readFormEquivalence', { contentTestSpecVersion: 'other' }, 'analytics'],
    ['readReportCriteria', { version: 'other' }, 'content'],
    ['readFormEvidence', { testSpecVersion: 'other' }, 'blueprint'],
  ] as const)('after all, in %s: 503 names who is apart', async (name, other, owner) => {
    expect((await read({ [name]: changed(name, other) })).said).toBe(`503 dependency-incomplete ${owner}`);
  });
});
