import { describe, expect, it } from 'vitest';
import { acceptsGzip } from './content-coding.ts';

describe('acceptsGzip', () => {
  it.each([
    ['gzip'],
    ['GZip'],
    ['x-gzip'],
    ['deflate, gzip, br'],
    ['gzip;q=1.0'],
    ['gzip ; Q=0.001'],
    ['*'],
    ['br;q=1, *;q=0.1'],
    ['identity;q=0.5, gzip;q=0.5'],
    ['identity;q=0, gzip;q=0.1'],
    ['gzip, gzip;q=0'],
    ['gzip;q=1, *;q=0'],
  ])('takes %j for gzip', (value) => {
    expect(acceptsGzip([value])).toBe(true);
  });

  it.each([
    [''],
    ['identity'],
    ['br'],
    ['deflate, br;q=1'],
    ['gzip;q=0'],
    ['gzip;q=0.000'],
    ['*;q=0'],
    ['gzip;q=0, *'],
    ['gzip;q=0.5, identity'],
    ['*;q=0.5, identity;q=0.6'],
    ['gzip;q=2'],
    ['gzip;q=0.0001'],
    ['gzip;q=-1'],
    ['gzip;q='],
    ['gzip;level=1'],
    ['gzip deflate'],
    ['gzipped'],
    ['"gzip"'],
  ])('takes %j for none', (value) => {
    expect(acceptsGzip([value])).toBe(false);
  });

  it('reads several headers as one list, and none as nothing', () => {
    expect(acceptsGzip([])).toBe(false);
    expect(acceptsGzip(['br', 'gzip'])).toBe(true);
    expect(acceptsGzip(['gzip;q=0', 'gzip'])).toBe(false);
  });

  it('is through at once with a header made to keep it busy', () => {
    expect(acceptsGzip([`gzip${' \t'.repeat(50_000)};`, ',;q='.repeat(50_000)])).toBe(false);
  });
});
