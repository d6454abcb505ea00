import { describe, expect, it } from 'vitest';
import { createPages } from './pages.ts';

const page = createPages({
  gatewayUrl: 'http://127.0.0.1:1',
  platformUrl: 'http://127.0.0.1:2',
  jwks: { keys: [{ kid: 'k' }] },
  documents: {
    openApi: new Map([['mastery', '{"openapi":"3.1.1"}']]),
    problemPages: new Map([['stream-conflict', '# Stream conflict']]),
  },
});

describe('createPages', () => {
  it('serves the key set, problem pages and OpenAPI', () => {
    expect(page('GET', '/.well-known/jwks.json')?.body).toBe('{"keys":[{"kid":"k"}]}');
    expect(page('GET', '/problems/stream-conflict')?.body).toBe('# Stream conflict');
    expect(page('HEAD', '/docs/openapi/mastery.json')?.headers).toHaveProperty(
      'Content-Type',
      'application/json; charset=utf-8',
    );
  });

  it('links only to what it serves, and to the platform', () => {
    for (const path of ['/docs', '/problems']) {
      const addresses = [...(page('GET', path)?.body.matchAll(/href="([^"]+)"/g) ?? [])].map(
        ([, to]) => to ?? '',
      );
      expect(addresses.length).toBeGreaterThan(0);
      for (const address of addresses) {
        if (!address.startsWith('http://127.0.0.1:2/')) expect(page('GET', address)?.status).toBe(200);
      }
    }
    expect(page('GET', '/')?.headers).toHaveProperty('Location', '/docs');
  });

  it.each([
    ['POST', '/docs'],
    ['GET', '/docs/'],
    ['GET', '/problems/unknown'],
  ])('has nothing at %s %s', (method, path) => {
    expect(page(method, path)).toBeUndefined();
  });
});
