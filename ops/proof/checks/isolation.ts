import { notAsked, outcomeOf } from '../check.ts';
import type { Check } from '../check.ts';
import type { Suite } from '../suite.ts';
import { idsOf } from '../tenant-file.ts';

/** What has to hold of everything that was heard, once it was: these checks are the last ones. */
export function isolationChecks(suite: Suite): readonly Check[] {
  const { a, b, transcript } = suite;
  return [
    {
      group: 'isolation',
      subject: 'request-ids',
      side: 'both',
      title: 'no two answers of the whole run have one request id',
      asked: 'X-Request-Id and requestId of every answer',
      run: () => {
        const { answers, repeated } = transcript.requestIds();
        return Promise.resolve(
          outcomeOf(
            repeated === 0 ? [] : [`${repeated} request ids stand in more than one of ${answers} answers`],
          ),
        );
      },
    },
    {
      group: 'isolation',
      subject: 'ids',
      side: 'both',
      title: 'no id of a learner, attempt, operation or run was answered to both tenants',
      asked: 'every success of the whole run',
      run: () =>
        Promise.resolve(
          outcomeOf([...new Set(transcript.sharedIds())].map((name) => `both were answered one ${name}`)),
        ),
    },
    ...[[a, b] as const, [b, a] as const].map(([tenant, other]): Check => ({
      group: 'isolation',
      subject: 'claims-reach',
      side: tenant.side,
      title: 'the claims of the token name the other tenant’s resources, so that the tenant alone hides them',
      asked: `the resource claims of ${tenant.side}’s token`,
      run: () => {
        const reached = [...idsOf(other).values()].some((id) => tenant.claimed.has(id));
        return Promise.resolve(
          reached
            ? outcomeOf([])
            : notAsked(
                `${tenant.side}’s token names nothing of ${other.side}’s: its claims may be what hides it`,
              ),
        );
      },
    })),
  ];
}
