import { notAsked, outcomeOf, type Check, type Outcome } from '../check.ts';
import { withRandomIds } from '../random-ids.ts';
import { refusalFindings, successFindings } from '../replies.ts';
import { about, belongsToBoth, directionsOf, sendOwn, titleOf } from '../suite.ts';
import type { Direction, Subject, Suite } from '../suite.ts';
import { compareResponses } from '../compare-responses.ts';
import { foreignFindings } from './reads.ts';

/** Only the token identifies the tenant [RP-225, MA-200]. */
export function selectorChecks(suite: Suite): readonly Check[] {
  return directionsOf(suite).flatMap((direction) =>
    suite.subjects
      .filter(({ route, repeatable }) => repeatable && route.method === 'GET')
      .map((subject) => ({
        group: 'selector',
        subject: subject.name,
        side: direction.side,
        title: 'headers and query parameters cannot select the other tenant',
        asked: `${titleOf(subject)} by ${direction.asker.side} for a resource of ${direction.owner.side} and for its own, with headers and a query parameter that name tenant ${direction.owner.side}`,
        run: () => pretend(suite, subject, direction),
      })),
  );
}

async function pretend(suite: Suite, subject: Subject, { asker, owner }: Direction): Promise<Outcome> {
  const [own, foreign] = [await subject.own(asker), await subject.own(owner)];
  if (!own.ok) return outcomeOf([own.error]);
  if (!foreign.ok) return outcomeOf([foreign.error]);
  if (belongsToBoth(own.value, foreign.value)) return notAsked('the resource belongs to both tenants');
  const { service, target } = suite;
  const { tenantId } = owner;
  const token = asker.full;
  const headers = {
    'X-Tenant-Id': tenantId,
    'X-Tenant': tenantId,
    Tenant: tenantId,
    Forwarded: `host=${encodeURIComponent(tenantId)}`,
    Cookie: `tenantId=${encodeURIComponent(tenantId)}`,
  };
  const served = await sendOwn(suite, subject, owner, foreign.value);
  const absent = await target.send(withRandomIds(foreign.value), { token });
  const named = await target.send(foreign.value, { token, headers });
  const mine = await target.send(own.value, { token, headers });
  const queried = await target.send(
    { ...foreign.value, query: { ...foreign.value.query, tenantId } },
    { token },
  );
  return outcomeOf([
    ...about(`${owner.side}’s own request`, successFindings(foreign.value, served)),
    ...about(
      `${asker.side} for ${owner.side}’s resource, with headers`,
      refusalFindings(service, 'hidden', named),
    ),
    ...about(
      `${asker.side} for ${owner.side}’s resource, with headers, differs from an unknown one`,
      compareResponses(named, absent),
    ),
    ...about(`${asker.side} for its own resource, with headers`, successFindings(own.value, mine)),
    ...foreignFindings(suite, asker, mine),
    ...(queried.status === 400
      ? []
      : [`a query parameter that names the tenant returned ${queried.status} instead of 400`]),
  ]);
}
