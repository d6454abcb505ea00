import { describe, expect, it } from 'vitest';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamService } from '#shared/platform/operation.ts';
import { problem } from '#shared/problems/registry.ts';
import { upstreamProblem } from './problems.ts';

const fault = (
  kind: UpstreamFault['kind'],
  service: UpstreamService,
  more: Partial<UpstreamFault> = {},
): UpstreamFault => ({
  kind,
  service,
  operation: `${service}.some_operation`,
  transient: kind === 'unavailable',
  ...more,
});

describe('upstreamProblem', () => {
  it.each([
    fault('not-found', 'content', { status: 404, upstreamRequestId: 'up-1' }),
    ...[400, 410, 414, 422].map((status) => fault('rejected', 'bank', { status })),
  ])('hides the caller’s own id behind the one 404: %j [MA-214]', (hidden) => {
    // A difference in any member would tell that there is something in another tenant.
    expect(upstreamProblem(hidden, 'caller')).toEqual(problem('mastery', 'resource-not-found', 404));
    expect(upstreamProblem(hidden, 'derived').status).toBe(424);
  });

  it.each([401, 403, 405, 415])('does not take %i for an absent id', (status) => {
    expect(upstreamProblem(fault('rejected', 'content', { status }), 'caller').status).toBe(424);
  });

  it('names owner, operation and the owner’s request where there is one, nothing more, and a time to wait only for what may succeed later [MA-212, MA-213]', () => {
    const reference = { service: 'bank', operation: 'bank.some_operation' };
    for (const [asked, expected] of [
      [30, 30],
      [0, 1],
      [86_400, 3_600],
    ] as const)
      expect(
        upstreamProblem(
          fault('unavailable', 'bank', { upstreamRequestId: 'up-1', retryAfterSeconds: asked }),
        ),
      ).toMatchObject({ upstream: { ...reference, requestId: 'up-1' }, retryAfterSeconds: expected });
    const refused = upstreamProblem(fault('rejected', 'bank'));
    expect(refused.upstream).toEqual(reference);
    expect(refused).not.toHaveProperty('retryAfterSeconds');
  });
});
