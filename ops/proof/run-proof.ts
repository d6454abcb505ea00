import { randomUUID } from 'node:crypto';
import type { ServiceName } from '#shared/contract/route.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { checkId, groups, outcomeOf, type Check, type Outcome } from './check.ts';
import { anonymousChecks } from './checks/anonymous.ts';
import { cacheChecks } from './checks/cache.ts';
import { cursorChecks } from './checks/cursor.ts';
import { claimChecks, denialChecks } from './checks/denial.ts';
import { idempotencyChecks } from './checks/idempotency.ts';
import { isolationChecks } from './checks/isolation.ts';
import { matrixChecks } from './checks/matrix.ts';
import { readChecks } from './checks/reads.ts';
import { runChecks } from './checks/run.ts';
import { selectorChecks } from './checks/selector.ts';
import { traceChecks } from './checks/trace.ts';
import { discoverRoutes, type FoundRoute } from './discover.ts';
import { openTranscript } from './transcript.ts';
import { masterySubjects } from './mastery-subjects.ts';
import { isSandbox, rehearsalMarks } from './rehearsal.ts';
import { describeReply } from './replies.ts';
import { reportsSubjects } from './reports-subjects.ts';
import { titleOf, type Play, type Subject, type Suite } from './suite.ts';
import { openTarget, type Target } from './target.ts';
import { describeUnfit, idsOf, type Tenant } from './tenant-file.ts';

export interface Row {
  readonly check: Omit<Check, 'run'>;
  readonly outcome: Outcome;
}

export interface ProofRun {
  readonly service: ServiceName;
  readonly target: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly tenants: readonly [Tenant, Tenant];
  readonly routes: readonly FoundRoute[];
  readonly rows: readonly Row[];
  /** What makes it a rehearsal, with or without the option; empty for a deployment. */
  readonly marks: readonly string[];
}

export interface ProofOptions {
  readonly service: ServiceName;
  /** Base URL of the service, without `/v1` and without a slash at the end. */
  readonly url: string;
  readonly a: Tenant;
  readonly b: Tenant;
  readonly play?: Play;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** Before each check, and once after the last. */
  readonly onProgress: (done: number, of: number, next: string | undefined) => void;
  /** Which checks are run; default all. */
  readonly only?: (id: string) => boolean;
}

/**
 * Runs the checks of a service against a deployment, one after the other: a response to one tenant must not reach the next request of the
 * other.
 * @returns err: why the deployment cannot be tested; a failed check is no error
 */
export async function runProof(options: ProofOptions): Promise<Result<ProofRun, string>> {
  const { service, url, a, b, clock, onProgress, only = () => true } = options;
  const unfit = describeUnfit(service, a, b);
  if (unfit !== undefined) return err(unfit);
  const transcript = openTranscript([a, b]);
  const target = openTarget(url, transcript.listen);
  try {
    const startedAt = formatInstant(clock());
    if (service === 'reports' && (await isSandbox(target)))
      return err(`${url} is the sandbox, which ignores tokens: test a deployment of the reports service`);
    const routes = await discoverRoutes(target, service, routesOf(service), a.full);
    if (!routes.ok) return routes;
    const subjects = openSubjects(target, service, routes.value);
    const refused = whyRefused(subjects, [a, b]) ?? (await whyUnauthorized(target, subjects, [a, b]));
    if (refused !== undefined) return err(refused);

    const suite: Suite = {
      service,
      nonce: randomUUID(),
      subjects,
      target,
      a,
      b,
      transcript,
      ...(options.play === undefined ? {} : { play: options.play }),
    };
    const checks = checksOf(suite, routes.value).filter((check) => only(checkId(check)));
    const rows: Row[] = [];
    for (const [done, check] of checks.entries()) {
      onProgress(done, checks.length, checkId(check));
      const { run, ...about } = check;
      rows.push({ check: about, outcome: await run() });
    }
    onProgress(checks.length, checks.length, undefined);
    const marks = await rehearsalMarks(url, [a, b], transcript);
    const finishedAt = formatInstant(clock());
    return ok({
      service,
      target: url,
      startedAt,
      finishedAt,
      tenants: [a, b],
      routes: routes.value,
      rows,
      marks,
    });
  } finally {
    target.close();
  }
}

/** Returns every check of a service, in the order in which they run. */
function checksOf(suite: Suite, routes: readonly FoundRoute[]): readonly Check[] {
  const reports = suite.service === 'reports';
  const all = [
    ...routeChecks(suite, routes),
    ...anonymousChecks(suite),
    ...(reports ? matrixChecks(suite) : runChecks(suite)),
    ...readChecks(suite),
    ...denialChecks(suite),
    ...claimChecks(suite),
    ...cacheChecks(suite),
    ...cursorChecks(suite),
    ...selectorChecks(suite),
    ...idempotencyChecks(suite),
    ...traceChecks(suite),
    ...isolationChecks(suite),
  ];
  return all.toSorted((one, other) => groups.indexOf(one.group) - groups.indexOf(other.group));
}

function routeChecks({ subjects }: Suite, routes: readonly FoundRoute[]): readonly Check[] {
  const known = new Set(subjects.map(({ route }) => route.operationId));
  return routes.map(({ route, open, outcome }) => ({
    group: 'routes',
    subject: route.operationId,
    side: 'both',
    title: 'the route returns 401 without a token, or the response of an unknown path',
    asked: `${titleOf({ route })} with random ids, without a token; with A’s token if that returns 404`,
    run: () => Promise.resolve(routeOutcome({ route, open, outcome }, known.has(route.operationId))),
  }));
}

/** Returns the outcome of a route; failed if the suite cannot test the route, or needs it and it is closed. */
function routeOutcome({ route, open, outcome }: FoundRoute, isKnown: boolean): Outcome {
  if (open && !isKnown) return outcomeOf(['the route is open, but this suite has no request for it']);
  return route.operationId === readAttemptReport.operationId && !open
    ? outcomeOf(['the route is not open, but the matrix of test kinds needs it'])
    : outcome;
}

function openSubjects(
  target: Target,
  service: ServiceName,
  routes: readonly FoundRoute[],
): readonly Subject[] {
  const open = new Set(routes.filter((found) => found.open).map(({ route }) => route.operationId));
  const all = service === 'reports' ? reportsSubjects(target) : masterySubjects(target);
  return all.filter(({ route }) => open.has(route.operationId));
}

/** Returns the members that open routes need and the files do not have. */
function whyRefused(subjects: readonly Subject[], tenants: readonly Tenant[]): string | undefined {
  const lacking = tenants.flatMap(({ side, reports, mastery }) => {
    const places = [...idsOf({ reports, mastery }).keys()];
    return subjects
      .filter(({ needs }) => !places.some((place) => place === needs || place.startsWith(`${needs}/`)))
      .map(({ needs, route }) => `  the file of tenant ${side} has no ${needs}, for ${titleOf({ route })}`);
  });
  return lacking.length === 0
    ? undefined
    : `the tenant files must have a resource for every open route:\n${lacking.join('\n')}`;
}

/** With a token that is not accepted, every other check would take a rejection for a denial. */
async function whyUnauthorized(
  target: Target,
  subjects: readonly Subject[],
  tenants: readonly Tenant[],
): Promise<string | undefined> {
  const subject = subjects.find(({ route }) => route.method === 'GET');
  for (const tenant of tenants) {
    for (const [name, token] of [
      ['full', tenant.full],
      ['withoutClaims', tenant.withoutClaims],
    ] as const) {
      if (subject === undefined || token === undefined) continue;
      const ask = await subject.own(tenant);
      if (!ask.ok) continue;
      const reply = await target.send(ask.value, { token });
      if (reply.status === 401 || reply.status === 403)
        return `the target rejected /tokens/${name} of tenant ${tenant.side}: ${describeReply(subject.route.service, reply)}`;
    }
  }
  return undefined;
}
