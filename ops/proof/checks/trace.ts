import { randomBytes } from 'node:crypto';
import { outcomeOf, type Check, type Outcome } from '../check.ts';
import { bodyOf, successFindings } from '../replies.ts';
import { about, directionsOf, titleOf, type Direction, type Subject, type Suite } from '../suite.ts';
import type { Reply } from '../target.ts';
import { foreignFindings } from './reads.ts';

/** Concurrent pairs of requests. */
const PAIRS = 4;

/**
 * A trace that both tenants send does not mix their data, and every request has its own id [RP-024, RP-073, RP-327].
 */
export function traceChecks(suite: Suite): readonly Check[] {
  const reads = suite.subjects.filter(({ route, repeatable }) => repeatable && route.method === 'GET');
  return [
    ...directionsOf(suite).flatMap((direction) =>
      reads.map((subject): Check => ({
        group: 'trace',
        subject: subject.name,
        side: direction.side,
        title: 'with the same trace, each tenant gets its own resource and its own request ids',
        asked: `${titleOf(subject)} by ${direction.owner.side} and then by ${direction.asker.side}, each for its own resource, with the same traceparent; ${direction.asker.side} sends ${direction.owner.side}’s request id`,
        run: () => follow(suite, subject, direction),
      })),
    ),
    ...reads.slice(0, 1).map((subject): Check => ({
      group: 'trace',
      subject: 'concurrent',
      side: 'both',
      title: 'concurrent requests of both tenants do not mix',
      asked: `${titleOf(subject)} by A and B for their own resources, ${PAIRS} of each at the same time, with the same traceparent`,
      run: () => concur(suite, subject),
    })),
  ];
}

function traceparent(): string {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
}

async function follow(suite: Suite, subject: Subject, { asker, owner }: Direction): Promise<Outcome> {
  const [theirs, mine] = [await subject.own(owner), await subject.own(asker)];
  if (!theirs.ok) return outcomeOf([theirs.error]);
  if (!mine.ok) return outcomeOf([mine.error]);
  const trace = traceparent();
  const first = await suite.target.send(theirs.value, {
    token: owner.full,
    headers: { traceparent: trace },
  });
  const known = requestIdOf(first);
  const second = await suite.target.send(mine.value, {
    token: asker.full,
    headers: {
      traceparent: trace,
      ...(known === undefined ? {} : { 'X-Request-Id': known, 'X-Amzn-RequestId': known }),
    },
  });
  return outcomeOf([
    ...about(owner.side, successFindings(theirs.value, first)),
    ...about(asker.side, successFindings(mine.value, second)),
    ...correlationFindings(owner.side, first),
    ...correlationFindings(asker.side, second),
    ...(known !== undefined && known === requestIdOf(second)
      ? [`${asker.side}’s response has the request id of ${owner.side}’s`]
      : []),
    ...foreignFindings(suite, owner, first),
    ...foreignFindings(suite, asker, second),
  ]);
}

async function concur(suite: Suite, subject: Subject): Promise<Outcome> {
  const asks = await Promise.all(
    [suite.a, suite.b].map(async (tenant) => ({ tenant, ask: await subject.own(tenant) })),
  );
  const headers = { traceparent: traceparent() };
  const findings = await Promise.all(
    Array.from({ length: PAIRS }, () => asks)
      .flat()
      .map(async ({ tenant, ask }) => {
        if (!ask.ok) return [ask.error];
        const reply = await suite.target.send(ask.value, { token: tenant.full, headers });
        return [
          ...about(tenant.side, successFindings(ask.value, reply)),
          ...correlationFindings(tenant.side, reply),
          ...foreignFindings(suite, tenant, reply),
        ];
      }),
  );
  return outcomeOf([...new Set(findings.flat())]);
}

function requestIdOf({ headers }: Reply): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

/** Header and body have the same request id. */
function correlationFindings(whose: string, reply: Reply): readonly string[] {
  const named = bodyOf(reply)['requestId'];
  const header = requestIdOf(reply);
  if (header === undefined) return [`${whose}’s response has no X-Request-Id`];
  return named === undefined || named === header
    ? []
    : [`${whose}’s response has different request ids in its body and in X-Request-Id`];
}
