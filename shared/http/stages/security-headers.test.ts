import { describe, expect, it } from 'vitest';
import { securityHeaders } from './security-headers.ts';
import type { StageRequest } from './stage.ts';

const headersOf = (request: StageRequest): unknown => (request.response as { headers: unknown }).headers;

function requestWith(statusCode: number): StageRequest {
  const answer = { statusCode, headers: { 'Content-Type': 'application/json' }, body: '{}', gzip: false };
  return { event: {}, context: {}, response: { ...answer, log: () => undefined }, error: undefined } as never;
}

describe('security headers', () => {
  const { after, onError } = securityHeaders();

  it.each([
    ['a success', 200, after],
    ['a problem', 500, onError],
  ] as const)('go out with %s', async (_, status, hook) => {
    const request = requestWith(status);
    await hook?.(request);
    expect(headersOf(request)).toEqual({
      'Content-Type': 'application/json',
      'Strict-Transport-Security': 'max-age=63072000; includeSubDomains',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Resource-Policy': 'same-origin',
    });
  });
});
