import { describe, expect, it } from 'vitest';
import { createPages } from './pages.ts';

const page = createPages({
  gatewayUrl: 'http://127.0.0.1:1',
  platformUrl: 'http://127.0.0.1:2',
  jwks: { keys: [{ kid: 'k' }] },
  exampleCalls: 'curl …',
  documents: {
    openApi: new Map([['mastery', { openapi: '3.1.1', servers: [{ url: 'https://mastery.example' }] }]]),
    problemPages: new Map([
      ['index', '<a href="stream-conflict.html">'],
      ['stream-conflict', '<h1>Stream conflict</h1>'],
    ]),
  },
});

describe('createPages', () => {
  it('serves the key set, problem pages and OpenAPI', () => {
    expect(page('GET', '/.well-known/jwks.json')?.body).toBe('{"keys":[{"kid":"k"}]}');
    for (const path of ['/problems/stream-conflict', '/problems/stream-conflict.html']) {
      expect(page('GET', path)?.body).toBe('<h1>Stream conflict</h1>');
    }
    expect(page('HEAD', '/docs/openapi/mastery.json')?.headers).toHaveProperty(
      'Content-Type',
      'application/json; charset=utf-8',
    );
  });

  it('names the address at which a service answers here in its OpenAPI document', () => {
    expect(JSON.parse(page('GET', '/docs/openapi/mastery.json')?.body ?? '')).toMatchObject({
      openapi: '3.1.1',
      servers: [{ url: 'http://127.0.0.1:1/mastery' }],
    });
  });

  it.each(['/docs', '/problems/index.html'])('links on %s only to what is there', (path) => {
    const found = page('GET', path)?.body.matchAll(/href="([^"]+)"/g) ?? [];
    const addresses = [...found].map(([, to]) => new URL(to ?? '', `http://127.0.0.1:1${path}`));
    expect(addresses.length).toBeGreaterThan(0);
    for (const { port, pathname } of addresses) {
      if (port === '1') expect([200, 302]).toContain(page('GET', pathname)?.status);
    }
  });

  it('serves the example calls as text', () => {
    expect(page('GET', '/calls')).toMatchObject({
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      body: 'curl …',
    });
  });

  it('names the addresses of both services', () => {
    for (const service of ['mastery', 'reports'])
      expect(page('GET', '/docs')?.body).toContain(`http://127.0.0.1:1/${service}/v1/`);
  });

  it('leads from the short addresses to the pages', () => {
    expect(page('GET', '/')?.headers).toHaveProperty('Location', '/docs');
    expect(page('GET', '/problems')?.headers).toHaveProperty('Location', '/problems/index.html');
  });

  it.each([
    ['POST', '/docs'],
    ['GET', '/docs/'],
    ['GET', '/problems/unknown'],
  ])('has nothing at %s %s', (method, path) => {
    expect(page(method, path)).toBeUndefined();
  });
});
