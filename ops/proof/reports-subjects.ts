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

/** How long an improvement run may take until the suite goes on without it. */
const RUN_PATIENCE_MS = 180_000;
const POLL_MS = 250;

type Run = Pick<z.infer<typeof improvementRun>, 'improvementRunId' | 'sourceKeys'>;

/** Every resource of the reports service that the suite asks for, at least one for each route. */
export function reportsSubjects(target: Target): readonly Subject[] {
  const runs = new Map<string, Promise<Result<Run, string>>>();
  const runOf = (tenant: Tenant): Promise<Result<Run, string>> => {
    const begun = runs.get(tenant.side) ?? beginRun(target, tenant);
    runs.set(tenant.side, begun);
    return begun;
  };
  const ofRun = async (
    tenant: Tenant,
    ask: (run: Run) => Ask | undefined,
    lacking = '',
  ): Promise<Result<Ask, string>> => {
    const run = await runOf(tenant);
    if (!run.ok) return run;
    const asked = ask(run.value);
    return asked === undefined ? err(lacking) : ok(asked);
  };

  return [
    ...requestableTestKind.options.map((kind) =>
      named(`readAttemptReport.${kind}`, routes.readAttemptReport, `attempts/${kind}`, ({ attempts }) => ({
        path: { attemptId: attempts[kind] },
        query: { view: 'evidence' },
      })),
    ),
    named('readReadiness', routes.readReadiness, 'readinessAttemptId', ({ readinessAttemptId }) =>
      readinessAttemptId === undefined ? undefined : { path: { attemptId: readinessAttemptId } },
    ),
    named(
      'listCandidateReports',
      routes.listCandidateReports,
      'candidateSourcedId',
      ({ candidateSourcedId }) =>
        candidateSourcedId === undefined ? undefined : { path: { candidateSourcedId } },
    ),
    named('readClassCohort', routes.readClassCohort, 'classSourcedId', ({ classSourcedId }) =>
      classSourcedId === undefined ? undefined : { path: { classSourcedId } },
    ),
    named('readSchoolGradeCohort', routes.readSchoolGradeCohort, 'school', ({ school }) =>
      school === undefined ? undefined : { path: { ...school } },
    ),
    {
      // Visible to its whole tenant.
      ...named('readEquivalence', routes.readEquivalence, 'qtiTestId', ({ qtiTestId }) =>
        qtiTestId === undefined ? undefined : { path: { qtiTestId } },
      ),
      narrowed: false,
    },
    named('materializeAttemptReport', routes.materializeAttemptReport, 'materialize', ({ materialize }) =>
      materialize === undefined ? undefined : { body: { ...materialize } },
    ),
    named('analyzeAdministration', routes.analyzeAdministration, 'improvement', ({ improvement }) =>
      improvement === undefined ? undefined : { path: { administrationId: improvement.administrationId } },
    ),
    subject('readImprovementRun', routes.readImprovementRun, '/reports/improvement', (tenant) =>
      ofRun(tenant, ({ improvementRunId }) => ({
        route: routes.readImprovementRun,
        path: { improvementRunId },
      })),
    ),
    subject('readAlignmentReport', routes.readAlignmentReport, '/reports/improvement', (tenant) =>
      ofRun(
        tenant,
        ({ improvementRunId, sourceKeys: [sourceKey] }) =>
          sourceKey === undefined
            ? undefined
            : { route: routes.readAlignmentReport, path: { improvementRunId, sourceKey } },
        'the blueprint of /reports/improvement/administrationId has no source',
      ),
    ),
    subject('listRevisionOrders', routes.listRevisionOrders, '/reports/improvement', (tenant) =>
      ofRun(tenant, ({ improvementRunId }) => ({
        route: routes.listRevisionOrders,
        path: { improvementRunId },
      })),
    ),
  ];
}

function subject(name: string, route: Route, needs: string, own: Subject['own']): Subject {
  return { name, route, needs, own, narrowed: true, repeatable: true };
}

/** A subject whose ids are in the tenant's file. */
function named(
  name: string,
  route: Route,
  member: string,
  ask: (fixture: ReportsFixture) => Omit<Ask, 'route'> | undefined,
): Subject {
  return subject(name, route, `/reports/${member}`, ({ side, reports }) => {
    const asked = reports === undefined ? undefined : ask(reports);
    return Promise.resolve(
      asked === undefined
        ? err(`the file of tenant ${side} has no /reports/${member}`)
        : ok({ route, ...asked }),
    );
  });
}

const underWay: ReadonlySet<string> = new Set(['queued', 'analyzing']);

/** An improvement run of the tenant that has ended. */
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
