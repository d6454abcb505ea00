import { describe, expect, it } from 'vitest';
import { choice, flag, integer, list, parseCommandLine, renderHelp, text } from './command.ts';

const command = {
  usage: 'npm run example --',
  summary: 'An example.',
  options: {
    tenant: text('whose', 'T'),
    port: integer('where', 'N', { min: 0, max: 65_535 }, 4010),
    ids: list('which', 'a,b'),
    mode: choice('how', ['fast', 'careful'], 'fast'),
    loud: flag('says more'),
  },
} as const;

function parse(...argv: string[]): unknown {
  return parseCommandLine(command, argv);
}

describe('parseCommandLine', () => {
  it('gives every option its fallback when nothing is said', () => {
    expect(parse()).toStrictEqual({
      ok: true,
      value: {
        help: false,
        values: { tenant: undefined, port: 4010, ids: undefined, mode: 'fast', loud: false },
        positionals: [],
      },
    });
  });

  it('reads values after a space and after an equals sign', () => {
    expect(parse('--tenant', 'a b', '--port=0', '--ids', 'x,y,x', '--mode=careful', '--loud')).toStrictEqual({
      ok: true,
      value: {
        help: false,
        values: { tenant: 'a b', port: 0, ids: ['x', 'y'], mode: 'careful', loud: true },
        positionals: [],
      },
    });
  });

  it.each([
    [['--prot', '1'], /unknown option --prot; known are .*--port/],
    [['-p', '1'], /unknown option -p/],
    [['--port', '65536'], /--port must be a whole number from 0 to 65535/],
    [['--port', '1e3'], /--port must be a whole number/],
    [['--port', '-1'], /--port must be a whole number/],
    [['--port'], /--port needs a value: --port N/],
    [['--tenant', '--loud'], /--tenant needs a value/],
    [['--tenant='], /--tenant must not be empty/],
    [['--loud=yes'], /--loud takes no value/],
    [['--mode', 'slow'], /--mode must be one of fast, careful/],
    [['--ids', 'a,,b'], /--ids must be names separated by commas/],
    [['--port', '1', '--port', '2'], /--port is given twice/],
    [['--toString', 'x'], /unknown option --toString/],
    [['stray'], /unexpected argument "stray"/],
  ])('refuses %j and says why', (argv, message) => {
    expect(parse(...argv)).toMatchObject({ ok: false, error: expect.stringMatching(message) as string });
  });

  it('answers --help whatever else is wrong', () => {
    expect(parse('--prot', '--help')).toStrictEqual({ ok: true, value: { help: true } });
  });

  it('demands the positionals that a command names', () => {
    const withFile = { ...command, positionals: ['FILE'] };
    expect(parseCommandLine(withFile, [])).toStrictEqual({ ok: false, error: 'missing argument: FILE' });
    expect(parseCommandLine(withFile, ['a.json'])).toMatchObject({ value: { positionals: ['a.json'] } });
    expect(parseCommandLine(withFile, ['a.json', 'b'])).toMatchObject({ ok: false });
  });
});

describe('a command that takes any number of arguments', () => {
  const withRest = { ...command, positionals: ['FILE'], rest: 'MORE' };

  it('takes them after those that it needs', () => {
    expect(parseCommandLine(withRest, [])).toStrictEqual({ ok: false, error: 'missing argument: FILE' });
    for (const argv of [['a'], ['a', 'b', 'c']]) {
      expect(parseCommandLine(withRest, argv)).toMatchObject({ value: { positionals: argv } });
    }
    expect(renderHelp(withRest)).toContain('npm run example -- [options] FILE [MORE …]');
  });
});

describe('renderHelp', () => {
  it('names every option with its placeholder and default', () => {
    const help = renderHelp(command);
    expect(help).toContain('npm run example -- [options]');
    expect(help).toMatch(/--port N +where \(default 4010\)/);
    expect(help).toMatch(/--loud +says more\n/);
    expect(help).toMatch(/--help +shows this text/);
  });
});
