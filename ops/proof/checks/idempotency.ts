import { randomUUID } from 'node:crypto';
import { inspectAdaptiveRun, startAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import { analyzeAdministration, materializeAttemptReport } from '#shared/contract/reports/routes.ts';
import { outcomeOf } from '../check.ts';
import type { Check, Outcome } from '../check.ts';
import { withRandomIds } from '../random-ids.ts';
import { bodyOf, codeOf, describeReply, refusalFindings, successFindings } from '../replies.ts';
import { about, directionsOf, titleOf } from '../suite.ts';
import type { Direction, Subject, Suite } from '../suite.ts';
import type { Ask, Reply } from '../target.ts';
import { tellApart } from '../tell-apart.ts';
import { foreignFindings } from './reads.ts';

/** How an operation is named in the answers of a route. */
interface Operation {
  readonly route: Ask['route'];
  /** The operation that an answer belongs to; undefined for one that says nothing of any. */
  readonly of: (reply: Reply) => string | undefined;
  /** Whether a repetition says that it is one. */
  readonly marked: boolean;
}

const operations: readonly Operation[] = [
  { route: materializeAttemptReport, of: member('operationId'), marked: true },
  { route: analyzeAdministration, of: member('improvementRunId'), marked: true },
  { route: startAdaptiveRun, of: offer, marked: false },
  { route: inspectAdaptiveRun, of: offer, marked: false },
];

/** A run has no name of its own [MA-003]: its offer stands for it. */
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
 * The same key under two tenants is two operations: neither replays, conflicts with or learns of the other's
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
        title: 'the same key is an operation of its own under each tenant',
        asked: `${titleOf(subject)} by ${owner.side}; the same request under the same key by ${asker.side}; ${asker.side}’s own under that key; then ${owner.side}’s again`,
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
    ...about(`${owner.side}’s`, successFindings(theirs.value, first)),
    ...(replays(first) ? [`${owner.side}’s first is called a replay`] : []),
    ...about(`${owner.side}’s under ${asker.side}`, refusalFindings(service, 'hidden', foreign)),
    ...about(`${owner.side}’s under ${asker.side} can be told from nobody’s`, tellApart(foreign, absent)),
    ...foreignFindings(suite, asker, foreign),
    ...(codeOf(service, own)?.startsWith('idempotency') === true
      ? [`${asker.side}’s own under the key is answered ${describeReply(service, own)}`]
      : about(`${asker.side}’s own under the key`, successFindings(mine.value, own))),
    ...(replays(own) ? [`${asker.side}’s own is called a replay`] : []),
    ...(operation !== undefined && operation === of(own) ? ['both tenants have the same operation'] : []),
    ...foreignFindings(suite, asker, own),
    ...sameFindings(`${owner.side}’s`, again, operation),
    ...sameFindings(`${asker.side}’s`, ownAgain, of(own)),
  ]);

  function sameFindings(whose: string, repeated: Reply, expected: string | undefined): readonly string[] {
    return [
      ...(of(repeated) === expected && expected !== undefined
        ? []
        : [`${whose} repetition is another operation (${describeReply(service, repeated)})`]),
      ...(marked && !replays(repeated) ? [`${whose} repetition is not called one`] : []),
    ];
  }
}
