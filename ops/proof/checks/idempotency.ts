import { randomUUID } from 'node:crypto';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { materializeAttemptReport } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { outcomeOf, type Check, type Outcome } from '../check.ts';
import { withRandomIds } from '../random-ids.ts';
import { bodyOf, codeOf, describeReply, refusalFindings, successFindings } from '../replies.ts';
import { about, directionsOf, titleOf, type Direction, type Subject, type Suite } from '../suite.ts';
import type { Ask, Reply } from '../target.ts';
import { compareResponses } from '../compare-responses.ts';
import { foreignFindings } from './reads.ts';

/** How the responses of a route identify an operation. */
interface Operation {
  readonly route: Ask['route'];
  /** The operation that a response belongs to; undefined if it names none. */
  readonly of: (reply: Reply) => string | undefined;
  /** Whether a repetition has the header Idempotent-Replayed. */
  readonly marked: boolean;
}

const operations: readonly Operation[] = [
  { route: materializeAttemptReport, of: member('operationId'), marked: true },
  { route: analyzeAdministration, of: member('improvementRunId'), marked: true },
  { route: startAdaptiveRun, of: offer, marked: false },
  { route: inspectAdaptiveRun, of: offer, marked: false },
];

/** A run has no id [MA-003]: its offer identifies it. */
function offer(reply: Reply): string | undefined {
  const offered = bodyOf(reply)['offeredItem'];
  const id =
    typeof offered === 'object' && offered !== null && 'deliverySessionId' in offered
      ? offered.deliverySessionId
      : undefined;
  return typeof id === 'string' ? id : undefined;
}

function member(name: string): Operation['of'] {
  return (reply) => {
    const value = bodyOf(reply)[name];
    return typeof value === 'string' ? value : undefined;
  };
}

/**
 * The same key under two tenants is two operations: neither replays, conflicts with or reveals the other
 * [RP-024, RP-292, RP-287, MA-189].
 */
export function idempotencyChecks(suite: Suite): readonly Check[] {
  return directionsOf(suite).flatMap((direction) =>
    suite.subjects.flatMap((subject) => {
      const operation = operations.find(({ route }) => route.operationId === subject.route.operationId);
      if (operation === undefined) return [];
      const { asker, owner } = direction;
      return {
        group: 'idempotency',
        subject: subject.name,
        side: direction.side,
        title: 'the same idempotency key is a separate operation for each tenant',
        asked: `${titleOf(subject)} by ${owner.side}; the same request with the same key by ${asker.side}; ${asker.side}’s own request with that key; then ${owner.side}’s again`,
        run: () => repeatAcross(suite, subject, operation, direction),
      };
    }),
  );
}

async function repeatAcross(
  suite: Suite,
  subject: Subject,
  { of, marked }: Operation,
  { asker, owner }: Direction,
): Promise<Outcome> {
  const { service, target } = suite;
  const [theirs, mine] = [await subject.own(owner), await subject.own(asker)];
  if (!theirs.ok) return outcomeOf([theirs.error]);
  if (!mine.ok) return outcomeOf([mine.error]);
  const key = `proof-${suite.nonce}-${randomUUID()}`;
  const as = (token: string, ask: Ask) => target.send(ask, { token, key });

  const first = await as(owner.full, theirs.value);
  const absent = await target.send(withRandomIds(theirs.value), { token: asker.full });
  const foreign = await as(asker.full, theirs.value);
  const own = await as(asker.full, mine.value);
  const again = await as(owner.full, theirs.value);
  const ownAgain = await as(asker.full, mine.value);
  const operation = of(first);
  const replays = ({ headers }: Reply): boolean => headers.has('idempotent-replayed');
  return outcomeOf([
    ...about(`${owner.side}’s request`, successFindings(theirs.value, first)),
    ...(replays(first) ? [`${owner.side}’s first request returned Idempotent-Replayed`] : []),
    ...about(`${owner.side}’s request sent by ${asker.side}`, refusalFindings(service, 'hidden', foreign)),
    ...about(
      `${owner.side}’s request sent by ${asker.side} differs from one for an unknown resource`,
      compareResponses(foreign, absent),
    ),
    ...foreignFindings(suite, asker, foreign),
    ...(codeOf(service, own)?.startsWith('idempotency') === true
      ? [`${asker.side}’s own request with the key returned ${describeReply(service, own)}`]
      : about(`${asker.side}’s own request with the key`, successFindings(mine.value, own))),
    ...(replays(own) ? [`${asker.side}’s own request returned Idempotent-Replayed`] : []),
    ...(operation !== undefined && operation === of(own) ? ['both tenants got the same operation'] : []),
    ...foreignFindings(suite, asker, own),
    ...sameFindings(`${owner.side}’s`, again, operation),
    ...sameFindings(`${asker.side}’s`, ownAgain, of(own)),
  ]);

  function sameFindings(whose: string, repeated: Reply, expected: string | undefined): readonly string[] {
    return [
      ...(of(repeated) === expected && expected !== undefined
        ? []
        : [`${whose} repetition is a different operation (${describeReply(service, repeated)})`]),
      ...(marked && !replays(repeated) ? [`${whose} repetition did not return Idempotent-Replayed`] : []),
    ];
  }
}
