import { notAsked, outcomeOf } from '../check.ts';
import type { Check, Outcome } from '../check.ts';
import { withRandomIds } from '../random-ids.ts';
import { refusalFindings, successFindings } from '../replies.ts';
import { about, belongsToBoth, directionsOf, titleOf } from '../suite.ts';
import type { Direction, Subject, Suite } from '../suite.ts';
import { tellApart } from '../tell-apart.ts';
import { foreignFindings } from './reads.ts';

/** A tag that somebody else may have been given. */
const A_TAG = '"0000000000000000"';

/** What is kept for one tenant is never given to the other, whatever it claims to have [RP-024, RP-336, RP-337]. */
export function cacheChecks(suite: Suite): readonly Check[] {
  return directionsOf(suite).flatMap((direction) =>
    suite.subjects
      .filter(({ route }) => route.method === 'GET')
      .map((subject) => ({
        group: 'cache',
        subject: subject.name,
        side: direction.side,
        title: 'an answer that was just given to its owner is not given to the other tenant',
        asked: `${titleOf(subject)} by ${direction.owner.side} twice, then by ${direction.asker.side} for the same address: plainly, with the owner’s entity tag, with any; then by the owner, conditionally`,
        run: () => share(suite, subject, direction),
      })),
  );
}

async function share(suite: Suite, subject: Subject, { asker, owner }: Direction): Promise<Outcome> {
  const [own, mine] = [await subject.own(owner), await subject.own(asker)];
  if (!own.ok) return outcomeOf([own.error]);
  if (!mine.ok) return outcomeOf([mine.error]);
  if (belongsToBoth(mine.value, own.value)) return notAsked('it belongs to both tenants');
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
    ...about('nobody’s', refusalFindings(service, 'hidden', absent)),
  ];
  const conditions: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['plainly', {}],
    ['with the owner’s tag', { 'If-None-Match': tag }],
    ['with any tag', { 'If-None-Match': '*' }],
    ['with an old date', { 'If-Modified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    ['asking caches alone', { 'Cache-Control': 'only-if-cached' }],
  ];
  for (const [how, headers] of conditions) {
    const reply = await read(asker.full, headers);
    findings.push(
      ...about(`${asker.side}, ${how}`, refusalFindings(service, 'hidden', reply)),
      ...about(`${asker.side}, ${how}, can tell it from nobody’s`, tellApart(reply, absent)),
      ...foreignFindings(suite, asker, reply),
    );
  }
  // Nor is the denial kept for its owner, whom it would lock out.
  const third = await read(owner.full);
  findings.push(...about(`${owner.side}, after the denials`, successFindings(ask, third)));
  return outcomeOf([...new Set(findings)]);
}
