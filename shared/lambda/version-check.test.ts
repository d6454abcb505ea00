import type { Context } from 'aws-lambda';
import { expect, it } from 'vitest';
import { readReadiness } from '#shared/contract/reports/routes/read-readiness.ts';
import { proxyEvent } from '#test/support/lambda.ts';
import { checkable } from './version-check.ts';

const asked = JSON.stringify({ versionCheck: {} });

/** A function that says whether it was checked. */
const answer = checkable(
  { sleep: () => new Promise(() => undefined) },
  (tenantId) => Promise.resolve([{ of: tenantId ?? 'no tenant' }]),
  (_event: unknown, _context: Pick<Context, 'getRemainingTimeInMillis'>) => Promise.resolve('served'),
);
const ask = (event: unknown) => answer(event, { getRemainingTimeInMillis: () => 10_000 });

it('answers the whole event of a direct call', async () => {
  expect(await ask({ versionCheck: {} })).toEqual({ versionCheck: [{ of: 'no tenant' }] });
  expect(await ask({ versionCheck: { tenantId: 't' } })).toEqual({ versionCheck: [{ of: 't' }] });
});

it.each<readonly [string, unknown]>([
  [
    'a request of API Gateway',
    proxyEvent(readReadiness, {
      rawBody: asked,
      path: { attemptId: 'versionCheck' },
      query: { versionCheck: asked },
      headers: { versionCheck: asked },
    }),
  ],
  ['a message of SQS', { Records: [{ messageId: 'm', body: asked, attributes: { versionCheck: asked } }] }],
  ['the input of our schedules', {}],
  [
    'an event of EventBridge',
    { version: '0', 'detail-type': asked, source: 'aws.events', detail: { versionCheck: {} } },
  ],
  ['an event with another member', { versionCheck: {}, body: asked }],
  ['a text', asked],
  ['nothing', null],
])('serves %s, whatever a caller has written into it', async (_, event) => {
  expect(await ask(event)).toBe('served');
});
