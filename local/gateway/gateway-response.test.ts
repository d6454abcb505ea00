import { describe, expect, it } from 'vitest';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import { masteryProblem } from '#shared/problems/document.ts';
import { answerOfGateway } from './gateway-response.ts';

const requestId = '3c6c1e6e-5ac0-4b8e-9d0a-0d3f8a9d1c11';
const respond = answerOfGateway('https://problems.example/p');

describe('answerOfGateway', () => {
  it.each([
    ['no-route', 404, 'resource-not-found', 'not-found'],
    ['too-large', 413, 'payload-too-large', 'payload-too-large'],
    ['filtered', 400, 'invalid-request', 'validation'],
    ['integration-failed', 500, 'internal-error', 'internal-error'],
    ['integration-timeout', 500, 'internal-error', 'internal-error'],
  ] as const)('answers %s with the %d problem of the service', (failure, status, mastery, reports) => {
    const ours = respond('mastery', failure, requestId);
    expect(ours.status).toBe(status);
    expect(ours.headers).toMatchObject({
      'Content-Type': 'application/problem+json',
      'X-Request-Id': requestId,
    });
    expect(masteryProblem.parse(JSON.parse(ours.body))).toMatchObject({
      type: `https://problems.example/p/${mastery}`,
      status,
      requestId,
      instance: `urn:uuid:${requestId}`,
    });
    expect(reportsProblem.parse(JSON.parse(respond('reports', failure, requestId).body))).toMatchObject({
      type: `https://problems.example/p/${reports}`,
      status,
      traceId: requestId,
    });
  });

  it('says when to come back exactly where that helps', () => {
    expect(respond('mastery', 'integration-failed', requestId).headers).toHaveProperty('Retry-After', '5');
    expect(respond('mastery', 'no-route', requestId).headers).not.toHaveProperty('Retry-After');
  });
});
