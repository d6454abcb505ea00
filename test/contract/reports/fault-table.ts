import { openFaults } from '#local/platform/faults.ts';
import { identitiesOf } from '#local/platform/routes.ts';
import type { faultKinds } from '#local/platform/faults.ts';
import {
  listCandidateReports,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
  readSchoolGradeCohort,
} from '#shared/contract/reports/routes.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { Route } from '#shared/contract/route.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';

type FaultKind = (typeof faultKinds)[number];
/** An upstream read by the name of its row in `operations`. */
type CallName = keyof typeof operations;

/**
 * What a route answers when one of its upstream reads goes wrong, in the words of `sentenceOf`. Numbers are statuses of the owner. `silent`:
 * it gives no whole answer in time, however often it is asked (down, late, 5xx, 429, cut off). `malformed` and `wrong_tenant`: in every
 * answer. `version_drift` and `stale`: in one answer; `always_…`: in every answer, where the route reads twice.
 */
interface FaultRow {
  readonly silent: string;
  readonly malformed: string;
  readonly 401: string;
  readonly 403: string;
  readonly 404: string;
  readonly 409: string;
  readonly 422: string;
  readonly wrong_tenant?: string;
  /** In every answer one id after another, by its JSON Pointer where they differ: the rest is as it was asked for. */
  readonly other_entity?: string | Readonly<Record<string, string>>;
  readonly version_drift?: string;
  readonly always_version_drift?: string;
  readonly stale?: string;
  readonly always_stale?: string;
}

type Column = keyof FaultRow;

type FaultTable = Readonly<Partial<Record<CallName, FaultRow>>>;

/** A route, a request that it answers with everything it has, and how each of its reads can fail. */
export interface Subject {
  readonly route: Route;
  readonly call: (fixtures: ReturnType<ReportsCaller['fixtures']>) => GatewayCall;
  readonly table: FaultTable;
}

const same = '200';
const hidden = '404 not-found';
const unavailable = (owner: SourceService): string => `503 dependency-unavailable ${owner}`;
const incomplete = (owner: SourceService): string => `503 dependency-incomplete ${owner}`;
const conflict = (owner: SourceService): string => `409 source-version-conflict ${owner}`;
/** The fault-free answer, but for the version in the receipts of an owner that has been writing. */
const newer = (owner: SourceService): string => `200, ${owner} newer`;
/** The fault-free answer, but that every entry is undecided since an owner is not current. */
const undecided = (owner: SourceService): string => `200, ${owner} stale, indeterminate`;

/** What another owner refers to, or what is read about something that another owner has confirmed. */
const derived = (owner: SourceService) => ({
  silent: unavailable(owner),
  malformed: unavailable(owner),
  401: unavailable(owner),
  403: unavailable(owner),
  404: incomplete(owner),
  409: unavailable(owner),
  422: unavailable(owner),
  wrong_tenant: unavailable(owner),
  other_entity: unavailable(owner),
});

/** What the caller names: whatever hides it is the one 404. A 403 refuses us, and hides nothing. */
const named = (owner: SourceService) => ({ ...derived(owner), 404: hidden, 422: hidden });

/** What the caller names and another owner has confirmed: only that there is nothing under it is the one 404. */
const confirmed = (owner: SourceService) => ({ ...derived(owner), 404: hidden });

/** What decides whether the tenant may know of it at all: another tenant's is hidden too. */
const visible = (owner: SourceService) => ({ ...named(owner), wrong_tenant: hidden });

/** QTI's lookup says itself who holds the rest: a candidate beyond the claims hides it, and records that do not fit it contradict it. */
const otherAttempt = {
  '/attemptId': unavailable('qti'),
  '/candidateSourcedId': hidden,
  '/contentTestSpecId': unavailable('results'),
  '/resultRecordId': incomplete('results'),
};

/** A version that others pin: one more read finds the owners agreed again, or never does. */
const pinned = (final: string, stale = final) => ({
  version_drift: same,
  always_version_drift: final,
  stale: same,
  // An owner that says that its version is an old one contradicts nobody.
  always_stale: stale,
});

/** A version that nobody pins: any is as good as another, as long as it is current. */
const free = (owner: SourceService, stale: string) => ({
  version_drift: newer(owner),
  always_version_drift: newer(owner),
  stale,
  always_stale: stale,
});

/** OneRoster has versions and no older answers, and a report says of it that it was there. */
const onRoster = { version_drift: newer('oneroster'), always_version_drift: newer('oneroster') };
/** A cohort report shows no receipt of the roster. */
const onRosterUnshown = { version_drift: same, always_version_drift: same };

/** An enrichment: the report goes without, and says so. */
const without = (problem: string): string => `200, caliper unavailable, without ${problem}`;
const optional: FaultRow = {
  silent: without(unavailable('caliper')),
  malformed: without(unavailable('caliper')),
  401: without(unavailable('caliper')),
  403: without(unavailable('caliper')),
  404: without(incomplete('caliper')),
  409: without(unavailable('caliper')),
  422: without(unavailable('caliper')),
  wrong_tenant: without(unavailable('caliper')),
  other_entity: without(unavailable('caliper')),
  // A replica that has not seen the event yet.
  stale: without(incomplete('caliper')),
  always_stale: without(incomplete('caliper')),
};

const attempt = (stale: (owner: SourceService) => string) => ({
  readSettledRecord: { ...derived('results'), ...pinned(conflict('results'), stale('results')) },
  readReportCriteria: { ...derived('content'), ...pinned(conflict('content'), stale('content')) },
  readUser: { ...derived('oneroster'), ...onRoster },
});

/** The read routes. */
export const subjects: readonly Subject[] = [
  {
    route: readAttemptReport,
    call: ({ attempts }) => ({ path: { attemptId: attempts.gatePass }, query: '?view=evidence' }),
    table: {
      ...attempt(incomplete),
      readAttemptEvidence: {
        ...visible('qti'),
        ...free('qti', incomplete('qti')),
        other_entity: otherAttempt,
      },
      readPackage: { ...derived('case'), ...free('case', incomplete('case')) },
      readEvidenceAck: optional,
    },
  },
  {
    route: readReadiness,
    call: ({ attempts }) => ({ path: { attemptId: attempts.gatePass } }),
    table: {
      ...attempt(undecided),
      readAttemptEvidence: {
        ...visible('qti'),
        ...free('qti', undecided('qti')),
        other_entity: otherAttempt,
      },
      readReadinessCrosswalks: { ...derived('blueprint'), ...free('blueprint', undecided('blueprint')) },
      // Without the framework there is no report, and so no projected pass. An older one is a current answer.
      readPackage: {
        ...derived('case'),
        404: '200, case unavailable, indeterminate',
        ...free('case', '200, case newer, indeterminate'),
      },
    },
  },
  {
    route: listCandidateReports,
    call: ({ candidates }) => ({
      path: { candidateSourcedId: candidates.withHistory },
      query: '?limit=4',
    }),
    table: {
      readUser: { ...named('oneroster'), ...onRoster },
      listCandidateAttempts: { ...derived('results'), ...free('results', incomplete('results')) },
      readReportCriteria: { ...derived('content'), ...pinned(unavailable('content'), '200, withheld stale') },
    },
  },
  {
    route: readClassCohort,
    call: ({ classes }) => ({ path: { classSourcedId: classes[0] ?? '' } }),
    table: {
      readClass: { ...named('oneroster'), ...onRosterUnshown },
      readClassRollup: { ...confirmed('analytics'), ...free('analytics', incomplete('analytics')) },
    },
  },
  {
    route: readSchoolGradeCohort,
    call: ({ schools: [place = { schoolSourcedId: '', grade: '' }] }) => ({ path: place }),
    table: {
      readSchool: { ...named('oneroster'), ...onRosterUnshown },
      readSchoolGradeRollup: { ...confirmed('analytics'), ...free('analytics', incomplete('analytics')) },
    },
  },
  {
    route: readEquivalence,
    call: ({ forms }) => ({ path: { qtiTestId: forms.equivalent } }),
    table: {
      readForm: {
        ...visible('qti'),
        ...free('qti', incomplete('qti')),
        // Nobody may see the forms of a test spec that there is not.
        other_entity: { '/qtiTestId': unavailable('qti'), '/contentTestSpecId': hidden },
      },
      readFormEquivalence: {
        ...confirmed('analytics'),
        ...free('analytics', incomplete('analytics')),
        other_entity: {
          '/qtiTestId': unavailable('analytics'),
          '/contentTestSpecId': incomplete('analytics'),
        },
      },
      // Who may not see the test spec may not see its forms.
      readReportCriteria: { ...visible('content'), ...pinned(incomplete('content')) },
      readFormEvidence: { ...derived('blueprint'), ...free('blueprint', incomplete('blueprint')) },
    },
  },
];

/** One fault of the platform's control API. */
export interface Arm {
  readonly kind: FaultKind;
  readonly times: number;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly member?: string;
}

/** One cell of a table. */
export interface FaultCase {
  readonly title: string;
  /** Which read. */
  readonly target: { readonly operation: string; readonly method: string };
  /** Every way in which the read can fail so. */
  readonly arms: readonly [Arm, ...Arm[]];
  readonly expected: string;
}

/** Which rules say that a route answers something, by the beginning of the answer: the first that fits. */
export type RulesByAnswer = readonly (readonly [string, string])[];

/** The cells of a subject's table, each titled with the rules that its answer stands on. */
export function casesOf({ route, table }: Subject, rules: RulesByAnswer): readonly FaultCase[] {
  return rowsOf(table).flatMap(([name, row]) =>
    cellsOf(name, row).map(([fault, strikes, expected]) => {
      const { id: operation, method } = operations[name];
      const cited = rules.find(([beginning]) => expected.startsWith(beginning))?.[1] ?? '';
      return {
        title: `${route.operationId}: ${operation}, ${fault}: ${expected} [${cited}]`,
        target: { operation, method },
        arms: strikes,
        expected,
      };
    }),
  );
}

/** The rows of a table by the names of their reads. */
export function rowsOf(table: FaultTable): readonly (readonly [CallName, FaultRow])[] {
  return Object.entries(table) as [CallName, FaultRow][];
}

/** The cells of a row: what goes wrong, in which ways, and the answer. */
function cellsOf(name: CallName, row: FaultRow): readonly (readonly [string, FaultCase['arms'], string])[] {
  const { other_entity: others, ...single } = row;
  // SAFETY: a row has no other members, and none is undefined.
  const columns = Object.entries(single) as [Exclude<Column, 'other_entity'>, string][];
  return [
    ...columns.map(([column, expected]) => [String(column), arms[column], expected] as const),
    ...(others === undefined ? [] : identitiesOf(operations[name])).map((member) => {
      const expected = typeof others === 'string' ? others : others?.[member];
      if (expected === undefined) throw new Error(`no answer to another ${member} of ${name}`);
      return [`another ${member}`, [{ kind: 'other_entity', member, times: ALWAYS }], expected] as const;
    }),
  ];
}

/** More than any request asks. */
export const ALWAYS = 1_000;
/** Longer than any request may take. */
const RETRY_AFTER = 60;

const refused = (status: number): readonly [Arm] => [{ kind: 'status', status, times: ALWAYS }];

const arms: Readonly<Record<Exclude<Column, 'other_entity'>, readonly [Arm, ...Arm[]]>> = {
  silent: [
    { kind: 'down', times: ALWAYS },
    { kind: 'cut', times: ALWAYS },
    { kind: 'status', status: 500, times: ALWAYS },
    { kind: 'status', status: 429, retryAfterSeconds: RETRY_AFTER, times: ALWAYS },
    { kind: 'status', status: 503, times: ALWAYS },
  ],
  malformed: [{ kind: 'malformed', times: ALWAYS }],
  401: refused(401),
  403: refused(403),
  404: refused(404),
  409: refused(409),
  422: refused(422),
  wrong_tenant: [{ kind: 'wrong_tenant', times: ALWAYS }],
  version_drift: [{ kind: 'version_drift', times: 1 }],
  always_version_drift: [{ kind: 'version_drift', times: ALWAYS }],
  stale: [{ kind: 'stale', times: 1 }],
  always_stale: [{ kind: 'stale', times: ALWAYS }],
};

/** Where the table says how each kind of fault is answered. */
const columnsOfKind: Readonly<Record<FaultKind, readonly Column[]>> = {
  latency: ['silent'],
  down: ['silent'],
  cut: ['silent'],
  status: ['silent', 401, 403, 404, 409, 422],
  malformed: ['malformed'],
  // The reports have references of their own, which bound every id.
  overlong_id: [],
  wrong_tenant: ['wrong_tenant'],
  other_entity: ['other_entity'],
  version_drift: ['version_drift', 'always_version_drift'],
  stale: ['stale', 'always_stale'],
  // Of a write: no route of these makes one.
  lost_acknowledgement: [],
};

/** The columns that a row must have: one for everything that the platform can do to the read. */
export function columnsDemanded(name: CallName): ReadonlySet<string> {
  const { id: operation, method } = operations[name];
  const kinds = Object.entries(columnsOfKind) as [FaultKind, readonly Column[]][];
  return new Set(
    kinds
      .filter(([kind]) => openFaults().arm({ operation, method, kind }).ok)
      .flatMap(([, columns]) => columns.map(String)),
  );
}
