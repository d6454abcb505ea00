import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { projectFolder, useCommands } from '#test/support/commands.ts';
import { list } from '#tools/terminal/command.ts';

const usage = z.strictObject({
  arguments: z.array(z.string()).default([]),
  options: z.record(z.string(), z.enum(['value', 'flag'])).default({}),
  /** The program that takes every other option and checks it. */
  forwards: z.string().optional(),
});
type Usage = z.infer<typeof usage>;

const frozen = z
  .strictObject({
    comment: z.string(),
    scripts: z.record(
      z.string(),
      z.union([usage, z.strictObject({ subcommands: z.record(z.string(), usage) })]),
    ),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'commands-0.1.0.json'), 'utf8')));

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')));

const runProgram = useCommands();

/** Runs a script of package.json with further arguments, as npm would. */
function run(script: string, ...argv: readonly string[]): ReturnType<typeof runProgram> {
  const [program, , , file = '', ...words] = scripts[script]?.split(' ') ?? [];
  expect(program).toBe('node');
  return runProgram(file, [...words, ...argv]);
}

/** Every command of ours: the script, and the subcommand that is asked for. */
const commands = Object.entries(frozen.scripts).flatMap(([script, given]): [string, string[], Usage][] =>
  'subcommands' in given
    ? Object.entries(given.subcommands).map(([name, sub]) => [script, [name], sub])
    : [[script, [], given]],
);
const own = commands.filter(
  ([script, , { forwards }]) => forwards === undefined || ['synth', 'deploy'].includes(script),
);

describe('the scripts of version 0.1.0', () => {
  it.each(Object.keys(frozen.scripts))('%s still exists', (script) => {
    expect(scripts[script]).toBeDefined();
  });
});

describe('a command of version 0.1.0 names in its help all that it took', () => {
  it.each(own)('%s %j', async (script, words, { options }) => {
    const { code, stdout, stderr } = await run(script, ...words, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const word of words) expect(stdout).toContain(word);
    // Of a subcommand, its own help alone.
    expect(stdout.match(/^Usage:/gm)).toHaveLength(1);
    for (const [name, kind] of Object.entries(options)) {
      // A line of its own; what stands after one space is its value.
      const value = kind === 'value' ? String.raw` \S` : String.raw`( {2,}|\n)`;
      expect(stdout).toMatch(new RegExp(String.raw`^\s+${name}${value}`, 'm'));
    }
  });

  it.each(
    Object.entries(frozen.scripts).flatMap(([script, given]): [string, string[]][] =>
      'subcommands' in given
        ? [
            [
              script,
              Object.entries(given.subcommands).flatMap(([name, { options }]) => [
                name,
                ...Object.keys(options),
              ]),
            ],
          ]
        : [],
    ),
  )('%s: %j', async (script, words) => {
    const { code, stdout } = await run(script, '--help');
    expect(code).toBe(0);
    for (const word of words) expect(stdout).toContain(word);
  });
});

/** Every program of this project, those that are newer than version 0.1.0 included. */
const programs = Object.keys(scripts).filter((name) =>
  /^node --import \S+ \S+\.ts$/.test(scripts[name] ?? ''),
);

describe('every command', () => {
  it.each(programs)(
    '%s prints its help, whatever else is wrong, within 80 columns where there is no terminal',
    async (script) => {
      const { code, stdout, stderr } = await run(script, '--no-such-option', '--help');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: npm (?:run \S+|start|test) -- /);
      expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    },
  );

  it.each(programs)('%s has only examples with commands and options that there are', async (script) => {
    const { stdout } = await run(script, '--help');
    const examples = (stdout.split(/^Examples:\n/m)[1] ?? '').replaceAll(/\\\n\s*/g, '');
    for (const [, named = '', words = ''] of examples.matchAll(
      /npm run (?:--silent )?(\S+)(?: -- ([^|)\n]*))?/g,
    )) {
      expect(scripts).toHaveProperty([named]);
      // What synth and deploy do not know goes on to cdk. The examples of call are run: local/start.slow.test.ts.
      if (!programs.includes(named) || ['synth', 'deploy', 'call'].includes(named)) continue;
      const help = named === script ? stdout : (await run(named, '--help')).stdout;
      const [first = ''] = words.split(' ');
      const hasSubcommand = /^Commands:$/m.test(help) && /^[a-z]/.test(first);
      const helps = hasSubcommand ? help + (await run(named, first, '--help')).stdout : help;
      for (const [option] of words.matchAll(/(?<= |^)--[a-z][a-z-]*/g))
        expect(helps, `${named} ${words}`).toMatch(new RegExp(String.raw`^ +(?:-\w, )?${option}\b`, 'm'));
    }
  });

  // What synth and deploy do not know goes on to cdk.
  it.each(programs.filter((script) => script !== 'synth' && script !== 'deploy'))(
    '%s refuses an unknown option with exit code 2 and a sentence',
    async (script) => {
      const { code, stdout, stderr } = await run(script, '--no-such-option');
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      // What a command cannot do without is asked for first.
      expect(stderr).toMatch(/--no-such-option|^missing: |^Usage: /);
      expect(stderr).not.toMatch(/^\s+at /m);
    },
  );
});

describe('wrong usage exits with 2 and a sentence, which names everything that is missing', () => {
  it.each([
    ['token', [], /^missing: --tenant/],
    ['new', ['route'], 'missing: NAME, --service, --method, --path, --owned'],
    ['new', ['setting', 'Pool'], /Expected a name in camel case/],
    ['new', ['log-code', 'X', '--level', 'warn', '--fields', 'a=b'], /Expected fields such as reason=word/],
    ['start', ['--gates', 'A,G'], /'--gates <LIST>'.* unknown gate "G": expected A to F/],
    ['start', ['--gates', 'a'], /unknown gate "a"/],
    ['call', ['answer'], 'missing: --correct or --wrong'],
    ['replay', [], 'missing: --data'],
    ['validate', [], 'missing: --data'],
    ['calibrate', [], 'missing: --model, --out, --responses, --q-matrix'],
    ['build', ['--only', 'noSuchFunction'], /unknown function "noSuchFunction"/],
    ['gates', ['sign'], 'missing: DRAFT, one of --key, --digest and --signature'],
    ['gates', ['sign', 'draft.json'], 'missing: one of --key, --digest and --signature'],
    ['gates', ['sign', 'draft.json', '--key', 'k', '--digest', 'd'], /only one of --key/],
    ['gates', ['apply'], 'missing: --stage, MANIFEST (or --withdraw)'],
    ['gates', ['apply', '--withdraw', 'C'], 'missing: --stage'],
    ['gates', ['apply', '--stage', 'local', '--withdraw', 'X'], /unknown gate "X": expected A to F/],
    ['gates', ['apply', '--stage', 'nowhere', '--withdraw', 'C'], /unknown stage "nowhere"/],
    ['gates', ['show', 'surplus'], /too many arguments/],
    ['keys', ['retire', '--leaked'], 'missing: --purpose, --kid'],
    ['keys', ['retire', '--leaked', '--purpose', 'pseudonym'], 'missing: --kid'],
    ['keys', ['retire', '--kid', 'k1'], 'missing: --leaked'],
    ['keys', ['rotate', '--leaked'], 'missing: --purpose'],
    ['keys', ['rotate', '--purpose', 'pseudonym'], /pseudonym is not rotated on a schedule/],
    ['keys', ['init', '--leaked', '--purpose', 'pseudonym'], /unknown option '--leaked'/],
    ['keys', ['list', '--stage', 'nowhere'], /unknown stage "nowhere"/],
    ['restore', [], 'missing: --stage, --store, --to (or --from)'],
    [
      'restore',
      ['--stage', 'local', '--store', 'control', '--to', '2026-01-31T09:30:00Z'],
      /cannot be restored/,
    ],
    ['restore', ['--stage', 'local', '--store', 'records', '--to', 'today'], /must be an instant/],
    ['restore', ['--stage', 'local', '--store', 'receipts', '--from', 'table'], /receipts need --to/],
    ['release', ['policy'], 'missing: FILE, --stage or --table'],
    ['release', ['deprecate'], 'missing: KIND, ID, --at, --stage or --table'],
    ['release', ['deprecate', 'policy', 'an-id', '--at', 'today', '--stage', 'prod'], /must be an instant/],
    ['release', ['polcy', 'policy.json'], /unknown command 'polcy'/],
    ['receipts', ['verify'], 'missing: FILE'],
    ['catalog', ['hash'], 'missing: FILE'],
    ['proof', ['--local', '--rehearsal', '--target', 'nowhere'], /--target is not a URL/],
    ['proof', ['--rehearsal'], 'missing: --target, --tenant-a, --tenant-b (or --local)'],
    ['deploy', [], 'missing: -c stage=NAME'],
    ['synth', ['-c', 'stage=nowhere'], /unknown stage "nowhere"/],
    ['synth', ['-c', 'gate=A'], /unknown name "gate"/],
    ['bench', ['--only', 'no-such-part'], /unknown part "no-such-part"/],
    ['start', ['--prot', '1'], /unknown option '--prot'. Did you mean --port\?/],
    ['start', ['-p', '1'], /unknown option '-p'/],
    ['start', ['--port', '65536'], /'--port <N>'.* a whole number from 0 to 65535/],
    ['start', ['--port', '1e3'], /a whole number/],
    ['start', ['--port', '-1'], /a whole number/],
    ['start', ['--port'], /'--port <N>' argument missing/],
    ['start', ['--port', '3', '--port=4'], /--port is given twice/],
    ['replay', ['--cut', '1.1'], /a number from 0 to 1/],
    ['replay', ['--cut', '0.1.1'], /a number from 0 to 1/],
    ['replay', ['--cut', '5e-1'], 'missing: --data'],
    ['replay', ['--json', '--json'], /--json is given twice/],
    ['start', ['--toString', 'x'], /unknown option '--toString'/],
    ['token', ['--tenant', '--scope'], /The value is missing/],
    ['token', ['--tenant='], /must not be empty/],
    ['token', ['--studentIds', 'a,,b'], /names separated by commas/],
    ['token', ['stray'], /too many arguments/],
    ['keys', ['rotate', '--purpose', 'x'], /Allowed choices are continuation, cursor, idempotency, /],
    ['keys', ['--stage', 'nowhere', 'list'], /unknown stage "nowhere"/],
    ['gates', ['\u001B[2J'], /^unknown command '\u{fffd}\[2J'\n$/u],
    ['gates', ['aply', 'a.json'], /unknown command 'aply'. Did you mean apply\?/],
    ['gates', ['show', '--dry-run'], /unknown option '--dry-run'/],
    ['docs', ['--gates', 'A'], /--out/],
    ['docs', ['--gates', 'A,G', '--out', 'nowhere'], /unknown gate "G"/],
    ['docs', ['--out', 'nowhere'], /--(?:gates|stage)/],
    ['docs', ['--check', '--gates', 'A', '--out', 'nowhere'], /--check/],
  ] as const)('%s %j', async (script, argv, sentence) => {
    const { code, stdout, stderr } = await run(script, ...argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    if (typeof sentence === 'string') expect(stderr).toBe(`${sentence}\n`);
    else expect(stderr).toMatch(sentence);
  });
});

it.each([
  ['catalog', ['check', 'absent.json'], 'absent.json: no such file or directory'],
  ['catalog', ['hash', 'docs'], 'docs: it is a directory'],
  ['receipts', ['verify', 'absent.json'], 'absent.json: no such file or directory'],
  ['receipts', ['verify', 'docs'], 'docs: it is a directory'],
  ['release', ['policy', '/nope', '--dry-run'], '/nope: no such file or directory'],
  ['release', ['policy', 'docs', '--dry-run'], 'docs: it is a directory'],
] as const)('%s %j says in words why it cannot read a file', async (script, argv, reason) => {
  expect(await run(script, ...argv)).toEqual({ code: 1, stdout: '', stderr: `cannot read ${reason}\n` });
});

it('a program without its subcommand is wrong usage, answered by its help', async () => {
  const { code, stdout, stderr } = await run('gates');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^Usage: npm run gates -- /);
});

it('a name that is repeated in a list counts once', () => {
  expect(list('x,y,x')).toEqual(['x', 'y']);
});
