import type {
  AdaptiveRun,
  AttemptReport,
  AttemptReportPage,
  CohortReport,
  EquivalenceReport,
} from 'mastery-reports-client';

/** What the element shows: the JSON of the service, as it came. */
export type ReportData =
  | { readonly kind: 'attempt'; readonly report: AttemptReport }
  | {
      readonly kind: 'history';
      readonly page: AttemptReportPage;
      /** Reports of the page in the view `evidence`: the only place that states the day of a test. Without them the history has no time axis. */
      readonly details?: readonly AttemptReport[];
    }
  | { readonly kind: 'cohort'; readonly cohort: CohortReport }
  | { readonly kind: 'equivalence'; readonly equivalence: EquivalenceReport }
  | { readonly kind: 'run'; readonly run: AdaptiveRun }
  | ClassData;

/** The learners of a class, and how to get a report of each, in the view `standards`. The element asks for four at a time. */
export interface ClassData {
  readonly kind: 'class';
  /** The ids of the learners, in the order of the list. The service has no list of a class. */
  readonly learners: readonly string[];
  /** Resolves to undefined if there is no report of the learner. */
  readonly reportOf: (learner: string, signal: AbortSignal) => Promise<AttemptReport | undefined>;
}

/** What has become of the report of one learner of a class. */
export type Fetched =
  | { readonly state: 'waiting' }
  | { readonly state: 'done'; readonly report: AttemptReport | undefined }
  | { readonly state: 'failed'; readonly error: unknown };

/** Texts by id: of learners, standards, knowledge components, items, forms, tests and measures. */
export type Names = ReadonlyMap<string, string> | Readonly<Record<string, string>>;

/** The ends of a scale that the embedding product knows: a score is drawn on the whole scale. */
export interface ScaleEnds {
  readonly low: number;
  readonly high: number;
}

/** What the embedding product knows and the service does not. */
export interface Knowledge {
  readonly names: Names;
  /** Pairs of ids of standards or components: the first one is taught before the second one. */
  readonly precedes: readonly (readonly [before: string, after: string])[];
  /** What the learner of a report or a run is called. Otherwise the name of its id in `names`. */
  readonly learner: string | undefined;
  /** By `scaleVersion` of a report, or `scaleId` of a run. */
  readonly scales: Readonly<Record<string, ScaleEnds>>;
  /** Returns the address of the page that shows an attempt. */
  readonly hrefOf: ((attemptId: string) => string | undefined) | undefined;
}
