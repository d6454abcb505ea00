import type { SourceService } from '#shared/contract/reports/problem.ts';
import { meanings, type CallName, type Fault, type Meaning } from './faults.ts';

// What a route returns when an upstream call goes wrong, in one line, by the kind of the dependency and the meaning of the fault.

/** The answer to every meaning of a fault: a new meaning does not compile without its answer in every kind of dependency. */
export type Answers = Readonly<Record<Meaning, string>>;

/** What a route depends on: the answers by kind, and by the id where the answer depends on which id is another one. */
export interface Dependency extends Omit<Answers, 'wrong-entity'> {
  readonly 'wrong-entity': string | Readonly<Record<string, string>>;
}

/** The upstream calls of a flow, those that write in their order. */
export type Dependencies = Readonly<Partial<Record<CallName, Dependency>>>;

/** The answer to a fault; undefined if the table has none for another id. */
export function answerTo(
  { 'wrong-entity': another, ...answers }: Dependency,
  { meaning, arm }: Fault,
): string | undefined {
  if (meaning !== 'wrong-entity') return answers[meaning];
  return typeof another === 'string' ? another : another[arm.member ?? ''];
}

/** One answer, whatever goes wrong. */
export function anyhow(answer: string): Dependency {
  // SAFETY: a member per meaning.
  return Object.fromEntries(meanings.map((meaning) => [meaning, answer])) as Record<Meaning, string>;
}

type Versions = Pick<Answers, 'driftedOnce' | 'drifted' | 'staleOnce' | 'stale'>;
/** Of a version that differs or is old: in one answer, and in every answer. */
const versions = (once: string, always: string): Versions => ({
  driftedOnce: once,
  drifted: always,
  staleOnce: once,
  stale: always,
});

type Owner = 'content' | 'bank' | 'qti' | 'case' | 'anchor' | 'results' | 'caliper';

const waitFor = (owner: string): string => `424 upstream-unavailable ${owner} retryable`;
const refusedBy = (owner: string): string => `424 upstream-unavailable ${owner}`;
const invalid = (owner: string): string => `502 qti-adaptive-pool-invalid ${owner}`;
const incomplete = (owner: string): string => `424 finalization-incomplete ${owner} retryable`;
const hidden = '404 resource-not-found';
const drift = '409 adaptive-pool-version-drift';
const conflict = '409 stream-conflict';
const miscalibrated = '422 calibration-invalid';
/** The caller names spec, bank and operation, which must belong together. */
const mismatched = '400 invalid-request';

/** Kinds of dependencies of the mastery engine. */
export const mastery = {
  waitFor,
  refusedBy,
  invalid,
  incomplete,
  hidden,
  drift,
  conflict,
  miscalibrated,
  mismatched,

  /** What another owner or a token refers to: the owner has to give it. */
  derived(owner: Owner): Dependency {
    return {
      ...anyhow(refusedBy(owner)),
      unavailable: waitFor(owner),
      // The credential that the container has kept is read again for the repetition.
      unauthorized: waitFor('platform_auth'),
    };
  },

  /** A part of the pool: an answer that is there and breaks its contract breaks the pool. */
  pool(owner: 'bank' | 'qti'): Dependency {
    const broken = invalid(owner);
    return { ...mastery.derived(owner), invalid: broken, 'wrong-tenant': broken, 'wrong-entity': broken };
  },

  /** What the caller names: if its owner does not show it, it is the one 404. A 403 refuses the service itself. */
  named: (dependency: Dependency): Dependency => ({
    ...dependency,
    'not-found': hidden,
    'refused-id': mismatched,
  }),

  /** Not yet pinned: any version is as good as another. */
  unpinned: (calm: string): Versions => versions(calm, calm),

  /** Read twice before anything is pinned: one odd reading is nothing; an answer that always differs from the other owner's breaks the pool. */
  readTwice: (calm: string): Versions => versions(calm, invalid('qti')),

  /** Compared with the pins: one reading that differs is repeated, a second one ends the run. */
  pinned: (calm: string, final: string): Versions & Pick<Dependency, 'wrong-entity'> => ({
    ...versions(calm, final),
    'wrong-entity': final,
  }),

  /** A knowledge component in CASE: the calibration pins it, in every member but its age. */
  calibrated: (calm: string): Dependency => ({
    ...mastery.derived('case'),
    'wrong-entity': {
      '/identifier': refusedBy('case'),
      '/uri': miscalibrated,
      '/CFDocumentURI/identifier': miscalibrated,
    },
    ...versions(calm, miscalibrated),
    stale: calm,
  }),

  /** A write or a read-back that finalizes: a silent owner leaves the run waiting, every other answer names its owner. */
  finalizing(owner: 'results' | 'caliper', waiting: string): Dependency {
    const result = owner === 'results' ? `${incomplete(owner)} when mended` : incomplete(owner);
    return {
      ...anyhow(result),
      unavailable: waiting,
      malformed: incomplete(owner),
      invalid: incomplete(owner),
      'wrong-tenant': incomplete(owner),
      'wrong-entity': incomplete(owner),
      unauthorized: incomplete('platform_auth'),
    };
  },
};

/** The calm answer of the reports service, and its deviations. */
const same = '200';
const notFound = '404 not-found';
const unavailable = (owner: SourceService): string => `503 dependency-unavailable ${owner}`;
const missing = (owner: SourceService): string => `503 dependency-incomplete ${owner}`;
const disagree = (owner: SourceService): string => `409 source-version-conflict ${owner}`;
/** The calm answer, but for the version in the receipts of an owner that has been writing. */
const newer = (owner: SourceService): string => `200, ${owner} newer`;
/** An enrichment is left out, and the report names it. */
const without = (problem: string): string => `200, caliper unavailable, without ${problem}`;

/** Kinds of dependencies of the reports service. */
export const reports = {
  same,
  notFound,
  unavailable,
  missing,
  disagree,

  /** What another owner refers to. */
  derived: (owner: SourceService): Dependency => ({
    ...anyhow(unavailable(owner)),
    'not-found': missing(owner),
  }),

  /** What the caller names: what its owner hides is the one 404. A 403 refuses the service itself, and hides nothing. */
  named: (owner: SourceService): Dependency => ({
    ...reports.derived(owner),
    'not-found': notFound,
    'refused-id': notFound,
  }),

  /** What the caller names and another owner has confirmed: only its absence is the one 404. */
  confirmed: (owner: SourceService): Dependency => ({ ...reports.derived(owner), 'not-found': notFound }),

  /** What decides whether the tenant may know of it at all: another tenant's is hidden too. */
  visible: (owner: SourceService): Dependency => ({ ...reports.named(owner), 'wrong-tenant': notFound }),

  /** A version that others pin: one more read finds that the owners agree, or they never do. An old version contradicts none. */
  pinned: (final: string, stale = final): Versions => ({ ...versions(same, final), stale }),

  /** A version that no other owner pins: any is as good as another, as long as it is current. */
  free: (owner: SourceService, stale: string): Versions => ({
    ...versions(newer(owner), newer(owner)),
    staleOnce: stale,
    stale,
  }),

  /** OneRoster has versions and no older answers; a cohort report shows no receipt of it. */
  onRoster: (shown: boolean): Versions =>
    versions(shown ? newer('oneroster') : same, shown ? newer('oneroster') : same),

  /** An enrichment: the report is returned without it. */
  enrichment: {
    ...anyhow(without(unavailable('caliper'))),
    'not-found': without(missing('caliper')),
    // A replica that does not have the event yet.
    staleOnce: without(missing('caliper')),
    stale: without(missing('caliper')),
  } satisfies Dependency,

  /** What is left out of the answer, whatever its owner returns instead of it. */
  enriched: anyhow,

  /** Evidence whose bytes a run has pinned: other bytes in one answer are read again, in every answer they are `final`. */
  bytes: (final: string): Versions & Pick<Dependency, 'wrong-entity'> => ({
    ...versions(same, final),
    'wrong-entity': final,
  }),
};
