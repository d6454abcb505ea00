import { describe, expect, it } from 'vitest';
import { gatewayRow } from '#test/support/gateway-row.ts';
import { matchRoute, serviceOf } from './route-match.ts';
import type { GatewayService } from './route-match.ts';

const mastery: GatewayService = {
  service: 'mastery',
  basePath: '/mastery',
  routes: [
    gatewayRow('POST /v1/adaptive-runs', 'POST', '/v1/adaptive-runs'),
    gatewayRow('POST /v1/adaptive-runs:inspect', 'POST', '/v1/adaptive-runs:inspect'),
    gatewayRow('GET /v1/policies/{policyId}', 'GET', '/v1/policies/{policyId}'),
    gatewayRow('GET /v1/policies/newest', 'GET', '/v1/policies/newest'),
    gatewayRow('GET /v1/policies/{policyId}/parts/{part}', 'GET', '/v1/policies/{policyId}/parts/{part}'),
  ],
};

function match(method: string, path: string): unknown {
  const found = matchRoute(mastery, method, path);
  return found === undefined ? undefined : [found.route.path, found.pathParameters];
}

describe('matchRoute', () => {
  it('finds literal paths, with their colon', () => {
    expect(match('POST', '/mastery/v1/adaptive-runs')).toStrictEqual(['/v1/adaptive-runs', {}]);
    expect(match('POST', '/mastery/v1/adaptive-runs:inspect')).toStrictEqual([
      '/v1/adaptive-runs:inspect',
      {},
    ]);
  });

  it('takes %3A for no colon', () => {
    expect(match('POST', '/mastery/v1/adaptive-runs%3Ainspect')).toBeUndefined();
    expect(match('POST', '/mastery/v1/adaptive-runs%3ainspect')).toBeUndefined();
  });

  it('leaves parameters percent-encoded', () => {
    expect(match('GET', '/mastery/v1/policies/a%2Fb%3Ac+d/parts/%zz')).toStrictEqual([
      '/v1/policies/{policyId}/parts/{part}',
      { policyId: 'a%2Fb%3Ac+d', part: '%zz' },
    ]);
  });

  it('prefers a literal segment to a parameter', () => {
    expect(match('GET', '/mastery/v1/policies/newest')).toStrictEqual(['/v1/policies/newest', {}]);
  });

  it.each([
    ['GET', '/mastery/v1/adaptive-runs'],
    ['HEAD', '/mastery/v1/policies/p'],
    ['GET', '/mastery/v1/policies/'],
    ['GET', '/mastery/v1/policies/p/'],
    ['GET', '/mastery/v1/policies'],
    ['GET', '/mastery//v1/policies/p'],
    ['GET', '/mastery/v1/Policies/p'],
    ['GET', '/mastery/v1/x/../policies/p'],
  ])('does not know %s %s', (method, path) => {
    expect(match(method, path)).toBeUndefined();
  });
});

describe('serviceOf', () => {
  it('knows a base path by whole segments', () => {
    expect(serviceOf([mastery], '/mastery/v1/x')).toBe(mastery);
    expect(serviceOf([mastery], '/mastery')).toBe(mastery);
    expect(serviceOf([mastery], '/masteryv1')).toBeUndefined();
  });
});
