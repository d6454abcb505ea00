import type { Provable } from '#shared/contract/gates.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { FormEquivalence } from '#shared/platform/owners/analytics.ts';
import type { FormEvidence, ReadinessCrosswalks, ReportCriteria } from '#shared/platform/owners/content.ts';
import type { AttemptEvidence, Form } from '#shared/platform/owners/qti.ts';
import type { CandidateAttempts, RecordHeader, SettledRecord } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** A fact as its owner returned it, with the receipt of the observation. */
export interface Observed<T> {
  readonly value: T;
  readonly receipt: SourceRef;
}

/** A CASE framework as a report needs it. */
export interface Framework {
  /** When the framework last changed: an instant. */
  readonly changedAt: string;
  readonly guids: ReadonlySet<string>;
  /** The parents of a child, by the child's GUID; an item without one is a root. */
  readonly parents: ReadonlyMap<string, readonly string[]>;
}

/** A source that a report does not require: it adds only its receipt. `problem`: why it could not be consulted. */
export interface Enrichment {
  readonly receipt: SourceRef;
  readonly problem?: Problem;
}

/** The facts of an attempt without its mastery rows: all that a summary shows, and the gaps that its gate has to list. */
export interface HeaderFacts {
  /** As QTI has it. */
  readonly attempt: Omit<IndexRow, 'attemptStatus' | 'modifiedAt' | 'record'>;
  readonly record: RecordHeader;
  readonly criteria: ReportCriteria;
  /** The CASE GUIDs of the mastery rows in state `gap`; undefined if Results does not state them. */
  readonly gapRows: readonly string[] | undefined;
}

/** The owners' facts on one attempt. */
export interface AttemptFacts {
  readonly evidence: Observed<AttemptEvidence>;
  readonly record: Observed<SettledRecord>;
  readonly criteria: Observed<ReportCriteria>;
  /** The candidate is on the roster. */
  readonly candidate: SourceRef;
  readonly framework: Observed<Framework>;
  readonly enrichments: readonly Enrichment[];
}

/** What decides, in addition to the owners' facts, what may be shown. */
export interface Released {
  /** What the release proves. */
  readonly proved: ReadonlySet<Provable>;
}

/** The facts from which a whole report of one attempt is composed. */
export interface ReportFacts extends AttemptFacts, Released {}

/** The facts that readiness is decided on: the attempt's own report, which no enrichment changes, and the blueprint's crosswalks. */
export interface ReadinessFacts extends Omit<AttemptFacts, 'enrichments'> {
  readonly crosswalks: Observed<ReadinessCrosswalks>;
}

/** One row of the index of a candidate's attempts. */
export type IndexRow = CandidateAttempts['rows'][number];

export interface EquivalenceFacts {
  readonly form: Observed<Form>;
  readonly equivalence: Observed<FormEquivalence>;
  readonly criteria: Observed<ReportCriteria>;
  readonly formEvidence: Observed<FormEvidence>;
}

/** The members of a response that describe its request and the time of its composition. */
export interface Moment {
  readonly observedAt: string;
  readonly requestId: string;
  readonly traceId: string;
}
