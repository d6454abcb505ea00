import { describe, expect, it } from 'vitest';
import { anExampleOf, equivalenceFacts } from '#test/support/report-facts.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { OperationName, Script, Scripted } from '#test/support/scripted-owners.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';
import { readEquivalenceFacts } from './read-facts.ts';

const facts = anExampleOf(equivalenceFacts);
const form = facts.form.value;
const script = {
  readForm: { value: form },
  readFormEquivalence: { value: facts.equivalence.value },
  readReportCriteria: { value: facts.criteria.value },
  readFormEvidence: { value: facts.formEvidence.value },
} satisfies Script;

const changed = (name: keyof typeof script, changes: object): Scripted => ({
  value: { ...script[name].value, ...changes },
});

async function read(changes: Script = {}) {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader(owners, () => 1);
  const result = await readEquivalenceFacts(reader, form.qtiTestId);
  const said = result.ok
    ? 'facts'
    : [result.error.status, result.error.code, result.error.dependency ?? '-'].join(' ');
  return { owners, result, said };
}

const beside: readonly OperationName[] = ['readFormEquivalence', 'readFormEvidence', 'readReportCriteria'];

describe('a form and the forms beside it', () => {
  it('are read in two waves, with a receipt for each owner [RP-127]', async () => {
    const { owners, result } = await read();
    expect(owners.asked[0]?.name).toBe('readForm');
    expect(owners.names()).toEqual([...beside, 'readForm'].toSorted());
    if (!result.ok) throw new Error(result.error.code);
    const { form: own, equivalence, criteria, formEvidence } = result.value;
    expect([own, equivalence, criteria, formEvidence].map(({ receipt }) => receipt)).toMatchObject([
      { service: 'qti', resourceId: form.qtiTestId, version: form.version },
      { service: 'analytics', resourceId: facts.equivalence.value.equivalenceId },
      { service: 'content', resourceId: facts.criteria.value.testSpecId },
      { service: 'blueprint', resourceId: facts.formEvidence.value.formEvidenceId },
    ]);
  });
});

describe('owners that speak of different things', () => {
  const newer = { contentTestSpecVersion: 'newer' };
  const cases: readonly (readonly [string, Script, Script])[] = [
    [
      'Analytics, of a newer version',
      { readFormEquivalence: changed('readFormEquivalence', newer) },
      {
        readForm: changed('readForm', newer),
        readFormEquivalence: changed('readFormEquivalence', newer),
        readReportCriteria: changed('readReportCriteria', { version: 'newer' }),
        readFormEvidence: changed('readFormEvidence', { testSpecVersion: 'newer' }),
      },
    ],
    [
      'Analytics, of other forms',
      { readFormEquivalence: changed('readFormEquivalence', { comparisonQtiTestIds: ['other'] }) },
      { readFormEquivalence: changed('readFormEquivalence', {}) },
    ],
    [
      'the blueprint, of another version',
      { readFormEvidence: changed('readFormEvidence', { testSpecVersion: 'other' }) },
      { readFormEvidence: changed('readFormEvidence', {}) },
    ],
    [
      'Content, of another version',
      { readReportCriteria: changed('readReportCriteria', { version: 'other' }) },
      { readReportCriteria: changed('readReportCriteria', {}) },
    ],
  ];

  it.each(cases)('are read once more, side by side: %s [RP-028]', async (_, first, then) => {
    const turns = Object.fromEntries(
      Object.keys(script).map((name) => {
        const at = name as keyof typeof script;
        return [name, [first[at] ?? script[at], then[at] ?? script[at]].flat()];
      }),
    );
    const { owners, said } = await read(turns);
    expect(said).toBe('facts');
    expect(owners.names()).toEqual([...beside, ...beside, 'readForm', 'readForm'].toSorted());
  });

  it('are facts when one says that it is behind: what is stale is for the composition to refuse [RP-248]', async () => {
    const { said } = await read({
      readFormEvidence: changed('readFormEvidence', { testSpecVersion: 'older', freshness: 'stale' }),
    });
    expect(said).toBe('facts');
  });

  it('are asked the second time for the version that Analytics speaks of', async () => {
    const { owners } = await read({ readFormEquivalence: changed('readFormEquivalence', newer) });
    const versions = owners.asked.flatMap(({ name, call }) =>
      name === 'readReportCriteria' || name === 'readFormEvidence' ? [call.query?.['version']] : [],
    );
    expect(versions).toEqual([form.contentTestSpecVersion, form.contentTestSpecVersion, 'newer', 'newer']);
  });

  it('never decide by another spec than the form’s own whether the form is visible [RP-316]', async () => {
    const { owners, said } = await read({
      readFormEquivalence: changed('readFormEquivalence', { contentTestSpecId: 'elsewhere', ...newer }),
    });
    expect(said).toBe('503 dependency-incomplete analytics');
    const asked = owners.asked.filter(({ name }) => name === 'readReportCriteria');
    expect(asked.map(({ call }) => [call.path?.['testSpecId'], call.query?.['version']])).toEqual([
      [form.contentTestSpecId, form.contentTestSpecVersion],
      [form.contentTestSpecId, form.contentTestSpecVersion],
    ]);
  });
});
