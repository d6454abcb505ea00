import { describe, expect, it } from 'vitest';
import { cdkArguments } from './arguments.ts';

describe('npm run synth', () => {
  it('passes everything on', () => {
    expect(cdkArguments('synth', ['-c', 'gates=A,D', '--quiet', '--strict'])).toStrictEqual({
      ok: true,
      value: { argv: ['synth', '-c', 'gates=A,D', '--quiet', '--strict'], offline: true, profile: undefined },
    });
    expect(cdkArguments('synth', [])).toMatchObject({
      ok: true,
      value: { argv: ['synth'], offline: false },
    });
  });

  it.each([[['--profile', 'other', '--profile', 'mine']], [['--profile=mine']]])(
    'knows the profile of %j',
    (given) => {
      expect(cdkArguments('synth', given)).toMatchObject({ ok: true, value: { profile: 'mine' } });
    },
  );

  it('leaves the names of the CDK to the CDK', () => {
    for (const pair of ['@aws-cdk/core:enablePartitionLiterals=true', 'aws:cdk:disable-stack-trace=true']) {
      expect(cdkArguments('synth', ['-c', pair])).toMatchObject({ ok: true, value: { offline: false } });
    }
  });

  it.each([
    [['-c', 'gates=']],
    [['--context', 'gates=']],
    [['--context=gates=']],
    [['-cgates=']],
    [['-c=gates=']],
  ])('knows an offline synth by %j', (given) => {
    expect(cdkArguments('synth', given)).toMatchObject({ ok: true, value: { offline: true } });
  });

  it.each([
    [['-c', 'gates=a'], /unknown gate "a"/],
    [['-c', 'gates'], /-c gates: expected name=value/],
    [['-c'], /-c needs name=value/],
    [['-c', 'gates=A', '-c', 'gates=B'], /-c gates is given twice/],
    [['-c', 'gate='], /-c gate=: unknown name "gate": expected first, gates or stage/],
    [['--context=Gates=A'], /unknown name "Gates": expected first, gates or stage/],
    [['-cstages=prod'], /unknown name "stages"/],
    [['-c', 'stage=production'], /unknown stage "production": expected sandbox-dev, staging, prod/],
  ])('refuses %j before anything is bundled', (given, message) => {
    expect(cdkArguments('synth', given)).toStrictEqual({
      ok: false,
      error: expect.stringMatching(message) as string,
    });
  });
});

describe('npm run deploy', () => {
  it.each([
    [['-c', 'stage=prod', '-c', 'gates=A'], /-c gates is only for npm run synth/],
    [['-c', 'stage=prod', '--context=gates='], /-c gates is only for npm run synth/],
    [[], /missing: -c stage=NAME/],
    [['-c', 'stage=prod'], /prod still has placeholder settings: token.issuer/],
  ])('refuses %j', (given, message) => {
    expect(cdkArguments('deploy', given)).toStrictEqual({
      ok: false,
      error: expect.stringMatching(message) as string,
    });
  });
});
