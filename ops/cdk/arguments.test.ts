import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { deployArguments, synthArguments } from './arguments.ts';

describe('npm run synth', () => {
  it('passes everything on', () => {
    expect(synthArguments(['-c', 'gates=A,D', '--quiet', '--strict'])).toStrictEqual(
      ok({ argv: ['synth', '-c', 'gates=A,D', '--quiet', '--strict'], offline: true, profile: undefined }),
    );
    expect(synthArguments([])).toMatchObject(ok({ argv: ['synth'], offline: false }));
  });

  it.each<readonly [readonly string[], object]>([
    [['--profile', 'other', '--profile', 'mine'], { profile: 'mine' }],
    [['--profile=mine'], { profile: 'mine' }],
    // The names of the CDK are the CDK's.
    [['-c', '@aws-cdk/core:enablePartitionLiterals=true'], { offline: false }],
    [['-c', 'aws:cdk:disable-stack-trace=true'], { offline: false }],
    [['-c', 'gates='], { offline: true }],
    [['--context', 'gates='], { offline: true }],
    [['--context=gates='], { offline: true }],
    [['-cgates='], { offline: true }],
    [['-c=gates='], { offline: true }],
  ])('reads %j as the CDK does', (given, value) => {
    expect(synthArguments(given)).toMatchObject({ ok: true, value });
  });

  it.each([
    [['-c', 'gates=a'], /unknown gate "a"/],
    [['-c', 'gates'], /-c gates: expected name=value/],
    [['-c'], /-c needs name=value/],
    [['-c', 'gates=A', '-c', 'gates=B'], /-c gates is given twice/],
    [['-c', 'gate='], /-c gate=: unknown name "gate": expected first, gates or stage/],
    [['--context=Gates=A'], /unknown name "Gates": expected first, gates or stage/],
    [['-cstages=prod'], /unknown name "stages"/],
  ])('refuses %j before anything is bundled', (given, message) => {
    expect(synthArguments(given)).toStrictEqual(err(expect.stringMatching(message)));
  });
});

describe('npm run deploy', () => {
  it('tells its own options from those of the CDK, and stacks from values', () => {
    const given = [
      ...['Mastery', '-c', 'stage=prod', '--context=first=000000000000/us-east-1', '--profile', 'mine', '-y'],
      ...[
        '--role-arn',
        'arn',
        '--verbose',
        '--allow-replacement=Api1',
        '--allow-replacement',
        'Api2',
        '--all',
      ],
      ...['--progress', 'bar', '--without-profiles', 'Reports'],
    ];
    expect(deployArguments(given)).toMatchObject(
      ok({
        stage: { name: 'prod' },
        profile: 'mine',
        context: ['-c', 'stage=prod', '-c', 'first=000000000000/us-east-1'],
        stacks: ['Mastery', 'Reports'],
        yes: true,
        prepare: false,
        allowed: new Set(['Api1', 'Api2']),
        withoutProfiles: true,
        rest: ['--role-arn', 'arn', '--verbose'],
      }),
    );
  });

  it.each([
    [['--require-approval', 'never'], true],
    [['--require-approval=never'], true],
    [['--require-approval', 'broadening'], false],
    [[], false],
  ])('asks unless it is told not to: %j', (given, yes) => {
    expect(deployArguments(['-cstage=prod', ...given])).toMatchObject(ok({ yes, rest: [] }));
  });

  it.each([
    [['-c', 'stage=prod', '-c', 'gates=A'], /-c gates is only for npm run synth/],
    [['-c', 'stage=prod', '--context=gates='], /-c gates is only for npm run synth/],
    [['-c', 'stage=prod', '--method', 'direct'], /decides --method itself: for another way, use npx cdk/],
    [['-c', 'stage=prod', '--allow-replacement'], /--allow-replacement needs the logical id/],
  ])('refuses %j', (given, message) => {
    expect(deployArguments(given)).toStrictEqual(err(expect.stringMatching(message)));
  });
});
