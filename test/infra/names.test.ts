import { describe, expect, it } from 'vitest';
import { stageNameDefect } from '#lib/names.ts';
import type { StageName } from '#shared/stage/stages.ts';
import { appOf, deployed, stage } from './deployed.ts';

// A synth takes seconds.
describe('the name of a stage', { timeout: 120_000 }, () => {
  const longest = 'a'.repeat(64 - 'mastery-reports--materializeAttemptReport'.length);

  it('may be as long as the CDK takes for every name of its resources', () => {
    const named = (name: string) => ({ stage: { ...stage('prod'), name: name as StageName } });
    expect(stageNameDefect(longest)).toBeUndefined();
    expect(stageNameDefect(`${longest}a`)).toMatch(/has 24 characters, expected at most 23: Lambda takes 64/);
    expect(() => deployed(named(longest))).not.toThrow();
    expect(() => appOf(named(`${longest}a`))).toThrow('can not be longer than 64 characters');
  });

  it.each(['Prod', 'eu_1', '1st', 'aws-prod', 'ssm', 'a.b'])(
    'is refused in a form that AWS refuses: %s',
    (name) => {
      expect(stageNameDefect(name)).toMatch(/^stage \S+: expected lower-case letters, digits and hyphens/);
    },
  );
});
