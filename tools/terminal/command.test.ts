import { Option } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { decimal, examples, exitCodeOf, exits, integer, list, program, text, UsageError } from './command.ts';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
  readonly values: unknown;
}

async function run(
  command: CommandUnknownOpts,
  argv: readonly string[],
  values: () => unknown,
): Promise<Ended> {
  let [out, error] = ['', ''];
  const output = {
    writeOut: (piece: string) => {
      out += piece;
    },
    writeErr: (piece: string) => {
      error += piece;
    },
  };
  for (const each of [command, ...command.commands]) each.configureOutput(output);
  const code = await exitCodeOf(command, argv);
  return { code, out, error, values: values() };
}

function example(...argv: string[]): Promise<Ended> {
  let values: unknown;
  const command = program('npm run example --', 'An example.')
    .option('--tenant <T>', 'whose', text)
    .option('--port <N>', 'where', integer(0, 65_535), 4010)
    .option(
      '--share <P>',
      'how much',
      decimal('from 0 to 1', (share) => share >= 0 && share <= 1),
    )
    .option('--ids <a,b>', 'which', list)
    .addOption(
      new Option('--mode <MODE>', 'how').choices(['fast', 'careful'] as const).default('fast' as const),
    )
    .option('--loud', 'says more')
    .addHelpText('after', examples('npm run example -- --loud'))
    .action(
      exits((options) => {
        values = options;
        if (options.port === 1) return err('the port is taken');
        return options.port === 2 ? err(new UsageError('--port 2 needs --loud')) : ok(undefined);
      }),
    );
  return run(command, argv, () => values);
}

function grouped(...argv: string[]): Promise<Ended> {
  let values: unknown;
  const command = program('npm run group --', 'A group.');
  const done = (found: unknown) => {
    values = found;
    return ok(undefined);
  };
  command
    .command('show')
    .option('--stage <S>', 'which', text)
    .action(exits((options) => done({ show: options })));
  command
    .command('apply')
    .argument('<FILE>')
    .option('--dry-run', 'writes nothing')
    .action(exits((file, options) => Promise.resolve(done({ apply: file, ...options }))));
  return run(command, argv, () => values);
}

describe('a program', () => {
  it('reads values after a space and after an equals sign', async () => {
    expect(await example()).toEqual({ code: 0, out: '', error: '', values: { port: 4010, mode: 'fast' } });
    const given = ['--port=0', '--ids', 'x,y,x', '--mode=careful', '--loud', '--share', '5e-1'];
    const { values } = await example('--tenant', 'a b', ...given);
    expect(values).toEqual({
      tenant: 'a b',
      port: 0,
      ids: ['x', 'y'],
      mode: 'careful',
      loud: true,
      share: 0.5,
    });
  });

  it.each([
    [['--prot', '1'], /unknown option '--prot'. Did you mean --port\?/],
    [['-p', '1'], /unknown option '-p'/],
    [['--port', '65536'], /'--port <N>'.* a whole number from 0 to 65535/],
    [['--port', '1e3'], /a whole number/],
    [['--port', '-1'], /a whole number/],
    [['--port'], /'--port <N>' argument missing/],
    [['--share', '1.1'], /a number from 0 to 1/],
    [['--share', '1.1.1'], /a number from 0 to 1/],
    [['--tenant', '--loud'], /The value is missing/],
    [['--tenant='], /must not be empty/],
    [['--mode', 'slow'], /Allowed choices are fast, careful/],
    [['--ids', 'a,,b'], /names separated by commas/],
    [['--port', '3', '--port', '4'], /--port is given twice/],
    [['--loud', '--loud'], /--loud is given twice/],
    [['--toString', 'x'], /unknown option '--toString'/],
    [['stray'], /too many arguments/],
    [['--port', '2'], /^--port 2 needs --loud\n$/],
  ])('refuses %j with exit code 2 and one line that says why', async (argv, message) => {
    const { code, out, error } = await example(...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toMatch(message);
    expect(error).toMatch(/^(?!error: )[^\n]+\n$/);
  });

  it('exits with 1 and the sentence when the command fails', async () => {
    expect(await example('--port', '1')).toMatchObject({ code: 1, out: '', error: 'the port is taken\n' });
  });

  it('answers --help whatever else is wrong', async () => {
    const { code, out, error } = await example('--port', 'x', '--prot', '--help');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toContain('Usage: npm run example -- [options]');
    expect(out).toMatch(/--port <N> +where \(default: 4010\)/);
    expect(out).toMatch(/--loud +says more\n/);
    expect(out).toContain('npm run example -- --loud');
  });
});

describe('a program with subcommands', () => {
  it.each([
    [['show', '--stage', 'apply'], { show: { stage: 'apply' } }],
    [['--stage', 'apply', 'show'], { show: { stage: 'apply' } }],
    [['apply', 'a.json', '--dry-run'], { apply: 'a.json', dryRun: true }],
    [['--dry-run', 'apply', 'a.json'], { apply: 'a.json', dryRun: true }],
  ])('takes the subcommand before and after its options: %j', async (argv, values) => {
    expect(await grouped(...argv)).toMatchObject({ code: 0, values });
  });

  it.each([
    [['\u001B[2J'], /^unknown command '\u{fffd}\[2J'\n$/u],
    [['aply', 'a.json'], /unknown command 'aply'. Did you mean apply\?/],
    [['apply'], /missing: FILE/],
    [['apply', 'a', 'b'], /too many arguments/],
    [['show', '--dry-run'], /unknown option '--dry-run'/],
    [[], /Usage: npm run group --/],
  ])('refuses %j with exit code 2', async (argv, message) => {
    const { code, out, error } = await grouped(...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toMatch(message);
  });

  it('shows every option in its own help, and a subcommand’s in that one’s', async () => {
    const whole = await grouped('--help');
    expect(whole.code).toBe(0);
    for (const text of ['show [options]', 'apply [options] <FILE>', '--stage <S>', '--dry-run'])
      expect(whole.out).toContain(text);
    const { out } = await grouped('show', '--help');
    expect(out).toContain('--stage <S>');
    expect(out).not.toContain('--dry-run');
  });
});
