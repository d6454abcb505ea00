import { describe, expect, it } from 'vitest';
import { err } from '#shared/kernel/result.ts';
import { readStudyTables } from '#tools/terminal/study/tables.ts';
import { condition } from './conditions.ts';
import { missingLine, studyOf, type Study } from './read-data.ts';

const qMatrix = ',A,B\nI1,1,0\nI2,0,1\nI3,1,1\n';
const responses = ',I1,I2,I3\na,1,0,1\nb,0,,NA\nc,1,1,1\n';
interface Texts {
  readonly responses?: string;
  readonly qMatrix?: string;
}

function read(texts: Texts) {
  const all = { responses, qMatrix, ...texts };
  const tables = readStudyTables({
    responses: { name: 'r.csv', text: all.responses },
    qMatrix: { name: 'q.csv', text: all.qMatrix },
  });
  if (!tables.ok) throw new Error(tables.error.join('\n'));
  return studyOf(tables.value);
}

function study(texts: Texts = {}): Study {
  const value = read(texts);
  if (!value.ok) throw new Error(value.error.join('\n'));
  return value.value;
}

describe('studyOf', () => {
  it('counts answers, correct ones and missing ones per item', () => {
    expect(study()).toMatchObject({ answered: [3, 2, 2], correct: [2, 1, 2], missing: 2, silent: 0 });
    expect([...study().responses.answers]).toEqual([1, 0, 1, 0, -1, -1, 1, 1, 1]);
  });

  it('puts equal rows together, and leaves out and counts learners who answered nothing', () => {
    const given = study({ responses: `${responses}d,1,1,1\ne,,NA,\n` });
    expect([...given.responses.counts]).toEqual([1, 1, 2]);
    expect(given.responses.learners).toBe(4);
    expect(given.silent).toBe(1);
    expect(given.missing).toBe(2);
    expect(given.conditions).toContainEqual(condition('learners_without_answers', [], { learners: 1 }));
  });

  it('names the items with most missing answers, worst first', () => {
    expect(missingLine(study({ responses: `${responses}d,1,,1\n` }))).toBe(
      '3 of 12 answers missing (25.0 %), most on "I2" 2 (50.0 %), "I3" 1 (25.0 %); the fit uses the others',
    );
    expect(missingLine(study({ responses: ',I1,I2,I3\na,1,0,1\n' }))).toBeUndefined();
  });

  it('refuses an item that no learner answered', () => {
    expect(read({ responses: ',I1,I2,I3\na,1,0,\nb,1,1,NA\n' })).toEqual(
      err(['no learner answered "I3": add --ignore I3']),
    );
  });

  it('refuses answers of which none was given', () => {
    const learners = [{ name: 'a', answers: Int8Array.of(-1, -1) }];
    expect(studyOf({ items: ['I1', 'I2'], kcs: ['A'], kcsOf: [[0], [0]], learners })).toEqual(
      err(['no learner answered any item: there is nothing to fit']),
    );
  });

  it('refuses more than twelve knowledge components', () => {
    const kcs = Array.from({ length: 13 }, (_, k) => `K${k}`);
    const rows = kcs.map((_, j) => `I${j},${kcs.map((_kc, k) => Number(k === j)).join(',')}`);
    const given = read({
      qMatrix: `,${kcs.join(',')}\n${rows.join('\n')}\n`,
      responses: `,${kcs.map((_, j) => `I${j}`).join(',')}\na,${kcs.map(() => 1).join(',')}\n`,
    });
    expect(given.ok ? [] : given.error).toEqual([expect.stringContaining('at most 12')]);
  });
});

describe('conditions of the tables', () => {
  it.each([
    ['too few learners', {}, /gave answers: 3\. With fewer than 30/],
    [
      'few learners',
      { responses: `,I1,I2,I3\n${Array.from({ length: 40 }, (_, n) => `l${n},${n % 2},0,1`).join('\n')}\n` },
      /Only 40 learners/,
    ],
    [
      'a component without variance',
      { responses: ',I1,I2,I3\na,1,0,1\nb,1,1,1\nc,1,1,1\n' },
      /each item that needs "A" are the same/,
    ],
    [
      'an item without variance',
      { responses: ',I1,I2,I3\na,1,0,1\nb,1,1,1\nc,1,1,0\n' },
      /No variance on "I1":/,
    ],
    [
      'a component never measured alone',
      { qMatrix: ',A,B\nI1,1,0\nI2,1,1\nI3,1,1\n' },
      /incomplete: no item measures "B" alone/,
    ],
    ['fewer than three items', {}, /Fewer than 3 items need "A", "B"/],
    [
      'components that the same items need',
      { qMatrix: ',A,B\nI1,1,1\nI2,1,1\nI3,1,1\n' },
      /The same items need "A", "B": /,
    ],
  ])('names %s', (_name, files, warning) => {
    expect(
      study(files)
        .conditions.map(({ sentence }) => sentence)
        .join('\n'),
    ).toMatch(warning);
  });
});
