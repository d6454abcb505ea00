import { notAsked, outcomeOf, type Check } from '../check.ts';
import type { Suite } from '../suite.ts';
import { idsOf } from '../tenant-file.ts';

/** Checks of all responses of the run; they run last. */
export function isolationChecks(suite: Suite): readonly Check[] {
  const { a, b, transcript } = suite;
  return [
    {
      group: 'isolation',
      subject: 'request-ids',
      side: 'both',
      title: 'no two responses of the run have the same request id',
      asked: 'X-Request-Id and requestId of every response',
      run: () => {
        const { answers, repeated } = transcript.requestIds();
        return Promise.resolve(
          outcomeOf(
            repeated === 0 ? [] : [`${repeated} request ids occur in more than one of ${answers} responses`],
          ),
        );
      },
    },
    {
      group: 'isolation',
      subject: 'ids',
      side: 'both',
      title: 'no id of a learner, attempt, operation or run was returned to both tenants',
      asked: 'every success of the run',
      run: () =>
        Promise.resolve(
          outcomeOf(
            [...new Set(transcript.sharedIds())].map((name) => `both tenants received the same ${name}`),
          ),
        ),
    },
    ...[[a, b] as const, [b, a] as const].map(([tenant, other]): Check => ({
      group: 'isolation',
      subject: 'claims-reach',
      side: tenant.side,
      title: 'the token’s claims name resources of the other tenant, so that only the tenant can hide them',
      asked: `the resource claims of ${tenant.side}’s token`,
      run: () => {
        const reached = [...idsOf(other).values()].some((id) => tenant.claimed.has(id));
        return Promise.resolve(
          reached
            ? outcomeOf([])
            : notAsked(
                `${tenant.side}’s token names no resource of ${other.side}: the claims may hide them instead of the tenant`,
              ),
        );
      },
    })),
  ];
}
