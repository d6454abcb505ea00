import { describe, expect, it } from 'vitest';
import type { TableOptions } from './options.ts';
import { inOrder, readStudyTables, writeStudyTables } from './tables.ts';
import { understoodLines } from './understood.ts';

/*
 * The kinds of tables that people export: each is read right, or refused with what to do.
 */

const qMatrix = 'item,A,B\nI1,1,0\nI2,0,1\nI3,1,1\nI4,1,0\n';
const answers = [
  [1, 0, 1, 1],
  [0, 0, 0, 1],
  [1, 1, 1, 0],
  [0, 1, 0, 0],
  [1, 1, 0, 1],
  [0, 0, 1, 0],
];
const names = 'id,I1,I2,I3,I4\n';
type Cell = (answer: number, learner: number, item: number) => string;
const rows = (cell: Cell = String, id = 's'): string =>
  answers.map((row, n) => `${id}${n},${row.map((answer, j) => cell(answer, n, j)).join(',')}\n`).join('');
const wide = (cell?: Cell): string => names + rows(cell);
/** Sixty learners: enough that one cell in a hundred is rare. */
const many = (cell: Cell): string =>
  names +
  Array.from(
    { length: 60 },
    (_, n) => `s${n},${[0, 1, 2, 3].map((j) => cell(Number((n * 7 + j * 3) % 5 > 2), n, j)).join(',')}\n`,
  ).join('');
const long = (header: string, cell: Cell = String): string =>
  `${header}\n${answers.map((row, n) => row.map((answer, j) => `s${n},I${j + 1},${cell(answer, n, j)}\n`).join('')).join('')}`;
const chosen: Cell = (answer, _, j) => (answer === 1 ? 'ABCD' : 'BCDA').charAt(j);
const options: Cell = (_, n, j) => 'ABCD'.charAt((n * 3 + j) % 4);
const key = (text: string): TableOptions => ({ key: { name: 'k.csv', text } });

interface Texts {
  readonly r?: string;
  readonly q?: string;
}

function read({ r = wide(), q = qMatrix }: Texts, given?: TableOptions) {
  return readStudyTables(
    { responses: { name: 'r.csv', text: r }, qMatrix: { name: 'q.csv', text: q } },
    given,
  );
}

const r = (text: string): Texts => ({ r: text });
const q = (text: string): Texts => ({ q: text });

describe('a table of answers is taken', () => {
  const mixed = 'I1,I2,code,I3,I4\n1,0,a,1,1\n0,0,b,0,1\n1,1,c,1,0\n0,1,d,0,0\n1,1,e,0,1\n0,0,f,1,0\n';
  const further = Array.from({ length: 40 }, (_, k) => `v${k}`);
  const survey = answers.map((row, n) => `s${n},${further.join(',')},${row.join(',')}\n`).join('');
  const attempts = long('student,problem,correct').replace('s0,I1,1\n', 's0,I1,1\ns0,I1,0\n');
  it.each<[string, Texts, TableOptions | undefined, RegExp]>([
    ['in its plain form', {}, undefined, /^learners {2}6: "s0" to "s5", ids in column "id"$/m],
    ['with exponents', r(wide((a) => `${a}.000e+00`)), undefined, /"1\.000e\+00" correct/],
    ['with percent signs', r(wide((a) => `${a * 100}%`)), undefined, /"100%" correct, "0%" incorrect/],
    ['with quoted decimal commas', r(wide((a) => `"${a},0"`)), undefined, /"1,0" \(12\), "0,0" \(12\)/],
    ['with Excel’s words in German', r(wide((a) => (a ? 'WAHR' : 'FALSCH'))), undefined, /"WAHR" correct/],
    [
      'with words',
      r(wide((a) => (a ? 'right' : 'wrong'))),
      { correct: ['right'] },
      /"wrong" incorrect; 50\.0 % of the answers correct$/m,
    ],
    ['with check marks', r(wide((a) => (a ? '✓' : '✗'))), { correct: ['✓'] }, /"✓" correct, "✗" incorrect/],
    ['with 1 and 2', r(wide((a) => String(a + 1))), { correct: ['2'] }, /"2" correct, "1" incorrect/],
    [
      'with partial credit',
      r(wide((a, n) => String(a ? 2 : n % 2))),
      { correctFrom: 2 },
      /scores from 2 are/,
    ],
    [
      'with chosen options',
      r(wide(chosen)),
      key('item,key\nI1,A\nI2,b\nI3,C\nI4,D\n'),
      /key in k\.csv; 50\.0 % of the answers correct$/m,
    ],
    [
      'with chosen options and a wide key',
      r(wide(chosen)),
      key('I4,I1,I2,I3\nD,A,B,C\n'),
      /key in k\.csv; 50\.0 % of the answers correct$/m,
    ],
    [
      'with three words',
      r(wide((a, n) => (a ? 'T' : n % 2 ? 'F' : 'half'))),
      { correct: ['T'], incorrect: ['F', 'half'] },
      /"F", "half" incorrect/,
    ],
    [
      'with a row of maximum points',
      r(`${names}Points Possible,1,1,1,1\n${rows()}`),
      { ignoreRows: ['Points Possible'] },
      /rows left out of the answers: "Points Possible"/,
    ],
    [
      'with a row without an id',
      r(`${names},1,1,1,1\n${rows()}`),
      { ignoreRows: ['row 2'] },
      /rows left out .* "row 2"/,
    ],
    ['with a note below', r(`${wide()}Total: 6\n`), { ignoreRows: ['Total: 6'] }, /rows left out/],
    [
      'with names again in the middle',
      r(names + rows().replace('s3', `${names}s3`)),
      { ignoreRows: ['id'] },
      /rows left out/,
    ],
    ['with ids in the middle', r(mixed), { learner: 'code' }, /"a" to "f", ids in column "code"/],
    [
      'with an index before the ids',
      r(
        wide()
          .split('\n')
          .map((row, n) => (row === '' ? '' : `${n === 0 ? '' : n - 1},${row}`))
          .join('\n'),
      ),
      { learner: 'id' },
      /left out: the unnamed first column, which numbers the rows$/m,
    ],
    [
      'with many other columns',
      r(`id,${further.join(',')},I1,I2,I3,I4\n${survey}`),
      { ignore: ['v*'] },
      /columns left out: "v\*"/,
    ],
    ['with names in another alphabet form', r(wide().replace('I1', 'I1\u200B')), undefined, /"I1" to "I4"/],
    ['without ids', r(wide().replaceAll(/^[^,]*,/gm, '')), undefined, /"1" to "6", numbered/],
    ['from R', r(wide().replace('id,', '')), undefined, /R’s write\.table/],
    [
      'by position',
      r(wide().replaceAll('I', 'Item ')),
      { byPosition: true },
      /"Item 1" has row 2 of the Q-matrix/,
    ],
    [
      'with one row per answer',
      r(long('user_id,item_id,score')),
      undefined,
      /"user_id" is the learner, "item_id" the item, "score" the score/,
    ],
    [
      'with one row per answer, named by options',
      r(long('who,what,how')),
      { learner: 'who', item: 'what', score: 'how' },
      /"how" the score/,
    ],
    [
      'with one row per answer and chosen options',
      r(long('Anon Student Id,Problem Name,Response', chosen)),
      key('I1,I2,I3,I4\nA,B,C,D\n'),
      /"Problem Name" the item/,
    ],
    [
      'with a row id and further columns',
      r(long('id,task,correct').replaceAll('\n', ',x\n').replace(',x', ',when')),
      undefined,
      /columns that were not read: "when"/,
    ],
    [
      'with attempts, of which the first counts',
      r(attempts),
      { attempts: 'first' },
      /the first one counts; answers left out: 1/,
    ],
    ['with attempts, of which the best counts', r(attempts), { attempts: 'best' }, /the best one counts/],
    [
      'with attempts, of which the last counts',
      r(attempts.replace('s0,I1,1\ns0,I1,0\n', 's0,I1,0\ns0,I1,1\n')),
      { attempts: 'last' },
      /the last one counts/,
    ],
  ])('%s', (_kind, texts, given, line) => {
    const tables = read(texts, given);
    if (!tables.ok) throw new Error(tables.error.join('\n'));
    expect(tables.value.learners.map((learner) => [...learner.answers])).toEqual(answers);
    const lines = understoodLines(tables.value.understood);
    expect(lines.slice(0, 5).map((text) => text.split(' ')[0])).toEqual([
      'learners',
      'items',
      'codes',
      'scoring',
      'booklets',
    ]);
    expect(lines.join('\n')).toMatch(line);
  });

  it('with a learner who looks like none', () => {
    const odd = `${wide()}Total,1,1,1,1\n`;
    expect(read(r(odd)).ok).toBe(false);
    const tables = read(r(odd), { take: ['Total'] });
    expect(tables.ok && tables.value.learners.at(-1)?.name).toBe('Total');
  });

  it('with numbered learners and a row that is named by its number', () => {
    const text = wide().replaceAll(/^[^,]*,/gm, '');
    const tables = read(r(`${text}.5,.5,.6,.4\n`));
    expect(tables.ok ? [] : tables.error).toEqual([expect.stringMatching(/--ignore-rows "row 8"/)]);
    const without = read(r(`${text}.5,.5,.6,.4\n`), { ignoreRows: ['row 8'] });
    expect(without.ok && without.value.learners).toHaveLength(6);
  });

  it('with a learner of whom all answers are NA', () => {
    const tables = read(r(`${wide()}t,NA,NA,NA,NA\n`));
    expect(tables.ok && tables.value.learners).toHaveLength(7);
  });

  it('with a last learner without answers, whose id is like the others', () => {
    const tables = read(r(`${wide()}s16,,,,\n`));
    expect(tables.ok && tables.value.learners).toHaveLength(7);
  });

  it('with notes among many learners without answers', () => {
    const silent = ['x', 'y', 'z', 'w'].map((name) => `${name},,,,\n`).join('');
    const tables = read(r(`${wide()}${silent}Generated by X,,,,\n`));
    expect(tables.ok && tables.value.learners).toHaveLength(11);
  });

  it('with a taken learner who looks like a note, also from the plain form', () => {
    const tables = read(r(`${wide()}Generated by X,,,,\n`), { take: ['Generated by X'] });
    if (!tables.ok) throw new Error(tables.error.join('\n'));
    const again = read(r(writeStudyTables(tables.value)['responses.csv']));
    expect(again.ok && again.value.learners.at(-1)?.name).toBe('Generated by X');
  });

  it('with scores that only one learner reached', () => {
    const points: Cell = (answer, n, j) => String(n === 2 ? 3 : answer * 2 + ((n + j) % 2) * 2);
    const tables = read(r(wide(points)), { correctFrom: 2 });
    expect(tables.ok && tables.value.learners).toHaveLength(6);
  });

  it('with one learner', () => {
    const tables = read(r(`${names}a,1,0,1,1\n`));
    expect(tables.ok && tables.value.learners).toHaveLength(1);
  });
});

describe('a table of answers is refused', () => {
  const summary = (row: string): Texts => r(`${wide()}${row}\n`);
  it.each<[string, Texts, TableOptions | undefined, RegExp]>([
    [
      'two words',
      r(wide((a) => (a ? 'richtig' : 'falsch'))),
      undefined,
      /two values, "richtig" \(12 cells\), "falsch" .*--correct richtig$/,
    ],
    [
      'two letters',
      r(wide((a) => (a ? 'T' : 'F'))),
      undefined,
      /--correct T, or, if they are chosen options, --key FILE$/,
    ],
    [
      'two numbers',
      r(wide((a) => String(a + 1))),
      undefined,
      /two values, "1" .*"2" .*: state which one is correct, with --correct 1 or --correct 2$/,
    ],
    [
      'two words of which neither means correct',
      r(wide((a) => (a ? 'an' : 'aus'))),
      undefined,
      /correct, with --correct an or --correct aus$/,
    ],
    ['two numbers of which one is 0', r(wide((a) => String(2 * a))), undefined, /for example --correct 2$/],
    [
      'a single mark',
      r(wide((a) => (a ? '✓' : ''))),
      undefined,
      /no other answer than "✓" .*fill them with 0 and add --correct "✓"$/,
    ],
    [
      'partial credit',
      r(many((a, n) => String(a && n % 2 ? 2 : a))),
      undefined,
      /"0" .*"1" .*"2" .*: this is partial credit: .*--correct-from 2$/,
    ],
    [
      'partial credit in one item',
      r(many((a, n, j) => String(j === 2 && n % 2 ? 2 * a : a))),
      undefined,
      /on 1 of 4 items \("I3"\): this is partial credit/,
    ],
    [
      'rare partial credit',
      r(many((a, n, j) => (n === 5 && j === 1 ? '2' : String(a)))),
      undefined,
      /--correct-from 2$/,
    ],
    [
      'numbered options',
      r(many((_a, n, j) => String(((n + j) % 4) + 1))),
      undefined,
      /chosen options, score them with --key FILE; if .* --correct-from 4$/,
    ],
    ['letters', r(many(options)), undefined, /found the letters "A" .*--key FILE$/],
    [
      'rare codes',
      r(many((a, n, j) => (n === 5 && j === 1 ? '9' : String(a)))),
      undefined,
      /found "9" \(1 cell\): if it marks a missing answer, add --missing 9$/,
    ],
    ['negative codes', r(many((a, n) => (n % 9 === 0 ? '-1' : String(a)))), undefined, /add --missing -1$/],
    [
      'codes among scores',
      r(many((a, n) => (n % 9 === 0 ? '99' : String(a && n % 2 ? 2 : a)))),
      { correctFrom: 2 },
      /"99" .* add --missing 99\. If they are scores, use --correct/,
    ],
    [
      'words for gaps',
      r(many((a, n) => (n % 9 === 0 ? '#N/A' : n % 9 === 1 ? '-' : String(a)))),
      undefined,
      /add --missing "#N\/A,-"$/,
    ],
    [
      'a slip',
      r(many((a, n, j) => (n === 5 && j === 1 ? '11' : String(a)))),
      undefined,
      /row 7, column "I2": found "11" \(1 cell\); expected 1 .*correct the cell/,
    ],
    [
      'free text',
      r(many((_a, n, j) => `text ${n} ${j}`)),
      undefined,
      /and 232 more values; expected 1 \(correct\) and 0/,
    ],
    ['a missing code that is an answer', {}, { missing: ['0'] }, /--missing "0": this is an answer$/],
    ['a correct value that is none', {}, { correct: ['T'] }, /no answer is "T"/],
    ['a score that nothing reaches', {}, { correctFrom: 3 }, /no score reaches --correct-from 3/],
    [
      'a score that every answer reaches',
      r(wide((a, n) => String(a ? 2 : n % 2))),
      { correctFrom: 0 },
      /no score is below --correct-from 0, .*found "2", "0", "1"$/,
    ],
    ['two ways of scoring', {}, { correct: ['1'], correctFrom: 1 }, /exclude each other/],
    ['an incomplete key', r(many(options)), key('item,key\nI1,A\n'), /^k\.csv: no key for "I2", "I3", "I4"/],
    ['a key for scored answers', {}, key('I1,I2,I3,I4\nA,B,C,D\n'), /leave out --key if they are scored$/],
    [
      'a key in other codes',
      r(many((_a, n, j) => String(((n + j) % 4) + 1))),
      key('I1,I2,I3,I4\nA,B,C,D\n'),
      /different codes: the answers are "1", "2", "3", "4", the keys of k\.csv "A", "B", "C", "D": write the keys/,
    ],
    [
      'a key that no learner chose',
      r(many(options)),
      key('I1,I2,I3,I4\nA,B,X,D\n'),
      /no learner chose "X", the key of "I3"; its answers are "A", "B", "C", "D": .*--ignore I3$/,
    ],
    [
      'no answer in any way of scoring',
      r(wide(() => '')),
      { correct: ['T'] },
      /no answer in the table; missing: empty \(24\)$/,
    ],
    [
      'all items left out',
      {},
      { ignore: ['I1', 'I2', 'I3', 'I4'] },
      /^--ignore leaves out all items of q\.csv/,
    ],
    [
      'a row of maximum points by name',
      summary('Points Possible,1,1,1,1'),
      undefined,
      /row 8: "Points Possible" is no learner: leave it out with --ignore-rows "Points Possible", or take it/,
    ],
    [
      'a row of maximum points by its values',
      summary('x,5,5,10,5'),
      undefined,
      /row 8: values like "5" occur in no other row.*--ignore-rows x/,
    ],
    [
      'a row of maximum points without an id',
      summary(',1,1,1,1'),
      undefined,
      /row 8: no learner id: .*--ignore-rows "row 8"$/,
    ],
    [
      'a row of averages',
      summary('?,.5,.5,.6,.4'),
      undefined,
      /row of averages or difficulties: leave it out/,
    ],
    ['a key', r(`${names}key,A,B,C,D\n${rows()}`), undefined, /row 2: "key" is no learner/],
    [
      'a second header',
      r(`${names}"","First?","Second?","Third?","Fourth?"\n${rows()}`),
      undefined,
      /row 2: values like "First\?"/,
    ],
    [
      'names again in the middle',
      r(wide() + names + rows(String, 't')),
      undefined,
      /row 8: this repeats the names of row 1.*--ignore-rows id/,
    ],
    ['a note', summary('Total: 6'), undefined, /row 8: "Total: 6" is a note .*--ignore-rows "row 8"$/],
    [
      'a total with one row per answer',
      r(`${long('user,item,score')}Total,I1,0\n`),
      undefined,
      /"Total" is no learner/,
    ],
    [
      'a note below in a row of full length',
      summary('Generated by X on 2024-01-01,,,,'),
      undefined,
      /row 8: .*looks like a note below the table: .*--ignore-rows "Generated by X on 2024-01-01", or take .*--take/,
    ],
    ['rows to take that are none', {}, { take: ['nope'] }, /^r\.csv: --take "nope": no row/],
    [
      'rows to take that are none, one row per answer',
      r(long('user,item,score')),
      { take: ['s1', 'nope'] },
      /^r\.csv: --take "nope": no row/,
    ],
    ['rows to ignore that are none', {}, { ignoreRows: ['nope'] }, /--ignore-rows "nope": no row/],
    [
      'several columns of ids',
      r('class,pupil,I1,I2,I3,I4\nx,a,1,0,1,1\nx,b,0,1,1,0\n'),
      undefined,
      /if the ids are in "pupil", add --learner pupil --ignore class$/,
    ],
    [
      'rounded ids',
      r(wide().replaceAll(/^s\d/gm, '1.23E+11')),
      undefined,
      /a spreadsheet rounded the ids: .*--ignore id$/,
    ],
    [
      'weights',
      r(
        wide()
          .replaceAll(/$/gm, ',w')
          .replaceAll(/^,w\n?/gm, ''),
      ),
      undefined,
      /named "w": add --ignore w\. Weights of learners are not used/,
    ],
    [
      'names in another case',
      r(wide().replaceAll('I', 'i')),
      undefined,
      /row 1 contains "i1", "i2", "i3" and 1 more; the items of q\.csv are "I1".*\("i1" for "I1".*--by-position/,
    ],
    [
      'names with another prefix',
      r(wide().replaceAll('I', 'Item ')),
      undefined,
      /\("Item 1" for "I1", "Item 2" for "I2"/,
    ],
    ['names with leading zeros', r(wide().replaceAll('I', 'I0')), undefined, /\("I01" for "I1"/],
    [
      'one name in another case',
      r(wide().replace('I2', 'i 2')),
      undefined,
      /is named "i 2"; it has "I2": give the item the same name/,
    ],
    [
      'items in rows',
      r('item,s0,s1\nI1,1,0\nI2,1,0\nI3,0,0\nI4,1,1\n'),
      undefined,
      /one row per item .* transpose it/,
    ],
    [
      'no names',
      r(rows().replaceAll(/^s\d,/gm, '')),
      undefined,
      /the header row is missing\. Add a first row .* "I1,I2,I3,…"$/,
    ],
    [
      'unknown columns',
      r('who,what,how,when\na,I1,1,1\n'),
      undefined,
      /--learner COL --item COL --score COL$/,
    ],
    [
      'two columns of learners',
      r(long('student,item,score').replaceAll('\n', ',x\n').replace(',x', ',user_id')),
      undefined,
      /"student", "user_id" may each be the learner: choose with --learner student$/,
    ],
    ['an absent column', {}, { learner: 'code' }, /--learner "code": there is no such column/],
    [
      'items in another case, one row per answer',
      r(long('student,item,score').replaceAll('I', 'i')),
      undefined,
      /column "item" contains "i1".*\("i1" for "I1"/,
    ],
    [
      'further attempts',
      r(`${long('student,item,score')}s1,I2,1\ns1,I2,1\n`),
      undefined,
      /2 answers are further attempts .*--attempts first, last or best$/,
    ],
    [
      'attempts in disorder',
      r('student,item,score,attempt\na,I1,1,2\na,I1,0,1\n'),
      { attempts: 'first' },
      /"attempt" is lower .*sort the rows/,
    ],
    [
      'positions against names',
      r(wide().replace('I1,I2', 'I2,I1')),
      { byPosition: true },
      /item "I1" is in both tables, but not in the same place/,
    ],
  ])('%s', (_kind, texts, given, sentence) => {
    const tables = read(texts, given);
    expect(tables.ok ? [] : tables.error).toContainEqual(expect.stringMatching(sentence));
  });

  it.each<[string, Texts, RegExp]>([
    [
      'points up to nine',
      r(many((_a, n, j) => String((n + j) % 10))),
      /and 2 more values: this is partial credit/,
    ],
    ['1 and -1', r(wide((a) => String(a || -1))), /found two values, "-1" .*, "1" .*--correct 1$/],
    ['one name in another case', r(wide().replace('I2', 'i 2')), /it has "I2"/],
    [
      'no answer',
      r(wide((_a, n) => (n === 1 ? 'NA' : ''))),
      /^r\.csv: there is no answer in the table; missing: empty \(20\), "NA" \(4\)$/,
    ],
  ])('in one sentence: %s', (_kind, texts, sentence) => {
    const tables = read(texts);
    expect(tables.ok ? [] : tables.error).toEqual([expect.stringMatching(sentence)]);
  });

  it.each<[string, Texts, TableOptions | undefined, RegExp]>([
    ['names again', r(names + wide()), undefined, /leave it out with --ignore-rows id$/],
    [
      'names again above chosen options',
      r(names + names + wide(chosen)),
      key('I1,I2,I3,I4\nA,B,C,D\n'),
      /-rows id$/,
    ],
    ['averages', r(`${wide()}Average,.5,.5,.6,.4\n`), undefined, /out with --ignore-rows Average$/],
    [
      'averages, one row per answer',
      r(`${long('user,item,score')}Average,I1,.5\n`),
      undefined,
      /-rows Average$/,
    ],
    ['a key of scored answers', r(`${wide()}key,A,B,C,D\n`), undefined, /out with --ignore-rows key$/],
    [
      'a key of chosen options',
      r(`${many(options)}KEY,A,B,C,D\n`),
      undefined,
      /save row 1 and this row as a file, and add --key FILE --ignore-rows KEY$/,
    ],
  ])('without advice to take what cannot be a learner: %s', (_kind, texts, given, sentence) => {
    const tables = read(texts, given);
    const lines = tables.ok ? [] : tables.error;
    expect(lines).toContainEqual(expect.stringMatching(sentence));
    expect(lines.join('\n')).not.toContain('--take');
  });

  it('a row that could be a learner, under the scoring that is given', () => {
    const points = `${many((a) => String(2 * a))}Total,2,2,0,2\n`;
    const refused = read(r(points), { correctFrom: 2 });
    expect(refused.ok ? [] : refused.error).toEqual([expect.stringMatching(/--take Total$/)]);
  });

  it('several columns of ids, without advice to leave out the right one', () => {
    const tables = read(r('class,pupil,I1,I2,I3,I4\nx,a,1,0,1,1\nx,b,0,1,1,0\n'));
    expect(tables.ok ? '' : tables.error.join('\n')).not.toContain('--ignore pupil');
  });

  it('an item under a name of its own', () => {
    const tables = read(r(wide().replace('I2', 'Solve')));
    expect(tables.ok ? [] : tables.error).toContainEqual(
      expect.stringMatching(
        /named "Solve": .*; but if it is the item that is missing here \("I2"\), give it/,
      ),
    );
  });

  it('an unnamed column', () => {
    const tables = read(
      r(
        wide()
          .replaceAll(/$/gm, ',x')
          .replaceAll(/^,x\n?/gm, '')
          .replace(',x', ','),
      ),
    );
    expect(tables.ok ? [] : tables.error).toEqual([
      'r.csv: row 1, column 6: no column name: name it, or remove the column',
    ]);
  });

  it('never advises a missing code for an answer', () => {
    for (const cell of ['2', 'no', 'F', 'b', '0.5']) {
      const tables = read(r(many((a, n) => (a ? '1' : n % 2 ? '0' : cell))));
      expect(tables.ok ? [] : tables.error.filter((line) => line.includes('--missing'))).toEqual([]);
    }
  });

  it('names every further attempt', () => {
    const tables = read(r(`${long('student,item,score')}s1,I2,1\ns1,I2,1\n`));
    const named = tables.ok ? [] : tables.error.filter((line) => line.includes('duplicate answer'));
    expect(named.map((line) => line.replace(/:.*?:/, ''))).toEqual([
      'r.csv duplicate answer of learner "s1" to item "I2" (first in row 7)',
      'r.csv duplicate answer of learner "s1" to item "I2" (first in row 7)',
    ]);
  });
});

describe('a Q-matrix is taken', () => {
  it.each<[string, Texts, TableOptions | undefined, RegExp]>([
    [
      'with marks and blanks',
      q('item,A,B\nI1,x,\nI2,,X\nI3,x,x\nI4,x,\n'),
      undefined,
      /"x", "X" in the Q-matrix was read as 1\n.*empty cells of the Q-matrix were read as 0: 3/,
    ],
    [
      'with 1 and blanks',
      q('item,A,B\nI1,1,\nI2,,1\nI3,1,1\nI4,1,\n'),
      undefined,
      /empty cells of the Q-matrix/,
    ],
    [
      'without names',
      q('A,B\n1,0\n0,1\n1,1\n1,0\n'),
      { byPosition: true },
      /"I1" has row 2 of the Q-matrix, "I4" row 5/,
    ],
    [
      'with lists in brackets',
      q('item,kcs\nI1,[A]\nI2,"[\'B\']"\nI3,"[A, B]"\nI4,[A]\n'),
      undefined,
      /a list of knowledge components per item: "A", "B"/,
    ],
    [
      'with lists',
      q('item,kcs\nI1,A\nI2,B\nI3,A;B\nI4,A\n'),
      undefined,
      /a list of knowledge components per item/,
    ],
    [
      'with one row per item and component',
      q('item,skill\nI1,A\nI2,B\nI3,A\nI3,B\nI4,A\n'),
      undefined,
      /one row per item and knowledge component/,
    ],
    [
      'with one row and a mark per item and component',
      q('item,skill,needs\nI1,A,1\nI1,B,0\nI2,B,1\nI3,A,1\nI3,B,1\nI4,A,1\n'),
      undefined,
      /one row per item and/,
    ],
  ])('%s', (_kind, texts, given, line) => {
    const tables = read(texts, given);
    if (!tables.ok) throw new Error(tables.error.join('\n'));
    expect(tables.value).toMatchObject({ kcs: ['A', 'B'], kcsOf: [[0], [1], [0, 1], [0]] });
    expect(understoodLines(tables.value.understood).join('\n')).toMatch(line);
  });
});

describe('a Q-matrix is refused', () => {
  it.each<[string, Texts, TableOptions | undefined, RegExp]>([
    [
      'levels',
      q('item,A,B\nI1,2,0\nI2,0,1\nI3,1,1\nI4,1,0\n'),
      undefined,
      /row 2, column "A": found "2", as in a polytomous Q-matrix/,
    ],
    [
      'blanks and 0',
      q('item,A,B\nI1,1,\nI2,0,1\nI3,1,1\nI4,1,0\n'),
      undefined,
      /found an empty cell; .* only in a table without any 0/,
    ],
    [
      'no header',
      q('I1,1,0\nI2,0,1\nI3,1,1\nI4,1,0\n'),
      undefined,
      /the header row is missing\. .*"item,KC1,KC2"$/,
    ],
    [
      'neither names nor header',
      q('1,0\n0,1\n1,1\n1,0\n'),
      undefined,
      /the header row is missing\. .*--by-position/,
    ],
    [
      'no names',
      q('A,B\n1,0\n0,1\n1,1\n1,0\n'),
      undefined,
      /in the order of the items of the answers, add --by-position$/,
    ],
    [
      'another number of rows by position',
      q('A,B\n1,0\n0,1\n'),
      { byPosition: true },
      /has 2 rows, and r\.csv has 5 columns that may be items/,
    ],
    [
      'items in columns',
      q('kc,I1,I2,I3,I4\nA,1,0,1,1\nB,0,1,1,0\n'),
      undefined,
      /q\.csv has one column per item .*transpose it/,
    ],
  ])('%s', (_kind, texts, given, sentence) => {
    const tables = read(texts, given);
    expect(tables.ok ? [] : tables.error).toContainEqual(expect.stringMatching(sentence));
    expect(tables.ok ? '' : tables.error.join('\n')).not.toContain('--ignore I1');
  });
});

describe('two files', () => {
  const [a, b] = [
    { name: 'a.csv', text: wide() },
    { name: 'b.csv', text: qMatrix },
  ] as const;
  it.each([
    ['answers first', a, b, false],
    ['the Q-matrix first', b, a, true],
    [
      'one row per answer',
      { name: 'q.csv', text: qMatrix },
      { name: 'l.csv', text: long('user,task,score') },
      true,
    ],
    [
      'learners with the names of components',
      { name: 'r.csv', text: `${names}A,1,0,1,1\nB,0,0,0,1\n` },
      b,
      false,
    ],
    ['names that do not meet', { name: 'q.csv', text: 'A,B\n1,0\n0,1\n' }, a, false],
  ])('%s', (_name, first, second, exchanged) => {
    expect(inOrder(first, second)).toEqual({
      files: exchanged ? { responses: second, qMatrix: first } : { responses: first, qMatrix: second },
      exchanged,
    });
  });

  it('are refused if they are the same', () => {
    expect(readStudyTables({ responses: a, qMatrix: a })).toEqual({
      ok: false,
      error: ['the answers and the Q-matrix are the same table: a.csv, a.csv'],
    });
  });

  it('are named where options exchange them', () => {
    expect(readStudyTables({ responses: b, qMatrix: a })).toEqual({
      ok: false,
      error: ['the two files are exchanged: b.csv contains the Q-matrix, and a.csv the answers'],
    });
  });
});

describe('booklets', () => {
  it.each([
    ['one', wide(), '1: every learner answered every item'],
    [
      'one with gaps',
      wide((a, n) => (n === 1 ? '' : String(a))).replace('s2,1', 's2,'),
      '1 of 4 items; with gaps, 2 sets of answered items',
    ],
    ['two', `${names}a,1,0,,\nb,,,1,1\nc,1,,,\n`, '2 of 2 items; with gaps, 3 sets of answered items'],
    ['unequal ones', `${names}a,1,0,1,\nb,,,1,1\n`, '2 of 2 to 3 items'],
  ])('%s', (_name, text, line) => {
    const tables = read(r(text));
    expect(tables.ok ? understoodLines(tables.value.understood)[4] : tables.error).toBe(`booklets  ${line}`);
  });
});
