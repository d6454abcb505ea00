import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import { requestableTestKind } from '#shared/contract/reports/attempt-report.ts';
import { improvementRun } from '#shared/contract/reports/improvement-run.ts';
import { reportsRoutes as routes } from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { bodyOf, describeReply } from './replies.ts';
import type { Subject } from './suite.ts';
import type { Ask, Target } from './target.ts';
import type { ReportsFixture, Tenant } from './tenant-file.ts';

/** How long an improvement run may take until the suite continues without it. */
const RUN_PATIENCE_MS = 180_000;
const POLL_MS = 250;

type Run = Pick<z.infer<typeof improvementRun>, 'improvementRunId' | 'sourceKeys'>;

/** Returns every resource of the reports service that the suite asks for, at least one for each route. */
export function reportsSubjects(target: Target): readonly Subject[] {
  const runs = new Map<string, Promise<Result<Run, string>>>();
  const runOf = (tenant: Tenant): Promise<Result<Run, string>> => {
    const run = runs.get(tenant.side) ?? beginRun(target, tenant);
    runs.set(tenant.side, run);
    return run;
  };
  const ofRun = (route: Route, ask: (run: Run) => Result<Omit<Ask, 'route'>, string>): Subject =>
    subject(route.operationId, route, '/reports/improvement', async (tenant) => {
      const run = await runOf(tenant);
      if (!run.ok) return run;
      const asked = ask(run.value);
      return asked.ok ? ok({ route, ...asked.value }) : asked;
    });

  return [
    ...requestableTestKind.options.map((kind) =>
      named(
        routes.readAttemptReport,
        'attempts',
        ({ [kind]: attemptId }) => ({ path: { attemptId }, query: { view: 'evidence' } }),
        kind,
      ),
    ),
    named(routes.readReadiness, 'readinessAttemptId', (attemptId) => ({ path: { attemptId } })),
    named(routes.listCandidateReports, 'candidateSourcedId', (candidateSourcedId) => ({
      path: { candidateSourcedId },
    })),
    named(routes.readClassCohort, 'classSourcedId', (classSourcedId) => ({ path: { classSourcedId } })),
    named(routes.readSchoolGradeCohort, 'school', (school) => ({ path: { ...school } })),
    // Visible to its whole tenant.
    {
      ...named(routes.readEquivalence, 'qtiTestId', (qtiTestId) => ({ path: { qtiTestId } })),
      narrowed: false,
    },
    named(routes.materializeAttemptReport, 'materialize', (materialize) => ({ body: { ...materialize } })),
    named(routes.analyzeAdministration, 'improvement', ({ administrationId }) => ({
      path: { administrationId },
    })),
    ofRun(routes.readImprovementRun, ({ improvementRunId }) => ok({ path: { improvementRunId } })),
    ofRun(routes.readAlignmentReport, ({ improvementRunId, sourceKeys: [sourceKey] }) =>
      sourceKey === undefined
        ? err('the blueprint of /reports/improvement/administrationId has no source')
        : ok({ path: { improvementRunId, sourceKey } }),
    ),
    ofRun(routes.listRevisionOrders, ({ improvementRunId }) => ok({ path: { improvementRunId } })),
  ];
}

function subject(name: string, route: Route, needs: string, own: Subject['own']): Subject {
  return { name, route, needs, own, narrowed: true, repeatable: true };
}

/** Makes a subject whose ids are in one member of the tenant's file. */
function named<Member extends keyof ReportsFixture>(
  route: Route,
  member: Member,
  ask: (value: NonNullable<ReportsFixture[Member]>) => Omit<Ask, 'route'>,
  kind?: string,
): Subject {
  const name = kind === undefined ? route.operationId : `${route.operationId}.${kind}`;
  const place = kind === undefined ? `/reports/${member}` : `/reports/${member}/${kind}`;
  return subject(name, route, place, ({ side, reports }) => {
    const value = reports?.[member];
    return Promise.resolve(
      value === undefined ? err(`the file of tenant ${side} has no ${place}`) : ok({ route, ...ask(value) }),
    );
  });
}

const underWay: ReadonlySet<string> = new Set(['queued', 'analyzing']);

/** Returns an improvement run of the tenant that has ended. */
async function beginRun(target: Target, { side, full, reports }: Tenant): Promise<Result<Run, string>> {
  const administrationId = reports?.improvement?.administrationId;
  if (administrationId === undefined)
    return err(`the file of tenant ${side} has no /reports/improvement/administrationId`);
  let reply = await target.send(
    { route: routes.analyzeAdministration, path: { administrationId } },
    { token: full },
  );
  for (const until = Date.now() + RUN_PATIENCE_MS; ;) {
    const run = improvementRun.safeParse(bodyOf(reply));
    if (reply.status !== 200 || !run.success)
      return err(`no improvement run of tenant ${side}: ${describeReply('reports', reply)}`);
    if (!underWay.has(run.data.status)) return ok(run.data);
    if (Date.now() > until)
      return err(`the improvement run of tenant ${side} has not ended within ${RUN_PATIENCE_MS / 1000} s`);
    await sleep(POLL_MS);
    const { improvementRunId } = run.data;
    reply = await target.send(
      { route: routes.readImprovementRun, path: { improvementRunId } },
      { token: full },
    );
  }
}
