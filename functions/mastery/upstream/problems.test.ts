import { describe, expect, it } from 'vitest';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import * as operations from '#shared/platform/operations.ts';
import type { UpstreamService } from '#shared/platform/operation.ts';
import { problem } from '#shared/problems/registry.ts';
import { invalidOwnerData, invalidPool, profileProblem, upstreamProblem } from './problems.ts';

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
    fault('rejected', 'bank', { status: 400 }),
    fault('rejected', 'bank', { status: 410 }),
    fault('rejected', 'content', { status: 414 }),
    fault('rejected', 'content', { status: 422 }),
  ])('hides the caller’s own id behind the one 404: %j [MA-214]', (hidden) => {
    // A difference in any member would tell that there is something in another tenant.
    expect(upstreamProblem(hidden, 'caller')).toEqual(problem('mastery', 'resource-not-found', 404));
    expect(upstreamProblem(hidden, 'derived').status).toBe(424);
  });

  it.each([401, 403, 405, 415])('does not take %i for an absent id', (status) => {
    expect(upstreamProblem(fault('rejected', 'content', { status }), 'caller').status).toBe(424);
  });

  it('passes the owner’s request id on, and no member when there is none [MA-212]', () => {
    const made = upstreamProblem(fault('unavailable', 'bank', { upstreamRequestId: 'up-1' }));
    expect(made.upstream).toEqual({ service: 'bank', operation: 'bank.some_operation', requestId: 'up-1' });
    expect(upstreamProblem(fault('unavailable', 'bank')).upstream).not.toHaveProperty('requestId');
  });

  it.each([
    [30, 30],
    [0, 1],
    [86_400, 3_600],
  ])('passes the owner’s wish to wait %i s on as %i s', (asked, expected) => {
    expect(
      upstreamProblem(fault('unavailable', 'bank', { retryAfterSeconds: asked })).retryAfterSeconds,
    ).toBe(expected);
  });

  it('names no time for what will not succeed later', () => {
    expect(upstreamProblem(fault('rejected', 'bank'))).not.toHaveProperty('retryAfterSeconds');
  });
});

describe('profileProblem', () => {
  it.each([
    ['missing', false],
    ['tenant-mismatch', false],
    ['invalid', false],
    ['unreachable', true],
  ] as const)('%s is 424 of platform_auth; retryable: %s [MA-009, MA-212]', (kind, transient) => {
    const result = profileProblem({ kind, transient });
    expect(result).toMatchObject({ status: 424, code: 'upstream-unavailable', retryable: transient });
    expect(result.upstream).toEqual({ service: 'platform_auth', operation: 'platform.service_profile' });
  });
});

describe('well-formed answers that break an invariant', () => {
  it('of the pool are 502, of other owners 424, never retryable [MA-221, MA-223]', () => {
    expect(invalidPool(operations.readAdaptivePoolRoot, 'up-1')).toMatchObject({
      status: 502,
      retryable: false,
      upstream: { service: 'qti', operation: 'qti.read_adaptive_pool_root', requestId: 'up-1' },
    });
    expect(invalidOwnerData(operations.readTestSpec, undefined, 'why')).toMatchObject({
      status: 424,
      retryable: false,
      detail: 'why',
      upstream: { service: 'content', operation: 'content.read_test_spec' },
    });
  });
});
