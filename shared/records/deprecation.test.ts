import { describe, expect, it } from 'vitest';
import { deprecationHeaders } from './deprecation.ts';

const PAGE = 'https://docs.example/problems/deprecation';

describe('deprecationHeaders', () => {
  it('writes RFC 9745 seconds and an RFC 8594 HTTP-date in GMT [MA-049, MA-050]', () => {
    const lifecycle = { deprecatedAt: '2026-01-01T00:00:00.999Z', sunsetAt: '2026-11-06T08:49:37Z' };
    expect(deprecationHeaders(lifecycle, PAGE)).toEqual({
      Deprecation: '@1767225600',
      Sunset: 'Fri, 06 Nov 2026 08:49:37 GMT',
      Link: `<${PAGE}>; rel="deprecation"; type="text/html"`,
    });
  });

  it('has no Sunset while no removal is scheduled [MA-050]', () => {
    expect(deprecationHeaders({ deprecatedAt: '2026-01-01T00:00:00Z' }, PAGE)).not.toHaveProperty('Sunset');
  });

  it('says nothing about a record that is not deprecated [MA-049]', () => {
    expect(deprecationHeaders({}, PAGE)).toEqual({});
  });
});
