import { createHash, sign as signBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readGateFlags } from '#shared/stores/gate-parameters.ts';
import { keepProof, placeOfProof } from '#shared/stores/proof-objects.ts';
import { createReleaseStateTable } from '#shared/stores/release-state-table.ts';
import type { Provable } from '#shared/contract/gates.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { releaseManifest, verifyManifest } from '#shared/release/manifest.ts';
import type { ManifestReceipt, ReleaseManifest } from '#shared/release/manifest.ts';
import { flagsOf } from '#shared/release/release-state.ts';
import { localBucketName } from '#shared/stage/local-stage.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { startTestAws, useTestAws } from '#test/support/aws.ts';
import { projectFolder, runProgram } from '#test/support/commands.ts';
import { sampleProof } from '#test/support/proof-receipt.ts';
import { appliedToProd, createSigner, sampleManifest } from '#test/support/release.ts';
import { receiptBytes } from '#ops/proof/receipt.ts';
import { dereferenceAll, type ReceiptPlaces } from './dereference.ts';
import { showGates } from './show.ts';
import { sign } from './sign.ts';
import { attachSignature, signManifest, signingDigest, signingInput } from './sign-manifest.ts';

const { key: jwk, privateKey } = createSigner();
const NOW = Date.parse('2030-01-01T00:00:00.000Z');

const folder = await mkdtemp(join(tmpdir(), 'gates-'));

const receiptOf = (proves: Provable, location: string, content = 'proof'): ManifestReceipt => ({
  proves,
  location,
  sha256: sha256Hex(content),
  summary: `proof of ${proves}`,
});
const manifestOf = (receipts: readonly ManifestReceipt[], changed: Partial<ReleaseManifest> = {}) =>
  sampleManifest([], { stage: 'prod', rehearsal: false, receipts: [...receipts], ...changed });

const nowhere: ReceiptPlaces = {
  folder: undefined,
  fetch: () => Promise.reject(new Error('no network')),
  readObject: () => Promise.resolve(undefined),
};

/** A body of so many MB, of which nobody should take more than the first that is too many. */
function* megabytes(count: number): Generator<Uint8Array> {
  for (let taken = 0; taken < count; taken += 1) {
    if (taken > 32) throw new Error('read beyond the limit');
    yield Buffer.alloc(1024 * 1024);
  }
}

/** What the network has: it follows a redirect if it may. */
const web: Readonly<Record<string, (init?: RequestInit) => Response>> = {
  'https://proofs.test/a': () => new Response('proof'),
  'https://proofs.test/changed': () => new Response('other'),
  'https://proofs.test/moved': (init) =>
    new Response('proof', { status: init?.redirect === 'manual' ? 302 : 200 }),
  'https://proofs.test/absent': () => new Response('proof', { status: 404 }),
  'https://proofs.test/full': () => new Response(ReadableStream.from(megabytes(32))),
  'https://proofs.test/endless': () => new Response(ReadableStream.from(megabytes(Infinity))),
  'https://me:secret@proofs.test/a': () => new Response('proof'),
};
const denied = Object.assign(new Error('no'), { name: 'AccessDenied' });
const isNot = {
  outside: 'is outside the manifest’s folder',
  same: expect.stringMatching(/^has been changed: its SHA-256 is [0-9a-f]{64}, /) as string,
} as const;

it.each<[string, string | undefined, Partial<ReceiptPlaces>?]>([
  ['file:receipts/a', undefined],
  ['file:receipts/changed', isNot.same],
  ['file:receipts', 'is not a file'],
  ['file:absent', 'cannot be read: no such file or directory'],
  ['file:../outside', isNot.outside],
  ['file:link', isNot.outside],
  ['file:/etc/passwd', isNot.outside],
  ['file:receipts/a', expect.stringContaining('not available here') as string, { folder: undefined }],
  ['s3://proofs/a/b.json', undefined],
  ['s3://proofs/a', 'does not exist'],
  ['s3://proofs/a', 'cannot be read: S3 returned AccessDenied', { readObject: () => Promise.reject(denied) }],
  ['https://proofs.test/a', undefined],
  ['https://proofs.test/changed', isNot.same],
  ['https://proofs.test/moved', 'redirects to another URL: give the final URL'],
  ['https://proofs.test/absent', 'returned 404'],
  ['https://proofs.test/full', isNot.same],
  ['https://proofs.test/endless', 'is larger than 32 MB'],
  ['https://proofs.test/down', 'cannot be reached'],
  ['https://me:secret@proofs.test/a', 'must not contain a credential in its URL'],
])(
  'a receipt at %s holds when its bytes have the signed digest: %s [RP-025]',
  async (location, fault, places) => {
    const around = await mkdtemp(join(folder, 'around-'));
    const inside = join(around, 'manifest');
    await mkdir(join(inside, 'receipts'), { recursive: true });
    for (const [path, text] of Object.entries({
      'receipts/a': 'proof',
      'receipts/changed': 'proof!',
      '../outside': 'proof',
    }))
      await writeFile(join(inside, path), text);
    await symlink(join(around, 'outside'), join(inside, 'link'));
    const found = await dereferenceAll(manifestOf([receiptOf('A', location)]), {
      folder: inside,
      fetch: (url, init) => new Promise((done) => done(web[url as string]!(init))),
      readObject: (from) =>
        Promise.resolve(from === 's3://proofs/a/b.json' ? Buffer.from('proof') : undefined),
      ...places,
    });
    expect(found.map((of) => of.fault)).toEqual([fault]);
  },
);

it('a receipt of the two-tenant proof has to be sound, and no rehearsal unless the manifest is one [RP-025, RP-032]', async () => {
  const bytes = receiptBytes(sampleProof({ rehearsal: true, marks: ['it is on the loopback interface'] }));
  await writeFile(join(folder, 'proof.json'), bytes);
  const receipt = { ...receiptOf('D', 'file:proof.json'), sha256: sha256Hex(bytes) };
  const found = [false, true].map((rehearsal) =>
    dereferenceAll(manifestOf([receipt], { rehearsal }), { ...nowhere, folder }),
  );
  expect((await Promise.all(found)).map(([of]) => of?.fault)).toEqual([
    'is a rehearsal, which only a rehearsal manifest may contain',
    undefined,
  ]);
});

describe('a signature', () => {
  const manifest = manifestOf([receiptOf('A', 'file:a')]);
  const use = { key: jwk, stage: 'prod', now: NOW };

  it('that is made here verifies, and one that a key elsewhere makes of the digest does too', async () => {
    expect(await verifyManifest(signManifest(manifest, privateKey), use)).toStrictEqual(ok(manifest));
    expect(Buffer.from(signingDigest(manifest))).toStrictEqual(
      createHash('sha256').update(signingInput(manifest)).digest(),
    );
    // Numbers with and without leading zeros come up among these.
    for (let round = 0; round < 300; round += 1) {
      const der = signBytes('sha256', Buffer.from(signingInput(manifest)), privateKey);
      const jws = attachSignature(manifest, der);
      expect(await verifyManifest(jws.ok ? jws.value : '', use)).toStrictEqual(ok(manifest));
    }
  });

  it('is none in any other form', () => {
    const der = signBytes('sha256', Buffer.from('x'), privateKey);
    for (const bytes of [Buffer.alloc(0), der.subarray(1), der.subarray(0, -1), Buffer.alloc(64, 1)])
      expect(attachSignature(manifest, bytes).ok).toBe(false);
  });

  it('fills in the digest of a receipt in a file, and names what is wrong with a draft', async () => {
    await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await writeFile(join(folder, 'a.json'), 'proof');
    const draft = join(folder, 'draft.json');
    const { proves, location, summary } = receiptOf('A', 'file:a.json');
    await writeFile(draft, JSON.stringify({ ...manifest, receipts: [{ proves, location, summary }] }));
    const out = join(folder, 'manifest.jws');
    const options = {
      key: join(folder, 'key.pem'),
      digest: undefined,
      signature: undefined,
      out,
      print: () => undefined,
    };
    expect(await sign(draft, options)).toMatchObject({ ok: true });
    expect(await verifyManifest((await readFile(out, 'utf8')).trim(), use)).toStrictEqual(
      ok({ ...manifest, receipts: [receiptOf('A', 'file:a.json')] }),
    );
    await writeFile(draft, JSON.stringify({ ...manifest, rehearsal: 'no' }));
    expect(await sign(draft, options)).toMatchObject(err(expect.stringContaining('/rehearsal')));
    expect(await sign(draft, { ...options, key: undefined })).toMatchObject({ ok: false });
  });
});

describe('the example of docs/release.md', () => {
  it('is a manifest that verifies once it is signed', async () => {
    const page = await readFile(join(projectFolder, 'docs/release.md'), 'utf8');
    const json = /<!-- manifest -->\s*```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const manifest = releaseManifest.parse(JSON.parse(json));
    const use = { key: jwk, stage: 'local', now: Date.parse(manifest.issuedAt) };
    expect(await verifyManifest(signManifest(manifest, privateKey), use)).toStrictEqual(ok(manifest));
    expect(
      await verifyManifest(signManifest({ ...manifest, stage: 'prod' }, privateKey), {
        ...use,
        stage: 'prod',
      }),
    ).toStrictEqual(err('rehearsal'));
  });
});

describe('show', () => {
  const receipts = [receiptOf('A', 'file:a'), receiptOf('C', 'file:c'), receiptOf('D', 'file:d')];
  interface Stored {
    readonly flags?: Readonly<Record<string, string>>;
    readonly manifest?: ReleaseManifest | undefined;
    readonly key?: typeof privateKey;
    readonly change?: boolean;
    /** What the functions read; default: the same manifest. */
    readonly runtime?: ReleaseManifest;
  }
  async function shown({
    flags = {},
    manifest,
    key = privateKey,
    change = false,
    runtime = manifest,
  }: Stored): Promise<string> {
    for (const name of ['a', 'c', 'd'])
      await writeFile(join(folder, name), change && name === 'c' ? 'changed' : 'proof');
    const item = runtime === undefined ? undefined : signManifest(runtime, key);
    const result = await showGates({
      use: { key: jwk, stage: 'prod', now: NOW },
      applied: appliedToProd({ marker: 'prod', ...flags }, manifest && signManifest(manifest, key)),
      state: {
        read: () =>
          Promise.resolve(
            item === undefined ? undefined : { manifest: item, flags: flagsOf(flags), appliedAt: NOW },
          ),
      },
      places: { ...nowhere, folder },
      routes: routesOf('reports'),
    });
    if (!result.ok) throw new Error(result.error);
    return result.value;
  }
  const open = { A: 'open', C: 'open', D: 'open', E: 'open', B: 'closed', F: 'closed' };

  it('lists the routes that each gate still keeps closed, and what opens next', async () => {
    const text = await shown({ flags: open, manifest: manifestOf(receipts) });
    expect(text).toMatch(/^A +open +1 +open$/m);
    expect(text).toMatch(/^B +closed +none +closed +materializeAttemptReport$/m);
    expect(text).toMatch(/^E +open +manifest +open$/m);
    expect(text).toMatch(/^candidate_attempt_index +none +not proved +listCandidateReports$/m);
    expect(text).toMatch(/^Next: B would open materializeAttemptReport$/m);
    expect(text).toMatch(/^Next: candidate_attempt_index would open listCandidateReports$/m);
    expect(text).toContain('Deployed functions: the same');
  });

  it('warns of a manifest that expires within 30 days, and of no other', async () => {
    const warned = async (expiresAt: string): Promise<boolean> =>
      (await shown({ flags: open, manifest: manifestOf(receipts, { expiresAt }) })).includes(
        `! the manifest expires at ${expiresAt}`,
      );
    expect(await warned('2030-01-30T23:59:59Z')).toBe(true);
    expect(await warned('2030-01-31T00:00:00Z')).toBe(false);
  });

  it.each(
    Object.entries<readonly [Stored, RegExp]>({
      nothing: [{}, /no manifest has been applied[\s\S]*Next: A and D would open readClassCohort, /],
      'a flag set by hand': [
        { flags: { ...open, B: 'open' }, manifest: manifestOf(receipts) },
        /^B +open +none +closed: the flag is open, but no receipt proves it +materializeAttemptReport$/m,
      ],
      'another key': [
        {
          flags: open,
          manifest: manifestOf(receipts),
          key: createSigner().privateKey,
        },
        /^! the manifest s3:\/\/b\/k is not signed with the key that prod trusts.*no gate is open$/m,
      ],
      'a receipt that has changed': [
        { flags: open, manifest: manifestOf(receipts), change: true },
        /^C +open +1, 1 failing[\s\S]*^! C: file:c has been changed/m,
      ],
      'a gate that is none': [
        { flags: { ...open, X: 'open' }, manifest: manifestOf(receipts) },
        /^! \/prod\/gates\/X is not a gate: .*every synth fails$/m,
      ],
      'functions that still go by a manifest without a finer receipt': [
        {
          flags: open,
          manifest: manifestOf([...receipts, receiptOf('candidate_attempt_index', 'file:a')]),
          runtime: manifestOf(receipts),
        },
        /^Deployed functions: A, C, D open \(.*\)\. The next synth would open other gates: apply the manifest again$/m,
      ],
      'gate E closed': [
        { flags: { ...open, E: 'closed' }, manifest: manifestOf(receipts) },
        /^A +open +1 +closed, because gate E is closed/m,
      ],
    }),
  )('tells %s', async (_, [stored, expected]) => {
    expect(await shown(stored)).toMatch(expected);
  });
});

describe('npm run gates', { timeout: 120_000 }, () => {
  const test = useTestAws();
  beforeAll(() => writeFile(join(folder, 'key.jwk'), JSON.stringify(jwk)));

  const run = (...args: readonly string[]) => runProgram('ops/gates.ts', args, { env: test.env, folder });
  const writeManifest = (location: string, changes: Partial<ReleaseManifest> = {}): Promise<void> => {
    const manifest = manifestOf([receiptOf('A', location)], changes);
    return writeFile(join(folder, 'manifest.jws'), `${signManifest(manifest, privateKey)}\n`);
  };

  it('verifies a file: 0 when everything holds, 1 with a table and the reason when it does not', async () => {
    await writeManifest('file:a');
    await writeFile(join(folder, 'a'), 'proof');
    const good = await run('verify', 'manifest.jws', '--key', 'key.jwk');
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(/signed for prod and valid until 2999[\s\S]*A +OK +file:a +proof of A/);
    await writeFile(join(folder, 'a'), 'changed');
    const changed = await run('verify', 'manifest.jws', '--key', 'key.jwk');
    expect(changed.code).toBe(1);
    expect(changed.stdout).toMatch(/A +no +file:a +it has been changed/);
    expect(changed.stderr).toContain('1 of 1 receipts are not valid');
    // The stage's own setting is a place to fill in, which trusts nobody.
    const untrusted = await run('verify', 'manifest.jws');
    expect(untrusted.code).toBe(1);
    expect(untrusted.stderr).toContain('is not signed with the key that prod trusts');
  });

  it('asks AWS for no receipt of the local stage', async () => {
    await writeManifest(placeOfProof(localBucketName, 'rehearsal', 'proof').location, {
      stage: 'local',
      rehearsal: true,
    });
    // This bucket stands for the account that the caller's environment leads to.
    await keepProof(test.s3, localBucketName, 'rehearsal', 'proof');
    const { code, stdout } = await run('verify', 'manifest.jws', '--key', 'key.jwk');
    expect(code).toBe(1);
    expect(stdout).toMatch(/A +no +s3:\S+ +it does not exist/);
  });

  it('says of a mere look what AWS has against it, and of nothing written', async () => {
    const gone = await startTestAws();
    await gone.close();
    const { code, stderr } = await runProgram('ops/gates.ts', ['show', '--stage', 'prod'], gone);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^AWS cannot be reached: ECONNREFUSED\n$/)]);
  });

  it('closes gates whatever becomes of the manifest beside them, and ends with 1 when that was refused', async () => {
    const state = createReleaseStateTable(test.dynamo, 'local-settings');
    const manifest = signManifest(manifestOf([receiptOf('C', 'file:c')]), privateKey);
    const flags = { C: 'open', D: 'open', E: 'open' } as const;
    await state.write({ manifest, flags, appliedAt: NOW }, undefined);
    const where = ['--stage', 'prod', '--table', 'local-settings'];
    const refused = await run('apply', join(folder, 'lost.jws'), '--withdraw', 'C', ...where);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('closed C of prod');
    expect(refused.stderr).toMatch(/no such file or directory\nThe manifest was not applied\./);
    expect(await state.read()).toMatchObject({ manifest, flags: { ...flags, C: 'closed' } });
    expect(await run('apply', '--withdraw', 'D,E', ...where)).toMatchObject({ code: 0 });
    const closed = { C: 'closed', D: 'closed', E: 'closed' };
    expect(await state.read()).toMatchObject({ manifest, flags: closed });
    expect(Object.fromEntries(await readGateFlags(test.ssm, '/prod/gates'))).toEqual(closed);
  });
});
