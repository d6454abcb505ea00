import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { provable } from '#shared/contract/gates.ts';
import { applied, createSigner, openFlags, signedManifest, wholeRelease } from '#test/support/release.ts';
import { closed, type AppliedRelease } from './release-state.ts';
import { FRESH_MS, READ_MS, RENEW_MS, watchRelease, type ReleaseWatch } from './watch-release.ts';

const T0 = Date.parse('2026-06-01T08:00:00Z');
/** Within so long a withdrawal shows. */
const PROMISE_MS = 30_000;
const signer = createSigner();
const everything = applied(signedManifest(signer));
const withdrawn = applied(everything.manifest, openFlags('C'));

let now: number;
let reads: number;
/** What the table holds; an error: it does not answer. */
let item: AppliedRelease | undefined | Error;
/** Absent: a read ends at once. */
let hold: (() => Promise<void>) | undefined;
let watch: ReleaseWatch;
beforeEach(() => {
  now = T0;
  reads = 0;
  item = everything;
  hold = undefined;
  watch = watchRelease({
    key: signer.key,
    stage: 'local',
    now: () => now,
    async read() {
      reads += 1;
      const found = item;
      await hold?.();
      if (found instanceof Error) throw found;
      return found;
    },
  });
});

/** Lets a read that nobody waits for end. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const faultOf = async (found: typeof item): Promise<string | undefined> => {
  item = found;
  now += PROMISE_MS;
  const { state, fault } = await watch();
  if (fault !== undefined) expect(state).toBe(closed);
  return fault;
};

describe('a watched release', () => {
  it('is what the flags and the verified manifest say together', async () => {
    expect(await watch()).toStrictEqual({ state: wholeRelease });
    item = withdrawn;
    now += PROMISE_MS;
    const { state, fault } = await watch();
    expect([...state.open]).toEqual(['A', 'B', 'D', 'F']);
    expect(fault).toBeUndefined();
    item = applied(everything.manifest, openFlags('E'));
    now += PROMISE_MS;
    expect(await watch()).toStrictEqual({ state: closed });
  });

  it('is closed by whatever proves nothing, and says why [RP-025]', async () => {
    const other = createSigner();
    expect(await faultOf(undefined)).toBe('never-applied');
    expect(await faultOf(applied(''))).toBe('never-applied');
    expect(await faultOf(applied('a.b.c'))).toBe('unsigned');
    expect(await faultOf(applied('flags alone'))).toBe('malformed');
    expect(await faultOf(applied(signedManifest(other)))).toBe('unsigned');
    const foreign = signedManifest(signer, provable, { stage: 'prod', rehearsal: false });
    expect(await faultOf(applied(foreign))).toBe('other-stage');
    const gone = signedManifest(signer, provable, { expiresAt: '2026-06-01T08:00:00Z' });
    expect(await faultOf(applied(gone))).toBe('expired');
    const early = signedManifest(signer, provable, { issuedAt: '2027-01-01T00:00:00Z' });
    expect(await faultOf(applied(early))).toBe('not-yet-issued');
    expect(await faultOf(everything)).toBeUndefined();
    // A flag that is set by hand opens nothing beside a manifest without its receipt.
    item = applied(signedManifest(signer, ['A', 'D']));
    now += PROMISE_MS;
    expect([...(await watch()).state.open]).toEqual(['A', 'D']);
  });

  it('is closed under a key that is no point of the curve', async () => {
    const nobodys = watchRelease({
      key: { ...signer.key, x: 'fill-in' },
      stage: 'local',
      now: () => now,
      read: () => Promise.resolve(everything),
    });
    expect(await nobodys()).toStrictEqual({ state: closed, fault: 'unsigned' });
  });

  it('ends with its manifest, at that very request and without another read', async () => {
    item = applied(signedManifest(signer, provable, { expiresAt: '2026-06-01T08:00:05Z' }));
    now = T0 + 4_999;
    expect((await watch()).fault).toBeUndefined();
    now = T0 + 5_000;
    expect(await watch()).toStrictEqual({ state: closed, fault: 'expired' });
    expect(reads).toBe(1);
  });
});

describe('its reads', () => {
  it('keep nobody waiting while the last one is fresh', async () => {
    await watch();
    now = T0 + RENEW_MS;
    // It never ends: whoever waited for it would wait for ever.
    hold = () => new Promise(() => undefined);
    await watch();
    await watch();
    expect(reads).toBe(2);
  });

  it('are one in the time of a renewal, however many requests there are and however many at once', async () => {
    for (let second = 0; second < 600; second += 1) {
      now = T0 + second * 1000;
      await Promise.all(Array.from({ length: 20 }, watch));
      await settle();
    }
    expect(reads).toBe((600 * 1000) / RENEW_MS);
  });

  it('that a freeze has cut off are neither waited for nor believed when they end after all', async () => {
    await watch();
    const cut = Promise.withResolvers<undefined>();
    hold = () => cut.promise;
    now += RENEW_MS;
    await watch();
    item = withdrawn;
    hold = undefined;
    now += 3_600_000;
    expect((await watch()).state.open.has('C')).toBe(false);
    cut.resolve(undefined);
    await settle();
    expect((await watch()).state.open.has('C')).toBe(false);
    expect(reads).toBe(3);
  });

  it('that take too long are no answer', async () => {
    hold = () => {
      now += FRESH_MS;
      return Promise.resolve();
    };
    expect(await watch()).toStrictEqual({ state: closed, fault: 'unreadable' });
  });
});

it('reads again when the clock was set back', async () => {
  await watch();
  item = withdrawn;
  now -= 3_600_000;
  expect((await watch()).state.open.has('C')).toBe(false);
  expect((await watch()).state.open.has('C')).toBe(false);
  expect(reads).toBe(2);
});

it('shows a withdrawal within 30 seconds of its write, whatever requests, pauses and failures there are, and is closed only without an answer', async () => {
  const down = new Error('the table is down');
  const step = fc.record({
    after: fc.oneof(fc.integer({ min: 0, max: 15_000 }), fc.constantFrom(FRESH_MS, PROMISE_MS, 3_600_000)),
    fails: fc.boolean(),
    slow: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: READ_MS })),
    writes: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      let at = T0;
      let written: number | undefined;
      /** When the last read began that gave an answer. */
      let answered = -Infinity;
      let current: (typeof steps)[number] | undefined;
      const watched = watchRelease({
        key: signer.key,
        stage: 'local',
        now: () => at,
        read() {
          const found = written === undefined ? everything : withdrawn;
          const isDown = current?.fails === true;
          if (!isDown) answered = at;
          at += current?.slow ?? 0;
          return isDown ? Promise.reject(down) : Promise.resolve(found);
        },
      });
      for (current of steps) {
        at += current.after;
        if (current.writes) written ??= at;
        const isKnown = !current.fails || at - answered < FRESH_MS;
        const told = await watched();
        await settle();
        if (!isKnown) expect(told).toStrictEqual({ state: closed, fault: 'unreadable', error: down });
        else expect([told.fault, told.state.open.has('D')]).toEqual([undefined, true]);
        if (written !== undefined && at - written >= PROMISE_MS) expect(told.state.open.has('C')).toBe(false);
      }
    }),
  );
});
