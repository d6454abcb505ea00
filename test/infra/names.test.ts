import { describe, expect, it } from 'vitest';
import { stageNameDefect } from '#lib/names.ts';
import type { StageName } from '#shared/stage/stages.ts';
import { deployed, stage } from './deployed.ts';

describe('the name of a stage', () => {
  const longest = 'a'.repeat(64 - 'mastery-reports--materializeAttemptReport'.length);

  it('may be as long as the CDK takes for every name of its resources', () => {
    const synth = (name: string) => () => deployed({ stage: { ...stage('prod'), name: name as StageName } });
    expect(stageNameDefect(longest)).toBeUndefined();
    expect(synth(longest)).not.toThrow();
    expect(synth(`${longest}a`)).toThrow('can not be longer than 64 characters');
  });

  it('is refused where it is longer, with the longest that there may be', () => {
    expect(stageNameDefect(`${longest}a`)).toBe(
      `stage ${longest}a: the name has 24 characters, expected at most 23: Lambda takes 64 for mastery-reports-<stage>-materializeAttemptReport`,
    );
  });

  it.each(['Prod', 'eu_1', '1st', 'aws-prod', 'ssm', 'a.b'])(
    'is refused in a form that AWS refuses: %s',
    (name) => {
      expect(stageNameDefect(name)).toMatch(/^stage \S+: expected lower-case letters, digits and hyphens/);
    },
  );
});
