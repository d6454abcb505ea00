import { describe, expect, it } from 'vitest';
import { cors } from './cors.ts';
import type { StageRequest } from './stage.ts';

const APP = 'https://app.school.example';

async function headersFor(allowedOrigins: readonly string[], ...origin: readonly string[]): Promise<unknown> {
  const answer = { statusCode: 200, headers: { ETag: '"1"' }, body: '{}', gzip: false, log: () => undefined };
  // SAFETY: the stage reads the response and, through its reader, two members of the exchange.
  const request = { event: {}, context: {}, response: answer, error: undefined } as unknown as StageRequest;
  const headers = origin.length === 0 ? {} : { origin };
  await cors({ exchangeOf: () => ({ headers, allowedOrigins }) as never }).after?.(request);
  return answer.headers;
}

describe('CORS headers', () => {
  it('allow the origin of the request if it is one of the stage’s', async () => {
    expect(await headersFor(['https://other.example', APP], APP)).toEqual({
      ETag: '"1"',
      Vary: 'Origin',
      'Access-Control-Allow-Origin': APP,
      'Access-Control-Expose-Headers':
        'ETag, Retry-After, X-Request-Id, Date, Deprecation, Sunset, Link, Idempotent-Replayed',
    });
  });

  it.each([
    ['no origin', []],
    ['another origin', [`${APP}.evil.example`]],
    ['two', [APP, APP]],
  ])('allow nothing for %s', async (_, origin) => {
    expect(await headersFor([APP], ...origin)).toEqual({ ETag: '"1"', Vary: 'Origin' });
  });

  it('are absent without allowed origins', async () => {
    expect(await headersFor([], APP)).toEqual({ ETag: '"1"' });
  });
});
