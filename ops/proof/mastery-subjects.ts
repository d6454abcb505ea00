import type * as z from 'zod';
import { adaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { masteryRoutes as routes } from '#shared/contract/mastery/routes.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { bodyOf, describeReply } from './replies.ts';
import type { Subject } from './suite.ts';
import type { Ask, Target } from './target.ts';
import type { Tenant } from './tenant-file.ts';

/** A run as its last answer showed it. */
export interface StartedRun {
  readonly run: z.infer<typeof adaptiveRun>;
  /** Strong entity tag: what the next advance sends. */
  readonly etag: string;
}

/** Returns every resource of the mastery engine that the suite asks for, one for each route. */
export function masterySubjects(target: Target): readonly Subject[] {
  const runs = new Map<string, Promise<Result<StartedRun, string>>>();
  const runOf = (tenant: Tenant): Promise<Result<StartedRun, string>> => {
    const run = runs.get(tenant.side) ?? beginRun(target, tenant);
    runs.set(tenant.side, run);
    return run;
  };
  const ofFixture = (
    tenant: Tenant,
    ask: (fixture: NonNullable<Tenant['mastery']>) => Ask,
  ): Result<Ask, string> =>
    tenant.mastery === undefined
      ? err(`the file of tenant ${tenant.side} has no /mastery`)
      : ok(ask(tenant.mastery));
  const ofRun =
    (ask: (state: StartedRun, tenant: Tenant) => Result<Ask, string>): Subject['own'] =>
    async (tenant) => {
      const state = await runOf(tenant);
      return state.ok ? ask(state.value, tenant) : state;
    };
  const subject = (route: Ask['route'], own: Subject['own'], repeatable = true): Subject => ({
    name: route.operationId,
    route,
    needs: '/mastery',
    narrowed: false,
    repeatable,
    own,
  });

  return [
    subject(routes.startAdaptiveRun, (tenant) => Promise.resolve(startAsk(tenant))),
    subject(
      routes.inspectAdaptiveRun,
      ofRun((state) => ok(inspectAsk(state))),
    ),
    subject(
      routes.advanceAdaptiveRun,
      ofRun((state) => ok(advanceAsk(state))),
      false,
    ),
    subject(routes.readSelectionPolicy, (tenant) =>
      Promise.resolve(
        ofFixture(tenant, ({ selectionPolicyId }) => ({
          route: routes.readSelectionPolicy,
          path: { policyId: selectionPolicyId },
        })),
      ),
    ),
    subject(routes.readScaleCalibration, (tenant) =>
      Promise.resolve(
        ofFixture(tenant, ({ scaleCalibrationId }) => ({
          route: routes.readScaleCalibration,
          path: { calibrationId: scaleCalibrationId },
        })),
      ),
    ),
    subject(
      routes.simulateScoreRecovery,
      ofRun((state, tenant) => simulationAsk(tenant, state)),
    ),
  ];
}

/** Returns the start of a run over synthetic facts only: no learner has a result of it [MA-013]. */
export function startAsk({ side, mastery }: Tenant): Result<Ask, string> {
  if (mastery === undefined) return err(`the file of tenant ${side} has no /mastery`);
  return ok({ route: routes.startAdaptiveRun, body: { ...mastery, runMode: 'owner_conformance' } });
}

export function inspectAsk({ run }: StartedRun): Ask {
  return { route: routes.inspectAdaptiveRun, body: { continuationToken: run.continuationToken } };
}

export function advanceAsk({ run, etag }: StartedRun): Ask {
  return {
    route: routes.advanceAdaptiveRun,
    body: { continuationToken: run.continuationToken },
    ifMatch: etag,
  };
}

/** Returns one simulated learner, of whom one component is known that a run over the same test has shown. */
function simulationAsk({ side, mastery }: Tenant, { run }: StartedRun): Result<Ask, string> {
  const [first] = run.kcClassifications;
  if (mastery === undefined) return err(`the file of tenant ${side} has no /mastery`);
  if (first === undefined) return err('the run has no knowledge component');
  const knownMastery = { [first.caseCompetencyGuid]: 0.5 };
  return ok({
    route: routes.simulateScoreRecovery,
    body: { ...mastery, profiles: [{ syntheticProfileId: 'synthetic:proof', knownMastery }] },
  });
}

/** Reads the run of an answer. err: why it has none. */
export function startedRunOf(reply: Parameters<typeof bodyOf>[0]): Result<StartedRun, string> {
  const run = adaptiveRun.safeParse(bodyOf(reply));
  const etag = reply.headers.get('etag');
  if (reply.status >= 400 || !run.success)
    return err(`cannot start a run: ${describeReply('mastery', reply)}`);
  return etag === null ? err('the run has no ETag') : ok({ run: run.data, etag });
}

async function beginRun(target: Target, tenant: Tenant): Promise<Result<StartedRun, string>> {
  const ask = startAsk(tenant);
  return ask.ok ? startedRunOf(await target.send(ask.value, { token: tenant.full })) : ask;
}
