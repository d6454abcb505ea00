import { notAsked, outcomeOf, type Check, type Outcome } from '../check.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import { randomId } from '../random-ids.ts';
import { bodyOf, refusalFindings, successFindings } from '../replies.ts';
import { about, directionsOf, titleOf, type Direction, type Subject, type Suite } from '../suite.ts';
import type { Ask } from '../target.ts';
import { compareResponses } from '../compare-responses.ts';
import { foreignFindings } from './reads.ts';

const lists: ReadonlySet<string> = new Set([
  listCandidateReports.operationId,
  listRevisionOrders.operationId,
]);

/** Only the tenant that received a cursor can use it [RP-024, RP-208, RP-303]. */
export function cursorChecks(suite: Suite): readonly Check[] {
  return directionsOf(suite).flatMap((direction) =>
    suite.subjects
      .filter(({ route }) => lists.has(route.operationId))
      .map((subject) => ({
        group: 'cursor',
        subject: subject.name,
        side: direction.side,
        title: 'a cursor of one tenant is rejected for the other like a random cursor',
        asked: `${titleOf(subject)}?limit=1 by ${direction.owner.side}; that cursor by ${direction.asker.side} for its own list and for ${direction.owner.side}’s; each also with a random cursor`,
        run: () => lend(suite, subject, direction),
      })),
  );
}

async function lend(suite: Suite, subject: Subject, { asker, owner }: Direction): Promise<Outcome> {
  const [theirs, mine] = [await subject.own(owner), await subject.own(asker)];
  if (!theirs.ok) return outcomeOf([theirs.error]);
  if (!mine.ok) return outcomeOf([mine.error]);
  const { service, target } = suite;
  const first = await target.send(at(theirs.value), { token: owner.full });
  const findings = successFindings(theirs.value, first);
  if (findings.length > 0) return outcomeOf(findings);
  const cursor = bodyOf(first)['nextCursor'];
  if (typeof cursor !== 'string')
    return notAsked(`${owner.side}’s list has only one page and therefore no cursor`);
  const lent: string[] = [];
  for (const [whose, list] of [
    [asker.side, mine.value],
    [owner.side, theirs.value],
  ] as const) {
    const absent = await target.send(at(list, randomId(cursor)), { token: asker.full });
    const reply = await target.send(at(list, cursor), { token: asker.full });
    lent.push(
      ...about(`a random cursor for ${whose}’s list`, refusalFindings(service, 'invalid', absent)),
      ...about(`${owner.side}’s cursor for ${whose}’s list`, refusalFindings(service, 'invalid', reply)),
      ...about(
        `${owner.side}’s cursor for ${whose}’s list differs from a random one`,
        compareResponses(reply, absent),
      ),
      ...foreignFindings(suite, asker, reply),
    );
  }
  const next = await target.send(at(theirs.value, cursor), { token: owner.full });
  return outcomeOf([...lent, ...about(`${owner.side}’s own next page`, successFindings(theirs.value, next))]);
}

function at(list: Ask, cursor?: string): Ask {
  return { ...list, query: { limit: '1', ...(cursor === undefined ? {} : { cursor }) } };
}
