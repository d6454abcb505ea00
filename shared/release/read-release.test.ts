import { describe, expect, it } from 'vitest';
import { gates, type Provable } from '#shared/contract/gates.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { ReleaseManifest } from './manifest.ts';
import { appliedToProd, createSigner, signedManifest } from '#test/support/release.ts';
import { offlineRelease, parseGates, readRelease, type AppliedGates } from './read-release.ts';

describe('parseGates', () => {
  it.each([
    ['', []],
    ['A', ['A']],
    ['A,D', ['A', 'D']],
    ['A,B,C,D,E,F', [...gates]],
  ])('reads %j', (text, open) => {
    expect(parseGates(text)).toStrictEqual(ok(new Set(open)));
  });

  it.each([
    ['G', /unknown gate "G": expected A to F/],
    ['a', /unknown gate "a"/],
    ['A, D', /unknown gate " D"/],
    ['A,', /unknown gate ""/],
    [',', /unknown gate ""/],
    ['AD', /unknown gate "AD"/],
    ['all', /unknown gate "all"/],
    ['A,A', /gate A is given twice/],
  ])('refuses %j and says why', (text, message) => {
    expect(parseGates(text)).toStrictEqual(err(expect.stringMatching(message) as string));
  });
});

describe('offlineRelease', () => {
  it('counts gate C as with its finer receipts, and E as nothing of its own [RP-023, RP-026]', () => {
    expect(offlineRelease(new Set(['A', 'E']))).toStrictEqual({
      open: new Set(['A']),
      proved: new Set(['A']),
    });
    expect(offlineRelease(new Set(['C']))).toStrictEqual({
      open: new Set(['C']),
      proved: new Set(['C', 'candidate_attempt_index', 'mastery_engine_production_learner']),
    });
  });
});

const trusted = createSigner();
const otherKey = createSigner();
/** A manifest of production. */
const signed = (proves: readonly Provable[], changed: Partial<ReleaseManifest> = {}, signer = trusted) =>
  signedManifest(signer, proves, { stage: 'prod', rehearsal: false, ...changed });
const sound = signed(['A', 'C', 'D', 'candidate_attempt_index']);

describe('readRelease', () => {
  interface Stored extends Partial<AppliedGates> {
    readonly flags?: Readonly<Record<string, string>>;
    /** Default: the stores have left their marker. */
    readonly isMarked?: boolean;
    readonly isFirst?: boolean;
    readonly manifest?: string;
  }
  const read = ({ flags, isMarked = true, isFirst = false, manifest = sound, ...changed }: Stored) =>
    readRelease(
      { key: trusted.key, stage: 'prod', now: Date.parse('2030-01-01T00:00:00.000Z') },
      { ...appliedToProd({ ...(isMarked && { marker: 'prod' }), ...flags }, manifest), ...changed },
      { isFirst },
    );
  const nowhere = () => Promise.resolve(undefined);
  const refusal = (message: RegExp) => err(expect.stringMatching(message) as string);

  it('opens what is flagged and proved while gate E is open, with what is proved beyond gates [RP-023, RP-025]', async () => {
    expect(await read({ flags: { A: 'open', C: 'open', D: 'closed', E: 'open' } })).toStrictEqual(
      ok({
        release: { open: new Set(['A', 'C']), proved: new Set(['A', 'C', 'D', 'candidate_attempt_index']) },
        notes: [],
      }),
    );
  });

  it('takes a gate for closed that was never opened, without asking for a manifest', async () => {
    const nothing = (...notes: readonly string[]) =>
      ok({ release: { open: new Set(), proved: new Set() }, notes });
    expect(await read({ readParameter: nowhere })).toStrictEqual(
      nothing('prod has no gate flags yet: all gates are closed'),
    );
    expect(await read({ flags: { A: 'closed', E: 'open' }, readManifest: nowhere })).toStrictEqual(nothing());
  });

  it('takes nothing for a stage without the marker of its stores, but for a first deployment', async () => {
    const unmarked = { isMarked: false };
    expect(await read(unmarked)).toStrictEqual(
      refusal(
        /neither \/prod\/gates\/marker nor a gate flag of prod: they are the wrong ones, or the stores/,
      ),
    );
    for (const A of ['closed', 'open'])
      expect(await read({ ...unmarked, flags: { A } })).toStrictEqual(
        refusal(/gate flags without \/prod\/gates\/marker/),
      );
    expect(await read({ ...unmarked, isFirst: true })).toMatchObject(
      ok({ notes: ['first deployment of prod: all gates are closed'] }),
    );
    for (const stored of [{}, { ...unmarked, flags: { A: 'closed' } }])
      expect(await read({ ...stored, isFirst: true })).toStrictEqual(
        refusal(/is not the first deployment of prod here: omit -c first/),
      );
  });

  it('closes everything with gate E, and says so [RP-025]', async () => {
    expect(await read({ flags: { A: 'open', E: 'closed' } })).toStrictEqual(
      ok({
        release: { open: new Set(), proved: new Set() },
        notes: [expect.stringMatching(/gate E of prod is closed, and therefore A too/) as string],
      }),
    );
  });

  const flags = { A: 'open', E: 'open' };
  const unproved = /gates\/A is "open", but no applied manifest has a receipt for it/;
  it.each(
    Object.entries<readonly [Stored, RegExp]>({
      'a flag set by hand': [{ flags: { B: 'open', E: 'open' } }, /gates\/B is "open", but no applied/],
      'flags set by hand without gate E': [{ flags: { A: 'open' } }, unproved],
      'a flag of a stage without a manifest': [{ flags, readParameter: nowhere }, unproved],
      'a parameter that names none': [
        { flags, readParameter: () => Promise.resolve('s3://b/x') },
        /does not contain the digest and/,
      ],
      'a manifest that is not there': [{ flags, readManifest: nowhere }, /does not exist/],
      'another manifest in its place': [
        { flags, readManifest: () => Promise.resolve(Buffer.from(signed(['A', 'B']))) },
        /is not the one that was/,
      ],
      'another key': [
        { flags, manifest: signed(['A'], {}, otherKey) },
        /not signed with the key that prod trusts/,
      ],
      'an expired manifest': [
        { flags, manifest: signed(['A'], { expiresAt: '2030-01-01T00:00:00Z' }) },
        /has expired/,
      ],
      'the manifest of another stage': [
        { flags, manifest: signed(['A'], { stage: 'staging' }) },
        /was not signed for prod but for another stage/,
      ],
      'a rehearsal': [{ flags, manifest: signed(['A'], { rehearsal: true }) }, /is a rehearsal/],
      'another value': [{ flags: { A: 'true' } }, /gates\/A is neither "open" nor "closed"/],
      'another name': [{ flags: { a: 'closed' } }, /gates\/a is not a gate/],
    }),
  )(
    'refuses %s instead of closing what may be in use, with a hint at -c gates=',
    async (_, [stored, message]) => {
      const result = await read(stored);
      expect(result).toStrictEqual(refusal(message));
      expect(result).toStrictEqual(err(expect.stringContaining('-c gates=') as string));
    },
  );

  it.each([
    ['readFlags', 'gates of prod from SSM'],
    ['readParameter', 'manifest of prod'],
    ['readManifest', 'manifest of prod'],
  ] as const)('takes no answer of %s for an error, never for "all closed"', async (part, what) => {
    const failing = () => Promise.reject(new Error('The security token has expired'));
    expect(await read({ flags, [part]: failing })).toStrictEqual(
      refusal(new RegExp(`^cannot read the ${what} \\(The security token has expired\\); .*-c gates=`)),
    );
  });
});
