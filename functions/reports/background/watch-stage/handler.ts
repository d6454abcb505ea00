import type { ScheduledHandler } from '#functions/reports/background/invocation.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { ok } from '#shared/kernel/result.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { checkable, type Checkable, type Proof } from '#shared/lambda/version-check.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { cloudFormationOf } from '#shared/stage-checks/clients.ts';
import type { Subject } from '#shared/stage-checks/finding.ts';
import { scheduled } from '#shared/stage-checks/scheduled.ts';
import { readStacks } from '#shared/stage-checks/stacks.ts';
import { createWatchFunction } from './watch-stage.ts';

/** Watches the stage, bound to a runtime. */
export function bind(runtime: Runtime): Checkable<ScheduledHandler> {
  const work = createWatchFunction(scheduled, () => openSubject(runtime), runtime);
  // It needs its settings; what it may read, it only reads when it works.
  const prove = (): Promise<readonly Proof[]> => {
    openSubject(runtime);
    return Promise.resolve([{ of: 'environment' }]);
  };
  return checkable(runtime, prove, work);
}

export const handler = bind(processRuntime());

/** Returns the stage as it is now: its stacks are read once. */
function openSubject({ environment, aws, now, fetch }: Runtime): Subject {
  const { STAGE, SETTINGS_TABLE, STAGE_SETTINGS } = readEnvironment(
    ['STAGE', 'SETTINGS_TABLE', 'STAGE_SETTINGS'],
    environment,
  );
  let stacks: ReturnType<Subject['stacks']> | undefined;
  return {
    // SAFETY: the stacks render it from these very settings.
    stage: { name: STAGE, config: JSON.parse(STAGE_SETTINGS) as Subject['stage']['config'] },
    aws,
    table: () => Promise.resolve(ok(SETTINGS_TABLE)),
    stacks: () => (stacks ??= readStacks((id) => aws(cloudFormationOf(id)), STAGE)),
    now: now(),
    fetch,
  };
}
