import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCommands } from '#test/support/commands.ts';
import { readTexts } from './files.ts';
import type { TableOptions } from './options.ts';
import { readStudyTables } from './tables.ts';
import { understoodLines } from './understood.ts';

/*
 * Files as people exported them. They stay outside the project: where they are absent, this is skipped.
 */

const folder = join(import.meta.dirname, '../../../../shared/data/field');
const sound = 'sound-q.csv';

/** A study of two files, options, and a pattern of what is understood (`taken`) or of the refusal. */
interface Study {
  readonly r: string;
  readonly q?: string;
  readonly given?: TableOptions;
  readonly taken?: RegExp;
  readonly refused?: RegExp;
  /** Whether the answers are those of `sound.csv`. */
  readonly same?: false;
}

const STUDIES: readonly Study[] = [
  { r: 'sound.csv', taken: /220: "0" to "219".*\n.*12: "i1" to "i12"/ },
  {
    r: 'F01-r-noids.csv',
    q: 'F01-q-noitems.csv',
    refused: /first column must name the items; .*add --by-position$/,
  },
  { r: 'F01-r-noids.csv', q: 'F01-q-noitems.csv', given: { byPosition: true }, taken: /matched by position/ },
  {
    r: 'F02-data.txt',
    q: 'F02-q.txt',
    refused: /F02-data\.txt: row 1 contains answers .*header row is missing\. Add a first row/,
  },
  {
    r: 'F02-data.txt',
    q: 'F02-q.txt',
    refused: /F02-q\.txt: row 1 contains marks .*header row is missing\. Add a first row/,
  },
  { r: 'F03-items.txt', q: 'F03-q.txt', refused: /separated by blanks.*add a first row with names/ },
  { r: 'F04-train.csv', q: 'F04-q.csv', same: false, taken: /12: "500" to "511".*"31" to "33"/ },
  {
    r: 'F04-train.csv',
    q: 'F04-item.csv',
    same: false,
    taken: /a list of knowledge components per item: "31", "32", "33"/,
  },
  {
    r: 'F04-train.csv',
    q: 'F04-q.csv',
    same: false,
    given: { learner: 'user_id', item: 'item_id', score: 'score' },
    taken: /220: "1217"/,
  },
  { r: 'F05-sci.csv', taken: /"1\.0{18}e\+00" correct/ },
  { r: 'F06-partial.csv', refused: /on 4 of 12 items .*partial credit: .*--correct-from 2$/ },
  { r: 'F06-partial.csv', given: { correctFrom: 1 }, taken: /scores from 1 are correct/ },
  {
    r: 'F08-pandas.csv',
    refused:
      /named "student_id", "total": add --ignore student_id,total, or, .*--learner student_id --ignore total$/,
  },
  { r: 'F08-pandas.csv', given: { ignore: ['student_id', 'total'] }, taken: /unnamed first column/ },
  { r: 'F08-pandas.csv', given: { learner: 'student_id', ignore: ['total'] }, taken: /"st0000" to "st0219"/ },
  { r: 'F09-codes.csv', refused: /add --missing 9,-1,8$/ },
  {
    r: 'F09-codes.csv',
    same: false,
    given: { missing: ['9', '8', '-1'] },
    taken: /missing: "9" \(77\), "8" \(76\), "-1" \(38\)/,
  },
  { r: 'F10-writetable.txt', refused: /separated by blanks; in R, write the file with write\.csv/ },
  { r: 'F10b-writetable-comma.csv', taken: /row names of R’s write\.table/ },
  {
    r: 'F11-gradebook.csv',
    refused: /row 2: "Points Possible" is no learner: .*--ignore-rows "Points Possible", .*--take/,
  },
  { r: 'F11-gradebook.csv', given: { ignoreRows: ['Points Possible'] }, taken: /220: "Last0, First0"/ },
  { r: 'F24-canvas.csv', refused: /row 2: "Points Possible" is no learner/ },
  {
    r: 'F24-canvas.csv',
    given: { ignoreRows: ['Points Possible'], ignore: ['*'] },
    taken: /220: "Last0, First"/,
  },
  { r: 'F12-excel-sep.csv', taken: /220: "Müller 0" to "Müller 219", ids in column "Schüler"/ },
  { r: 'F12b-excel-cp1252.csv', refused: /row 1: the text is not UTF-8: save the file as “CSV UTF-8”/ },
  { r: 'F13-words.csv', refused: /--correct correct$/ },
  { r: 'F13-words.csv', given: { correct: ['correct'] }, taken: /"correct" correct, "incorrect" incorrect/ },
  { r: 'F28-TF.csv', refused: /--correct T,/ },
  { r: 'F28-TF.csv', given: { correct: ['T'] }, taken: /"T" correct, "F" incorrect/ },
  { r: 'F14-attempts.csv', refused: /434 answers are further attempts .*--attempts first, last or best$/ },
  { r: 'F14-attempts.csv', same: false, given: { attempts: 'first' }, taken: /answers left out: 434/ },
  {
    r: 'F14d-attempts-renamed.csv',
    refused: /row 7: duplicate answer of learner "u0" to item "i5" \(first in row 6\)$/,
  },
  { r: 'F14d-attempts-renamed.csv', same: false, given: { attempts: 'best' }, taken: /the best one counts/ },
  { r: 'F16-r.csv', refused: /"I1", "I2", "I3" and 9 more; the items of .* are "i1".*\("I1" for "i1"/ },
  { r: 'F16-r.csv', given: { byPosition: true }, taken: /"I1" has row 2/ },
  { r: 'F16b-r.csv', refused: /\("Item 1" for "i1", .*add --by-position/ },
  { r: 'F16b-r.csv', given: { byPosition: true }, taken: /"Item 12" row 13/ },
  { r: 'F17-dupid.csv', refused: /number the learners with --ignore id$/ },
  { r: 'F17-dupid.csv', refused: /row 9: duplicate learner id "6" \(first in row 8\)$/ },
  { r: 'F17b-excelids.csv', refused: /a spreadsheet rounded the ids: .*--ignore id$/ },
  { r: 'F17b-excelids.csv', given: { ignore: ['id'] }, taken: /numbered/ },
  { r: 'F18-forms.csv', refused: /if the ids are in "Email", add --learner Email --ignore Timestamp/ },
  {
    r: 'F18-forms.csv',
    given: { learner: 'Email', ignore: ['Timestamp'], byPosition: true },
    taken: /"Q1\. Solve 3\/4 - 1\/2" to "i12"/,
  },
  { r: 'F19-booklet.csv', same: false, taken: /booklets {2}3 of 4 items$/m },
  { r: 'F20-disjoint.csv', q: 'F20-q.csv', same: false, taken: /booklets {2}2 of 6 items$/m },
  { r: 'sound.csv', q: 'F21-q-blank.csv', taken: /empty cells of the Q-matrix were read as 0/ },
  { r: 'sound.csv', q: 'F21b-q-x.csv', taken: /"x" in the Q-matrix was read as 1/ },
  { r: 'sound.csv', q: 'F21c-q-poly.csv', refused: /found "2", as in a polytomous Q-matrix/ },
  { r: 'sound.csv', q: 'F22-q-noheader.csv', refused: /the header row is missing/ },
  { r: 'sound.csv', q: 'F23-q20.csv', taken: /20 knowledge components/ },
  { r: 'F25-notreached0.csv', same: false, taken: /booklets {2}1: every learner/ },
  { r: 'F26-average.csv', refused: /row 222: "Average" is no learner/ },
  { r: 'F26-average.csv', given: { ignoreRows: ['Average'] }, taken: /220: "0" to "219"/ },
  { r: 'F29-trailing.csv', taken: /columns without name and values: 1/ },
  { r: 'F32-nulls.csv', refused: /add --missing "\.,#N\/A,-,NULL,None"$/ },
  {
    r: 'F32-nulls.csv',
    same: false,
    given: { missing: ['NULL', '#N/A', 'None', '-', '.'] },
    taken: /empty \(42\), "-" \(35\)/,
  },
  { r: 'F33-names.csv', q: 'F33-q.csv', taken: /12: "3\/4 - 1\/2" to "-1"/ },
];

const absent = !existsSync(folder);

describe.skipIf(absent)('files as people exported them', () => {
  const command = useCommands();

  it('all have a row here', () => {
    const named = new Set(STUDIES.flatMap(({ r, q = sound }) => [r, q]));
    const files = absent ? [] : readdirSync(folder);
    const others = ['README.md', 'F34-meta-uppercase.json'];
    expect(files.filter((file) => !named.has(file) && !others.includes(file))).toEqual([]);
  });

  const read = async ({ r, q = sound, given }: Study) => {
    const texts = await readTexts(join(folder, r), join(folder, q));
    return texts.ok ? readStudyTables(texts.value, given) : { ok: false as const, error: [texts.error] };
  };

  it.each(STUDIES.map((study) => [study.r, study.q ?? sound, study] as const))(
    '%s with %s',
    async (_r, _q, study) => {
      const tables = await read(study);
      if (study.refused !== undefined) {
        const lines = tables.ok ? [] : tables.error;
        expect(lines).toContainEqual(expect.stringMatching(study.refused));
        expect(lines.join('\n')).not.toMatch(/--missing (?:2|T|F|correct)|--ignore i1$/);
        return;
      }
      if (!tables.ok) throw new Error(tables.error.join('\n'));
      expect(understoodLines(tables.value.understood).join('\n')).toMatch(study.taken ?? /^/);
      expect(tables.value.learners).toHaveLength(220);
      if (study.same === false) return;
      const plain = await read({ r: 'sound.csv' });
      const answersOf = (of: typeof plain) =>
        of.ok ? of.value.learners.map(({ answers }) => [...answers]) : [];
      expect(answersOf(tables)).toEqual(answersOf(plain));
    },
  );

  it('F33: names of every form go through all commands', async () => {
    const out = await mkdtemp(join(tmpdir(), 'field-'));
    const run = (program: string, ...args: readonly string[]) => command(program, args, out);
    const files = [join(folder, 'F33-names.csv'), join(folder, 'F33-q.csv')];
    const fitted = await run(
      'psychometrics/calibrate.ts',
      ...files,
      '--model',
      'dina',
      '--out',
      'fit',
      '--with-data',
    );
    expect(fitted).toMatchObject({ code: 0, stderr: '' });
    expect(await run('psychometrics/replay.ts', '--data', 'fit', '--limit', '20')).toMatchObject({ code: 0 });
    expect(await run('local/seed.ts', 'from-responses', 'fit', '--out', 'seed')).toMatchObject({ code: 0 });
    expect(await readFile(join(out, 'fit/responses.csv'), 'utf8')).toMatch(
      /^,3\/4 - 1\/2,Q1\.1,Пример 1,=1\+1,"item,1","a""b",\.\.\/x,Q 2,é,#5,%20,-1\n/,
    );
  });

  it('F34: GUIDs in capitals are shown as they must be', async () => {
    const out = await mkdtemp(join(tmpdir(), 'field-'));
    const meta = join(folder, 'F34-meta-uppercase.json');
    const files = [join(folder, 'sound.csv'), join(folder, sound)];
    const ended = await command(
      'psychometrics/calibrate.ts',
      [...files, '--model', 'dina', '--out', 'fit', '--meta', meta],
      out,
    );
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(
      /uppercase\.json#\/document\/caseFrameworkGuid: .* as "6513270e-269e-4d37-b2a7-4de452e6b438"/,
    );
    expect(ended.stderr).toMatch(
      /uppercase\.json#\/kcs\/A\/guid: .* as "d23f0824-128b-4f33-8c5c-7fd0a6a3a450"/,
    );
  });
});
