import { expect, it } from 'vitest';
import type { StageConfigs } from './stage.ts';
import { stageNamed, stages } from './stages.ts';

it('no deployment is called local, since a rehearsal opens the stage of that name [RP-032]', () => {
  // @ts-expect-error a deployment of that name does not compile
  const named = { local: stages.prod } satisfies StageConfigs;
  expect(Object.keys(named).filter((name) => name in stages)).toEqual([]);
  expect(stageNamed('local')).toMatchObject({ ok: false });
});
