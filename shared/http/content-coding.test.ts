import { describe, expect, it } from 'vitest';
import { acceptsGzip } from './content-coding.ts';

/** One header value per line. */
const lines = (text: string): readonly string[] => text.trim().split(/\n */);

describe('acceptsGzip', () => {
  it('takes gzip where a caller prefers it to no coding', () => {
    const accepting = lines(`
      gzip
      GZip
      x-gzip
      deflate, gzip, br
      gzip;q=1.0
      gzip ; Q=0.001
      *
      br;q=1, *;q=0.1
      identity;q=0.5, gzip;q=0.5
      identity;q=0, gzip;q=0.1
      gzip, gzip;q=0
      gzip;q=1, *;q=0`);
    expect(accepting.filter((value) => !acceptsGzip([value]))).toEqual([]);
  });

  it('takes none anywhere else', () => {
    const refusing = lines(`
      identity
      br
      deflate, br;q=1
      gzip;q=0
      gzip;q=0.000
      *;q=0
      gzip;q=0, *
      gzip;q=0.5, identity
      *;q=0.5, identity;q=0.6
      gzip;q=2
      gzip;q=0.0001
      gzip;q=-1
      gzip;q=
      gzip;level=1
      gzip deflate
      gzipped
      "gzip"`);
    expect(['', ...refusing].filter((value) => acceptsGzip([value]))).toEqual([]);
  });

  it('reads several headers as one list, and none as nothing', () => {
    expect([[], ['br', 'gzip'], ['gzip;q=0', 'gzip']].map(acceptsGzip)).toEqual([false, true, false]);
  });

  it('is through at once with a header made to keep it busy', () => {
    expect(acceptsGzip([`gzip${' \t'.repeat(50_000)};`, ',;q='.repeat(50_000)])).toBe(false);
  });
});
