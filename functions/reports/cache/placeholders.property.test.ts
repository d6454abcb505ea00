import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { correlationId, instant } from '#shared/contract/reports/primitives.ts';
import { createPlaceholders } from './placeholders.ts';
import type { Placeholders } from './placeholders.ts';

const sixteenBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

/** Hands out the given bytes, one draw after the other. */
function drawing(draws: readonly Uint8Array[]): (bytes: number) => Uint8Array {
  let at = 0;
  return (bytes) => {
    const drawn = draws[at++] ?? new Uint8Array();
    expect(drawn).toHaveLength(bytes);
    return drawn;
  };
}

function textsOf({ requestId, traceId, composedAt, observations }: Placeholders): readonly string[] {
  return [requestId, traceId, composedAt, ...observations().keys()];
}

describe('placeholders', () => {
  it('fit the schemas of what they stand for, whatever is drawn', () => {
    fc.assert(
      fc.property(fc.uniqueArray(sixteenBytes, { minLength: 4, maxLength: 4, selector: String }), (draws) => {
        const placeholders = createPlaceholders(drawing(draws));
        const observed = placeholders.observation(0);
        for (const id of [placeholders.requestId, placeholders.traceId]) {
          expect(correlationId.safeParse(id).success).toBe(true);
          expect(id).toMatch(/^[0-9a-f]{32}$/);
        }
        for (const time of [placeholders.composedAt, observed]) {
          expect(instant.safeParse(time).success).toBe(true);
          expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
        }
      }),
    );
  });

  it('are spread over nine thousand years', () => {
    const placeholders = createPlaceholders(randomBytes);
    const years = new Set(
      Array.from({ length: 2_000 }, () => Number(placeholders.observation(0).slice(0, 4))),
    );
    expect(years.size).toBeGreaterThan(1_500);
    expect(Math.min(...years)).toBeGreaterThanOrEqual(1000);
    // A hundred years at either end are missed once in 2^31 such tests.
    expect(Math.min(...years)).toBeLessThan(1100);
    expect(Math.max(...years)).toBeGreaterThan(9900);
  });

  it('are each another text, and none stands within another', () => {
    const placeholders = createPlaceholders(randomBytes);
    for (let n = 0; n < 200; n += 1) placeholders.observation(n);
    const texts = textsOf(placeholders);
    for (const text of texts) expect(texts.filter((other) => other.includes(text))).toEqual([text]);
    expect([...placeholders.observations().values()]).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });

  it('are refused when the bytes that they are drawn from repeat themselves', () => {
    expect(() => createPlaceholders((bytes) => new Uint8Array(bytes))).toThrow(/repeat/);
  });
});
