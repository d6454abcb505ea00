import { describe, expect, it } from 'vitest';
import { problem, problemRows as rows } from './registry.ts';

/** The tables of the specification and its additional suffixes, as `service status code retryable`. */
const specified = [
  'mastery 400 invalid-request false',
  'mastery 401 authentication-required false',
  'mastery 403 insufficient-scope false',
  'mastery 404 resource-not-found false',
  'mastery 409 adaptive-pool-version-drift false',
  'mastery 409 idempotency-key-reused false',
  'mastery 409 stream-conflict false',
  'mastery 412 stream-conflict true',
  'mastery 413 payload-too-large false',
  'mastery 413 simulation-limit-exceeded false',
  'mastery 422 calibration-invalid false',
  'mastery 424 finalization-incomplete true',
  'mastery 424 upstream-unavailable occurrence',
  'mastery 428 precondition-required false',
  'mastery 429 rate-limited true',
  'mastery 500 internal-error occurrence',
  'mastery 502 qti-adaptive-pool-invalid false',
  'reports 400 unsupported-parameter false',
  'reports 400 validation false',
  'reports 401 authentication-required false',
  'reports 403 authorization-denied false',
  'reports 404 not-found false',
  'reports 409 idempotency-conflict false',
  'reports 409 source-version-conflict true',
  'reports 413 payload-too-large false',
  'reports 429 rate-limited true',
  'reports 500 internal-error true',
  'reports 503 dependency-incomplete true',
  'reports 503 dependency-unavailable true',
];

describe('problem registry', () => {
  it('holds exactly the tables of the services and their additional suffixes [MA-148, MA-166, MA-208, MA-209, MA-211, MA-214, RP-331, RP-332, RP-333, RP-334]', () => {
    const lines = rows.map((row) => `${row.service} ${row.status} ${row.code} ${String(row.retryable)}`);
    expect(lines.toSorted()).toEqual(specified);
    const tagged = rows.filter(({ carries }) => carries === 'currentEtag');
    expect(tagged.map(({ status, code }) => [status, code])).toEqual([[412, 'stream-conflict']]);
  });

  it('never reuses a code of one service in the other, but for those that share a page word for word', () => {
    const shared = ['authentication-required', 'payload-too-large', 'rate-limited', 'internal-error'];
    const codes = (service: string): Set<string> =>
      new Set(rows.filter((row) => row.service === service).map((row) => row.code));
    expect([...codes('mastery')].filter((code) => codes('reports').has(code)).sort()).toEqual(
      [...shared].sort(),
    );
    for (const code of shared) {
      // The mastery engine alone says of a 500 whether it may be repeated, and how.
      const own = code === 'internal-error' ? { retryable: 'own', uniform: undefined } : {};
      const pages = rows
        .filter((row) => row.code === code)
        .map((row) => ({ ...row, service: 'both', ...own }));
      expect(pages).toHaveLength(2);
      expect(pages[0]).toEqual(pages[1]);
    }
  });

  it('keeps title and detail within their lengths [RP-323]', () => {
    for (const row of rows) {
      expect(row.title.length, row.code).toBeLessThanOrEqual(120);
      expect(row.detail.length, row.code).toBeLessThanOrEqual(1000);
      for (const text of [row.title, row.detail, row.meaning, row.cause, row.remedy])
        expect(text.trim().length, row.code).toBeGreaterThan(0);
    }
  });

  it('is retryable as the occurrence says where the row leaves it open [MA-218]', () => {
    const upstream = { service: 'bank', operation: 'bank.read_adaptive_pool_manifest' } as const;
    expect(problem('mastery', 'upstream-unavailable', 424, { upstream, retryable: false })).toEqual({
      service: 'mastery',
      code: 'upstream-unavailable',
      status: 424,
      detail: 'A required owner did not return a usable response.',
      retryable: false,
      upstream,
    });
    expect(problem('mastery', 'upstream-unavailable', 424, { upstream, retryable: true })).toMatchObject({
      retryable: true,
      retryAfterSeconds: 5,
    });
  });

  it('makes problems of registered triples alone', () => {
    // @ts-expect-error the reports service has no such code
    expect(() => problem('reports', 'stream-conflict', 409)).toThrow(TypeError);
    // @ts-expect-error the code has no such status
    expect(() => problem('mastery', 'calibration-invalid', 400)).toThrow(TypeError);
  });
});
