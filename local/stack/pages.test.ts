import { describe, expect, it } from 'vitest';
import { createPages } from './pages.ts';

let renderings = 0;
const page = createPages({
  gatewayUrl: 'http://127.0.0.1:1',
  exampleCalls: 'curl …',
  platformUrl: 'http://127.0.0.1:2',
  jwks: { keys: [{ kid: 'k' }] },
  tokens: () => Promise.resolve([{ tenantId: 't', token: 'secret', examples: {} }]),
  site: ({ apis, tokensPath, links }) => {
    renderings += 1;
    return Promise.resolve(
      new Map([
        ['docs/index.html', JSON.stringify({ apis, tokensPath, links })],
        ['problems/index.html', '<h1>Problem types</h1>'],
        ['problems/stream-conflict.html', '<h1>Stream conflict</h1>'],
      ]),
    );
  },
});

describe('createPages', () => {
  it('serves the key set, example calls and tokens without rendering the site', async () => {
    expect(await page('GET', '/.well-known/jwks.json')).toMatchObject({ body: '{"keys":[{"kid":"k"}]}' });
    expect(await page('GET', '/docs/tokens.json')).toMatchObject({
      body: '[{"tenantId":"t","token":"secret","examples":{}}]',
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
    });
    expect(await page('GET', '/calls')).toMatchObject({
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      body: 'curl …',
    });
    expect(await page('GET', '/favicon.ico')).toBeUndefined();
    expect(renderings).toBe(0);
  });

  it('serves the site, rendered once, with a policy that allows nothing inline', async () => {
    for (const path of ['/problems/stream-conflict', '/problems/stream-conflict.html']) {
      expect(await page('GET', path)).toMatchObject({ status: 200, body: '<h1>Stream conflict</h1>' });
    }
    const index = await page('HEAD', '/docs/index.html');
    expect(index?.headers).toMatchObject({ 'Content-Type': 'text/html; charset=utf-8' });
    expect(index?.headers['Content-Security-Policy']).not.toContain('unsafe');
    for (const service of ['mastery', 'reports', 'sandbox'])
      expect(index?.body).toContain(`http://127.0.0.1:1/${service}"`);
    expect(index?.body).toContain('/docs/tokens.json');
    expect(index?.body).toContain('http://127.0.0.1:2/_control/state');
    expect(renderings).toBe(1);
  });
});
