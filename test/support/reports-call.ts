import { expect } from 'vitest';
import { instantiateSeed } from '#local/seeds/instantiate.ts';
import type { TenantFixtures } from '#shared/stage/description.ts';
import type { AttemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { reportsProblem, type ReportsProblem } from '#shared/contract/reports/problem.ts';
import type { Route } from '#shared/contract/route.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { callGateway, type GatewayCall, type GatewayReply } from './gateway-call.ts';
import type { TestStack } from './stack.ts';

type Fixtures = TenantFixtures['reports'];

/** The routes that read reports. Materializing has tables of its own, since it writes; improvement runs too, since they begin with a write. */
export const reportReads: readonly Route[] = routesOf('reports').filter(
  ({ method, gates }) => method === 'GET' && !gates.includes('F'),
);

/** A caller of the reports service on one stack. */
export interface ReportsCaller {
  /** Sends one request; unless it says otherwise, with the claims to everything that its tenant's fixtures name. */
  readonly call: (route: Route, call: GatewayCall) => Promise<GatewayReply>;
  /** Ids of a tenant to call the routes with. */
  readonly fixtures: (tenantId: string) => Fixtures;
}

/** Opens a caller of the reports service. */
export function openReportsCaller(stack: Pick<TestStack, 'urls' | 'tokenFor' | 'seed'>): ReportsCaller {
  const known = new Map<string, Fixtures>();
  const fixtures = (tenantId: string): Fixtures => {
    const found = known.get(tenantId) ?? instantiateSeed(stack.seed, tenantId).fixtures.reports;
    known.set(tenantId, found);
    return found;
  };
  return {
    fixtures,
    call: (route, call) =>
      callGateway(stack, stack.urls.reportsUrl, route, {
        claims: claimsToAll(fixtures(call.tenantId ?? 'tenant-aurora')),
        ...call,
      }),
  };
}

/** The claims to everything that a tenant's fixtures name. */
export function claimsToAll({
  students,
  classes,
  schools,
  administrations,
  special,
}: Fixtures): NonNullable<GatewayCall['claims']> {
  const schoolGrades = [...schools, ...special.schoolsWithoutRollup, ...special.schoolsWithheld];
  return {
    studentIds: [...new Set([...students, ...special.studentsDeleted])],
    classSourcedIds: [
      ...classes,
      ...special.classesWithoutRollup,
      ...special.classesWithheld,
      ...special.classesDeleted,
    ],
    schoolSourcedIds: [...new Set(schoolGrades.map(({ schoolSourcedId }) => schoolSourcedId))],
    administrationIds: [...administrations, ...Object.values(special.administrations)],
  };
}

/** The problem of an answer, held against the envelope. */
export function reportsProblemOf({ status, headers, text }: GatewayReply): ReportsProblem {
  expect(headers.get('content-type')).toBe('application/problem+json');
  const document = reportsProblem.parse(JSON.parse(text));
  expect(document.status).toBe(status);
  return document;
}

/** An answer in one line for tables of expectations: status, problem and the owner that it names. */
export function reportsAnswerOf(reply: GatewayReply): string {
  if (reply.status < 400) return `${reply.status}`;
  const { status, type, dependency } = reportsProblemOf(reply);
  return [status, type.split('/').at(-1), ...(dependency === null ? [] : [dependency])].join(' ');
}

/** Whether a success of a request under a key says that its operation had been begun before. */
export function isReplayed(reply: GatewayReply): boolean {
  expect(reportsAnswerOf(reply)).toBe('200');
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('cache-control')).toBe('no-store, no-transform');
  const replayed = reply.headers.get('idempotent-replayed');
  expect([null, 'true']).toContain(replayed);
  return replayed === 'true';
}

/** Query parameters as they follow a path. */
export function queryOf(parameters: Readonly<Record<string, string>>): string {
  return `?${new URLSearchParams(parameters).toString()}`;
}

/** Every page of a candidate's list, first to last; none of them is empty while more follow. */
export async function candidatePages(
  caller: ReportsCaller,
  call: GatewayCall,
  parameters: Readonly<Record<string, string>> = {},
): Promise<readonly AttemptReportPage[]> {
  const pages: AttemptReportPage[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = queryOf({ ...parameters, ...(cursor === undefined ? {} : { cursor }) });
    const reply = await caller.call(listCandidateReports, { ...call, query });
    expect([query, reportsAnswerOf(reply)]).toEqual([query, '200']);
    const page = listCandidateReports.success.schema.parse(JSON.parse(reply.text));
    expect(page.hasMore).toBe(page.nextCursor !== null);
    if (page.hasMore) expect(page.data).not.toEqual([]);
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}
