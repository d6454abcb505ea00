import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { outcomeOf, type Check, type Outcome } from '../check.ts';
import { bodyOf, successFindings } from '../replies.ts';
import { sendOwn, titleOf, type Subject, type Suite } from '../suite.ts';
import type { Ask, Reply } from '../target.ts';
import { idsOf, type Tenant } from '../tenant-file.ts';

/** Every open route returns each tenant's own resource as the contract describes it [RP-024]. The matrix covers attempt reports. */
export function readChecks(suite: Suite): readonly Check[] {
  return suite.subjects
    .filter(({ route, repeatable }) => repeatable && route.operationId !== 'readAttemptReport')
    .flatMap((subject) =>
      [suite.a, suite.b].map((tenant): Check => ({
        group: 'reads',
        subject: subject.name,
        side: tenant.side,
        title:
          subject.route === listCandidateReports
            ? 'the tenant’s own list has every row once, page by page, all of the same candidate'
            : 'the tenant’s own resource is returned as the contract describes it',
        asked: `${titleOf(subject)} by ${tenant.side} for its own resource`,
        run: () =>
          subject.route === listCandidateReports
            ? walk(suite, subject, tenant)
            : read(suite, subject, tenant),
      })),
    );
}

async function read(suite: Suite, subject: Subject, tenant: Tenant): Promise<Outcome> {
  const ask = await subject.own(tenant);
  if (!ask.ok) return outcomeOf([ask.error]);
  const reply = await sendOwn(suite, subject, tenant, ask.value);
  const findings = successFindings(ask.value, reply);
  return outcomeOf(
    findings.length > 0
      ? findings
      : [...echoFindings(ask.value, reply), ...foreignFindings(suite, tenant, reply)],
  );
}

/** Pages of one row that are walked; the second is the first that a cursor leads to. */
const MOST_PAGES = 5;

async function walk(suite: Suite, subject: Subject, tenant: Tenant): Promise<Outcome> {
  const own = await subject.own(tenant);
  if (!own.ok) return outcomeOf([own.error]);
  const seen = new Set<string>();
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES && (pages === 0 || cursor !== null); pages += 1) {
    const ask: Ask = { ...own.value, query: { limit: '1', ...(cursor === null ? {} : { cursor }) } };
    const reply = await suite.target.send(ask, { token: tenant.full });
    const findings = [...successFindings(ask, reply), ...foreignFindings(suite, tenant, reply)];
    const page = listCandidateReports.success.schema.safeParse(bodyOf(reply));
    if (findings.length > 0 || !page.success) return outcomeOf(findings);
    for (const { attemptId, candidateSourcedId } of page.data.data) {
      if (candidateSourcedId !== own.value.path?.['candidateSourcedId'])
        return outcomeOf(['a row belongs to a different candidate']);
      if (seen.size === seen.add(attemptId).size) return outcomeOf(['a row is on two pages']);
    }
    cursor = page.data.nextCursor;
    if (pages === 0 && cursor === null)
      return outcomeOf([
        'the candidate has fewer than two reports, so there is no cursor: set /reports/candidateSourcedId to another one',
      ]);
  }
  return outcomeOf([]);
}

/** The response repeats the ids of the request unchanged [RP-005]. */
function echoFindings({ path, body }: Ask, reply: Reply): readonly string[] {
  const answered = bodyOf(reply);
  const report = answered['report'];
  const nested = typeof report === 'object' && report !== null ? (report as Record<string, unknown>) : {};
  const scope = answered['scope'];
  const within = typeof scope === 'object' && scope !== null ? (scope as Record<string, unknown>) : {};
  const known: Readonly<Record<string, unknown>> = { ...nested, ...within, ...answered };
  return Object.entries({ ...path, ...body }).flatMap(([name, value]) =>
    known[name] === undefined || known[name] === value ? [] : [`the response has a different ${name}`],
  );
}

/** A response contains no id of the other tenant. */
export function foreignFindings(suite: Suite, tenant: Tenant, { text }: Reply): readonly string[] {
  const other = tenant.side === 'A' ? suite.b : suite.a;
  const named = [...idsOf(other)].filter(([, id]) => says(text, id));
  return [
    ...named.map(([place]) => `the response contains ${place} of ${other.side}`),
    ...(says(text, other.tenantId) ? [`the response contains the tenant id of ${other.side}`] : []),
  ];
}

/** Shorter ids are searched for as whole values, because they can be part of other words by chance. */
const TELLING_LENGTH = 8;

function says(text: string, id: string): boolean {
  const quoted = JSON.stringify(id);
  return text.includes(id.length < TELLING_LENGTH ? quoted : quoted.slice(1, -1));
}
