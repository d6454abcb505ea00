import { openContinuation, sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { canonicalJson, hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { makeRandom, uuid } from './bank.ts';
import { above, duration, guardIn, ratio, table, timeAll, unwrap } from './measure.ts';
import type { Part, Progress, Report, Timed } from './measure.ts';

const MEMBERS = 10_000;
/** Guards, ours: how many times dearer than the runtime's own parser and writer the strict ones may be … */
const JSON_GUARD = 6;
/** … and sixty offers than one. Most of a short token is its frame. */
const TOKEN_GUARD = 6;

const HASH = 'a'.repeat(64);
const STARTED_AT = Date.UTC(2026, 2, 1);

function stateAfter(offers: number, random: () => number): AdaptiveRunState {
  return {
    version: 1,
    tenantId: 'tenant-aurora',
    runMode: 'production_learner',
    selectionPolicyId: uuid(random),
    selectionPolicyChecksum: HASH,
    scaleCalibrationId: uuid(random),
    scaleCalibrationChecksum: HASH,
    pins: {
      testSpecId: uuid(random),
      testSpecHash: HASH,
      testBankId: uuid(random),
      testBankIdentityHash: HASH,
      bankOperationId: uuid(random),
      qtiPoolPackageId: uuid(random),
      qtiPoolArtifactId: uuid(random),
      qtiPoolArtifactVersionId: uuid(random),
      qtiPoolPackageHash: HASH,
      qtiPoolEtag: '"pool"',
      resolvedPoolHash: HASH,
    },
    candidateRef: uuid(random),
    runSeed: HASH,
    startedAt: STARTED_AT,
    resultsStudentId: uuid(random),
    offers: Array.from({ length: offers }, () => ({
      deliverySessionId: uuid(random),
      artifactVersionId: uuid(random),
      consumedAttemptId: uuid(random),
    })),
    consumed: { count: offers, digest: HASH },
    stopReason: null,
    acknowledgements: {},
  };
}

async function continuation(progress: Progress, isQuick: boolean): Promise<Report> {
  const key = new Uint8Array(32).fill(7);
  const keys: KeyRing = {
    active: () => Promise.resolve({ kid: 'bench', key }),
    open: () => Promise.resolve(key),
  };
  const random = makeRandom(3);
  const lengths = [1, 60];
  const tokens = await Promise.all(
    lengths.map((offers) => sealContinuation(keys, stateAfter(offers, random), STARTED_AT)),
  );
  const cases = tokens.flatMap(({ token, state }): Timed[] => [
    {
      name: `seal, ${state.offers.length} offers`,
      calls: Array.from({ length: 200 }, () => () => sealContinuation(keys, state, STARTED_AT)),
    },
    {
      name: `open, ${state.offers.length} offers`,
      calls: Array.from({ length: 200 }, () => async () => {
        unwrap(await openContinuation(keys, token, state.tenantId, STARTED_AT + 1), ({ detail }) => detail);
      }),
    },
  ]);
  const timings = await timeAll(cases, isQuick ? 2 : 5, progress);
  const half = cases.length / 2;
  const tokenGuard = guardIn(TOKEN_GUARD, isQuick);
  return {
    text: table(
      ['', 'characters', 'p50', 'p95', 'best', 'to 1 offer', 'guard'],
      timings.map(({ name, p50, p95, best }, n) => {
        const size = String(tokens[n >> 1]?.token.length ?? '');
        const grown = n < half ? [] : [ratio(best / (timings[n - half]?.best ?? NaN)), `≤ ${tokenGuard}`];
        return [name, size, ...[p50, p95, best].map(duration), ...grown];
      }),
    ),
    missed: timings
      .slice(half)
      .flatMap(({ name, best }, n) => above(name, best / (timings[n]?.best ?? NaN), tokenGuard)),
  };
}

/** A manifest of Bank, as large as a pool may be. */
function manifestOf(members: number): unknown {
  const random = makeRandom(5);
  return {
    tenantId: 'tenant-aurora',
    operationId: uuid(random),
    state: 'succeeded',
    testSpecId: uuid(random),
    testBankId: uuid(random),
    root: {
      packageId: uuid(random),
      packageHash: HASH,
      artifactId: uuid(random),
      artifactVersionId: uuid(random),
      qtiIdentifier: 'pool',
    },
    members: Array.from({ length: members }, (_, n) => ({
      artifactId: uuid(random),
      artifactVersionId: uuid(random),
      qtiIdentifier: `item-${n}`,
      caseGuids: [uuid(random), uuid(random)].toSorted(),
      kcGuids: [uuid(random)],
    })),
  };
}

async function manifest(progress: Progress, isQuick: boolean): Promise<Report> {
  progress('making the manifest');
  const value = manifestOf(MEMBERS);
  const text = JSON.stringify(value);
  const canonical = canonicalJson(value);
  const jsonGuard = guardIn(JSON_GUARD, isQuick);
  const parseStrictly = () => unwrap(parseStrictJson(text), ({ kind }) => kind);
  const cases = [
    { name: 'JSON.parse', run: () => JSON.parse(text) as unknown },
    { name: 'parseStrictJson', run: parseStrictly, isGuarded: true },
    { name: 'JSON.stringify and SHA-256', run: () => sha256Hex(JSON.stringify(value)) },
    { name: 'canonical JSON and SHA-256', run: () => hashCanonical(value), isGuarded: true },
    { name: 'SHA-256 alone', run: () => sha256Hex(canonical) },
  ];
  const timings = await timeAll(
    cases.map(({ name, run }) => ({ name, calls: [run] })),
    isQuick ? 3 : 10,
    progress,
  );
  /** The plain way of doing the same is one line above. */
  const ratios = timings.map(({ best }, n) =>
    cases[n]?.isGuarded === true ? best / (timings[n - 1]?.best ?? NaN) : undefined,
  );
  return {
    text: table(
      [
        `${MEMBERS.toLocaleString('en')} members, ${(text.length / 1e6).toFixed(1)} MB`,
        'p50',
        'best',
        'to plain',
        'guard',
      ],
      timings.map(({ name, p50, best }, n) => {
        const value = ratios[n];
        const compared = value === undefined ? [] : [ratio(value), `≤ ${jsonGuard}`];
        return [name, duration(p50), duration(best), ...compared];
      }),
    ),
    missed: timings.flatMap(({ name }, n) => {
      const value = ratios[n];
      return value === undefined ? [] : above(name, value, jsonGuard);
    }),
  };
}

export const continuationPart: Part = { title: 'Continuation: sealed and opened', run: continuation };

export const manifestPart: Part = { title: 'Manifest: strict parsing and canonical hash', run: manifest };
