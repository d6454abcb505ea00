import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '#tools/checks/checks.ts';
import { holesIn, openHoles } from './holes.ts';

// Every kind of scaffold, in one copy of the tree: with open holes it does not compile, and once they are filled it is sound.

/** One of each kind; of routes one without owned values and one with a body and a key, of filters one of each who applies it. */
const scaffolds = [
  'route readRuntimeVersions --service mastery --method GET --path /v1/runtime-versions --owned none',
  'route checkReference --service reports --method POST --path /v1/reference-checks --body --owned none --dependencies reportDependencies',
  'filter administrationId --route listCandidateReports --applied-by owner',
  'filter receiver --route listRevisionOrders --applied-by service --fact targetModule',
  'problem pool-frozen --service mastery --status 409 --routes readRuntimeVersions',
  'operation readFormDifficulty --owner analytics --method GET --path /core/analytics/v1/forms/{qtiTestId}/difficulty',
  'log-code POOL_FROZEN --level warn --fields reason=word',
  'setting poolLimit',
  'exposure proportional',
];

/** What a person might fill into their holes, by what a hole says; the first that fits. */
const fills: readonly (readonly [what: RegExp, code: string])[] = [
  // Routes.
  [/^the members of runtimeVersions/, 'runtimeVersions: z.array(identifier).min(1)'],
  [/^the members of checkReferenceRequest/, 'reference: requestReference'],
  [/^the members of checkReferenceResponse/, 'reference, operationId: z.string()'],
  [/complete response of readRuntimeVersions/, `{ runtimeVersions: ['ho-cdm-grid-1', 'ho-cdm-block-1'] }`],
  [/complete response of checkReference/, `{ reference: 'form-1', operationId: 'operation-1' }`],
  [/complete body of checkReference/, `{ reference: 'form-1' }`],
  [/^another body that checkReference serves/, `{ reference: 'form-2' }`],
  [/^a body (?:of the fixtures )?that checkReference serves/, `{ reference: 'form-1' }`],
  [/^the most upstream calls/, '{ calls: 0, depth: 0 }'],
  [/^the text of each field of runtimeVersions/, `{ runtimeVersions: 'The versions.' }`],
  [/^the text of each field of checkReferenceRequest/, `{ reference: 'A reference.' }`],
  [
    /^the text of each field of checkReferenceResponse/,
    `{ reference: 'The reference.', operationId: 'The operation.' }`,
  ],
  [/^the scope of checkReference, such/, `'reports:write'`],
  [/^the scope of checkReference$/, `'reports:write'`],
  [/^the release gates that open checkReference/, `['A', 'D']`],
  [/^the gates of checkReference/, `'A+D'`],
  [/^what reportDependencies touches/, `'profiles:read'`],
  [/^the runtimeVersions of this request/, '{ runtimeVersions: [...runtimeVersions()] }'],
  [
    /^await what checkReference reads/,
    `(await dependencies.profiles.resolve(principal.tenantId)).ok
      ? ok({ body: { ...body, operationId: control.operationId } })
      : err(problem('reports', 'not-found', 404))`,
  ],
  [
    /^reportDependencies in memory/,
    `{ profiles: { resolve: () => Promise.resolve({ ok: true }) } } as never`,
  ],
  [/^the response of readRuntimeVersions to/, `{ runtimeVersions: ['ho-cdm-grid-1', 'ho-cdm-block-1'] }`],
  [
    /^the response of checkReference to/,
    `{ reference: 'form-1', operationId: expect.any(String) as string }`,
  ],
  // Filters.
  [/^the schema of receiver/, 'targetModule'],
  [
    /^which rows receiver selects/,
    `{ text: 'Only for it.', values: { bank: 'Bank', blueprint: 'Blueprint' } }`,
  ],
  [/^the values of receiver/, `'bank blueprint'`],
  [/^whether the owner lists a row for this administrationId/, 'row.administrationId === value'],
  // A log code.
  [/^whom a line of POOL_FROZEN blames/, `'data'`],
  [/^the alarm on the lines of POOL_FROZEN/, `{ quiet: 'The owner of the bank freezes pools on purpose.' }`],
  // An exposure method.
  [/^the item that proportional takes/, 'randomesque(ranked(1), 1, run)'],
  [/^the item of proportional by its definition/, 'offers.inOrder((item) => offers.gains[item]!)[0]'],
  // A problem's words.
  [/^which text of the catalogue/, `'changed'`],
  [/^the sentence with which the explorer/, `() => 'The pool is frozen'`],
  // A setting.
  [/^the type of poolLimit/, '1 | 2'],
  [/^poolLimit of/, '1'],
  // Upstream operations.
  [/^what the answers of readFormDifficulty/, `'report'`],
  [
    /^the members that the owner publishes for readFormDifficulty/,
    'qtiTestId: reference, difficulty: z.number()',
  ],
  [
    /^what the tenant holds for readFormDifficulty/,
    `tenant.forms.has(qtiTestId) ? { tenantId: tenant.tenantId, version: '1', freshness: 'current', qtiTestId, difficulty: 0.5 } : undefined`,
  ],
  [/./, `'A sentence of the test.'`],
];

/** What a person adds beside the holes: imports of what fills them, and the line that writes the log code. */
const additions: readonly (readonly [file: string, from: RegExp, to: string])[] = [
  [
    'functions/mastery/endpoints/read-runtime-versions/operation.ts',
    /^/,
    `import { runtimeVersions } from '#functions/mastery/engine/kernels/index.ts';\n`,
  ],
  ['shared/contract/mastery/runtime-versions.ts', /$/, `import { identifier } from './primitives.ts';\n`],
  [
    'shared/contract/reports/check-reference.ts',
    /$/,
    `import { reference, requestReference } from './primitives.ts';\n`,
  ],
];

interface Ended {
  readonly code: number;
  readonly output: string;
}

it('every scaffold does not compile before its holes are filled, and is sound afterwards', async () => {
  const copy = await copyTree();
  /** Runs a program of the copy with this Node. */
  const node = (...argv: readonly string[]): Promise<Ended> => start(process.execPath, argv, copy);
  /** Compiles both projects, as `npm run check:types` does. */
  const tsc = async (): Promise<Ended> => {
    const compiler = [
      'node_modules/typescript-7/bin/tsc',
      '--noEmit',
      '--singleThreaded',
      '--pretty',
      'false',
    ];
    const ended = [await node(...compiler), await node(...compiler, '--project', 'local/explorer/app')];
    return {
      code: Math.max(...ended.map(({ code }) => code)),
      output: ended.map(({ output }) => output).join(''),
    };
  };

  const touched = new Set<string>();
  for (const line of scaffolds) {
    const { code, output } = await node('tools/new.ts', ...line.split(' '));
    expect([line, code, output]).toEqual([line, 0, expect.stringContaining('to fill in')]);
    for (const [, file = ''] of (output.split('\n\n')[0] ?? '').matchAll(/^ {2}(\S+)$/gm)) touched.add(file);
  }
  const again = await node('tools/new.ts', ...(scaffolds[0] ?? '').split(' '));
  expect([again.code, again.output]).toEqual([
    1,
    expect.stringMatching(/^nothing was written:\n.* already /),
  ]);

  const holes = openHoles(copy);
  const { code, output } = await tsc();
  expect(code).not.toBe(0);
  const refused = new Set(
    [...output.matchAll(/^(\S+)\((\d+),\d+\): error TS2304/gm)].map(([, file, line]) => `${file}:${line}`),
  );
  // A comment or a page compiles with its hole; the unit test of the holes refuses those.
  const isCode = ({ file, line }: (typeof holes)[number]): boolean =>
    file.endsWith('.ts') &&
    !/^\s*(?:\/\*)?\*/.test(readFileSync(join(copy, file), 'utf8').split('\n')[line - 1] ?? '');
  const compiled = holes.filter((hole) => isCode(hole) && !refused.has(`${hole.file}:${hole.line}`));
  expect(compiled).toEqual([]);
  expect(holes.length).toBeGreaterThan(50);

  for (const file of touched) fill(join(copy, file), file);
  expect((await node('tools/new.ts', 'holes')).output).toBe('no holes are open\n');
  const files = [...touched].filter((file) => file.endsWith('.ts'));
  expect(await node('node_modules/oxfmt/bin/oxfmt', ...files)).toMatchObject({
    code: 0,
  });

  // The types of the client are compared with the rows.
  expect(await node('tools/docs.ts')).toMatchObject({ code: 0 });
  expect(await tsc()).toEqual({ code: 0, output: '' });
  const vitest = (project: string, ...argv: readonly string[]): Promise<Ended> =>
    node('node_modules/vitest/vitest.mjs', 'run', '--project', project, ...argv);
  const [lint, unit, lemmas] = await Promise.all([
    node('node_modules/oxlint/bin/oxlint', '--threads=1', ...files),
    vitest(
      'unit',
      'functions/mastery/endpoints/read-runtime-versions',
      'functions/reports/endpoints/check-reference',
      'shared/contract/routes.test.ts',
      'shared/problems/registry.test.ts',
      'shared/openapi/describe.test.ts',
    ),
    vitest('contract', 'test/lemmas', '-t', 'readRuntimeVersions|checkReference'),
  ]);
  expect([lint.code, lint.output]).toEqual([0, expect.stringContaining('0 errors')]);
  expect([unit.code, unit.output]).toEqual([0, expect.stringContaining('passed')]);
  expect([lemmas.code, lemmas.output]).toEqual([0, expect.stringContaining('passed')]);
}, 600_000);

/** The files of the working tree in a folder of their own, with the packages of this one. */
async function copyTree(): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), 'scaffolds-'));
  const { output } = await start('git', ['ls-files', '-co', '--exclude-standard', '-z'], projectRoot);
  for (const file of output.split('\0').filter((name) => name !== ''))
    cpSync(join(projectRoot, file), join(copy, file));
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Fills the holes of a file: members in the place of a spread, words in a template. */
function fill(path: string, file: string): void {
  const hole = /(\.\.\.|\$\{)?FILL_IN[(<]\s*(?:'[^']*'|"[^"]*"),?\s*[)>](?:(?<=\$\{FILL_IN[^}]*)\})?/g;
  let text = readFileSync(path, 'utf8').replaceAll(hole, (found, before?: string) => {
    const what = holesIn(file, found)[0]?.what ?? '';
    const code = fills.find(([about]) => about.test(what))?.[1] ?? '';
    return before === '${' ? code.slice(1, -1) : code;
  });
  for (const [where, from, to] of additions) if (where === file) text = text.replace(from, to);
  writeFileSync(path, text);
}

function start(program: string, argv: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    const { PATH, TMPDIR } = process.env;
    const child = execFile(
      program,
      argv,
      { cwd, env: { PATH, TMPDIR }, maxBuffer: 1e8 },
      (_, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` });
      },
    );
  });
}
