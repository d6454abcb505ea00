import { describe, expect, it } from 'vitest';
import { damaged, damages } from '#psychometrics/verdicts/damages.ts';
import { designs } from '#psychometrics/verdicts/designs.ts';
import { simulateStudy } from '#psychometrics/verdicts/simulate.ts';
import type { StudyTables } from '#tools/terminal/study/tables.ts';
import { fit } from '../em.ts';
import { createDesign, startingParameters, type ItemModel } from '../model.ts';
import { studyOf } from '../read-data.ts';
import { checkItems, type ItemFindings } from './items.ts';

function findings(tables: StudyTables, model: ItemModel = 'dina'): ItemFindings {
  const study = studyOf(tables);
  if (!study.ok) throw new Error(study.error.join('\n'));
  const design = createDesign(model, tables.kcs.length, tables.kcsOf, { bound: 0.001, penalty: 'weak' });
  const options = { maximumIterations: 500, tolerance: 1e-4 };
  const { parameters } = fit(design, study.value.responses, startingParameters(design), options);
  return checkItems({ design, parameters, study: study.value });
}
const codes = ({ conditions }: ItemFindings) => conditions.map(({ code }) => code);

const sound = simulateStudy({ ...designs.english, learners: 1000, seed: 3 });
const damagedBy = (name: string) => damaged(sound, damages[name]!, 3);

describe.each(['dina', 'gdina'] as const)('checkItems of a %s fit', (model) => {
  it('finds nothing in a sound study, of however few learners', () => {
    expect(findings(sound, model).conditions).toEqual([]);
    const small = simulateStudy({ ...designs.english, learners: 100, seed: 4 });
    expect(findings(small, model).conditions).toEqual([]);
  });

  it('names an item of coin flips', () => {
    const { tables, subjects } = damagedBy('coin_item');
    const { conditions } = findings(tables, model);
    expect(conditions).toMatchObject([{ code: 'item_tells_nothing', subjects }]);
  });

  it('finds that no row fits', () => {
    const found = findings(damagedBy('shuffled_rows').tables, model);
    expect(codes(found)).toContain('q_matrix_does_not_fit');
    expect(found.better).toBeUndefined();
  });
});

describe('checkItems', () => {
  it('names two wrong rows with what the first item needs, and restores them', () => {
    const { tables, subjects } = damagedBy('two_wrong_rows');
    const { conditions, better } = findings(tables);
    expect(conditions).toMatchObject([{ code: 'q_row_doubtful', subjects }]);
    const first = sound.items.indexOf(subjects[0]!);
    const needs = sound.kcsOf[first]!.map((k) => `"${sound.kcs[k]}"`).join(' and ');
    expect(conditions[0]?.sentence).toContain(`"${subjects[0]}" fits better if it needs ${needs}`);
    expect(better?.design.items.map(({ kcs }) => kcs)).toEqual(sound.kcsOf);
  });

  it('finds no uninformative item in a reversed one, whose answers are informative', () => {
    expect(codes(findings(damagedBy('reversed_item').tables))).not.toContain('item_tells_nothing');
  });

  it('finds nothing in an item that nobody gets right', () => {
    const learners = sound.learners.map(({ name, answers }) => ({ name, answers: answers.with(0, 0) }));
    expect(findings({ ...sound, learners }).conditions).toEqual([]);
  });

  it('does not blame an item of coin flips in a study that is too small to show it', () => {
    const few = simulateStudy({ ...designs.english, learners: 40, seed: 3 });
    expect(codes(findings(damaged(few, damages['coin_item']!, 3).tables))).toEqual([]);
  });
});
