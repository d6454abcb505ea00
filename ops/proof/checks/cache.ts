import { notAsked, outcomeOf, type Check, type Outcome } from '../check.ts';
import { withRandomIds } from '../random-ids.ts';
import { refusalFindings, successFindings } from '../replies.ts';
import { about, belongsToBoth, directionsOf, titleOf } from '../suite.ts';
import type { Direction, Subject, Suite } from '../suite.ts';
import { compareResponses } from '../compare-responses.ts';
import { foreignFindings } from './reads.ts';

const A_TAG = '"0000000000000000"';

/** A stored response of one tenant never reaches the other, even with a matching condition [RP-024, RP-336, RP-337]. */
export function cacheChecks(suite: Suite): readonly Check[] {
  return directionsOf(suite).flatMap((direction) =>
    suite.subjects
      .filter(({ route }) => route.method === 'GET')
      .map((subject) => ({
        group: 'cache',
        subject: subject.name,
        side: direction.side,
        title: 'a response to the owner does not reach the other tenant afterwards',
        asked: `${titleOf(subject)} by ${direction.owner.side} twice; then by ${direction.asker.side} for the same address without a condition, with the owner’s entity tag, with any tag, with an old date, from caches only; then by ${direction.owner.side} again`,
        run: () => share(suite, subject, direction),
      })),
  );
}

async function share(suite: Suite, subject: Subject, { asker, owner }: Direction): Promise<Outcome> {
  const [own, mine] = [await subject.own(owner), await subject.own(asker)];
  if (!own.ok) return outcomeOf([own.error]);
  if (!mine.ok) return outcomeOf([mine.error]);
  if (belongsToBoth(mine.value, own.value)) return notAsked('the resource belongs to both tenants');
  const { service, target } = suite;
  const ask = own.value;
  const read = (token: string, headers: Readonly<Record<string, string>> = {}) =>
    target.send(ask, { token, headers });

  const absent = await target.send(withRandomIds(ask), { token: asker.full });
  const first = await read(owner.full);
  const second = await read(owner.full);
  const tag = second.headers.get('etag') ?? A_TAG;
  const findings = [
    ...about(`${owner.side}, first`, successFindings(ask, first)),
    ...about(`${owner.side}, second`, successFindings(ask, second)),
    ...about('unknown resource', refusalFindings(service, 'hidden', absent)),
  ];
  const conditions: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['without a condition', {}],
    ['with the owner’s tag', { 'If-None-Match': tag }],
    ['with any tag', { 'If-None-Match': '*' }],
    ['with an old date', { 'If-Modified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    ['from caches only', { 'Cache-Control': 'only-if-cached' }],
  ];
  for (const [how, headers] of conditions) {
    const reply = await read(asker.full, headers);
    findings.push(
      ...about(`${asker.side}, ${how}`, refusalFindings(service, 'hidden', reply)),
      ...about(`${asker.side}, ${how}, differs from an unknown resource`, compareResponses(reply, absent)),
      ...foreignFindings(suite, asker, reply),
    );
  }
  // A stored denial must not reach the owner either.
  const third = await read(owner.full);
  findings.push(...about(`${owner.side}, after the denials`, successFindings(ask, third)));
  return outcomeOf([...new Set(findings)]);
}
