/** What is wrong with an answer to changed facts. */
import * as z from 'zod';
import { conditionsOf } from '#shared/contract/conditions.ts';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import type { CohortReport } from '#shared/contract/reports/cohort-report.ts';
import type { EquivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import { reportInvariants, summaryInvariants } from '#shared/contract/reports/invariants/attempt-report.ts';
import { cohortInvariants } from '#shared/contract/reports/invariants/cohort-report.ts';
import { equivalenceInvariants } from '#shared/contract/reports/invariants/equivalence-report.ts';
import type { ReadinessReport } from '#shared/contract/reports/readiness-report.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { wordsOf } from './changes.ts';
import { listening } from './members.ts';
import { cohortOf, equivalenceOf } from './oracle/analytics.ts';
import { readinessOf, reportOf, type Expected } from './oracle/attempt.ts';
import { NOW, subjects, type Answer, type Case, type Facts, type SubjectName } from './subjects.ts';

type CheckedPart = { readonly table: string; readonly part: object };

/** The invariants as they are when this file is loaded: a test may spoil the ones of the product. */
const invariants = Object.entries({
  summaryInvariants,
  reportInvariants,
  cohortInvariants,
  equivalenceInvariants,
}).flatMap(([table, rows]) =>
  Object.entries(rows).map(([id, { holds }]) => ({ table, id, holds: holds as (part: object) => boolean })),
);

/** How often each invariant is listened to: what it reads depends on what it is shown. */
const LISTENED = 400;

/** The facts of a case as the schemas of their owners take them, or undefined where one does not. */
function factsOf({ answers }: Case): Facts | undefined {
  const facts: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(answers)) {
    const row = operations[name as keyof typeof operations];
    const parsed = ('wholeAnswer' in row ? row.wholeAnswer : row.answer).safeParse(value);
    // A report goes without the event of its completion, readiness without a framework that CASE does not hold.
    if (parsed.success) facts[name] = parsed.data;
    else if (name === 'readPackage' && value === null) facts[name] = null;
    else if (name !== 'readEvidenceAck') return undefined;
  }
  return facts as Facts;
}

/** What the second composer expects of a case. */
function expectedOf(name: SubjectName, asked: Case): Expected {
  const facts = factsOf(asked);
  if (facts === undefined) return 'refused';
  const { attemptId = '', qtiTestId = '', classSourcedId, schoolSourcedId, grade } = asked.path;
  switch (name) {
    case 'report':
      return isTheCallers(asked, facts) ? reportOf(attemptId, facts) : 'refused';
    case 'readiness':
      return isTheCallers(asked, facts) ? readinessOf(attemptId, facts) : 'refused';
    case 'equivalence':
      return equivalenceOf(qtiTestId, facts);
    case 'classCohort':
      return isOnRoster(facts.readClass.class, classSourcedId)
        ? cohortOf({ type: 'class', classSourcedId }, facts.readClassRollup, NOW)
        : 'refused';
    case 'schoolCohort':
      return isOnRoster(facts.readSchool.org, schoolSourcedId)
        ? cohortOf({ type: 'school_grade', schoolSourcedId, grade }, facts.readSchoolGradeRollup, NOW)
        : 'refused';
  }
}

const isTheCallers = ({ claims }: Case, { readAttemptEvidence }: Facts): boolean =>
  claims.studentIds?.includes(readAttemptEvidence.candidateSourcedId) === true;
const isOnRoster = (entry: { sourcedId: string; status: string }, id: string | undefined): boolean =>
  entry.sourcedId === id && entry.status === 'active';

/** The parts of an answer that the invariants check. */
function checkedPartsOf(name: SubjectName, asked: Case, body: unknown): readonly CheckedPart[] {
  const facts = asked.answers as Facts;
  switch (name) {
    case 'readiness':
      return [];
    case 'report': {
      // SAFETY: it has passed the response schema.
      const report = body as AttemptReport;
      const governed = facts.readReportCriteria.criteria?.governedCaseGuids;
      const { administeredItemCount, outcomes } = facts.readAttemptEvidence;
      const whole = {
        ...report,
        mastery: report.mastery.map(({ evidence = [], ...row }) => ({ row, evidence })),
        isGoverned: (guid: string) => governed?.includes(guid) !== false,
        // Of the rows, so that who asks for it is heard to read them.
        get gapRows(): string[] {
          return this.mastery.filter(({ row }) => row.state === 'gap').map(({ row }) => row.caseGuid);
        },
        administeredItemCount,
        scoredItemCount: new Set(outcomes.map(({ qtiItemId }) => qtiItemId)).size,
      };
      return [
        { table: 'summaryInvariants', part: whole },
        { table: 'reportInvariants', part: whole },
      ];
    }
    case 'classCohort':
    case 'schoolCohort':
      return [{ table: 'cohortInvariants', part: body as CohortReport }];
    case 'equivalence': {
      const isDifference = facts.readFormEquivalence.statisticKind === 'difference';
      return [{ table: 'equivalenceInvariants', part: { ...(body as EquivalenceReport), isDifference } }];
    }
  }
}

/** Checks answers, and learns meanwhile which members each invariant reads. */
export interface AnswerChecker {
  /** Everything that is wrong with an answer, each in a line that is the same for all occurrences. */
  readonly faultsOf: (name: SubjectName, asked: Case, answer: Answer) => string[];
  /** Whether an invariant that was listened to, or a condition of the schema, speaks of both members. */
  readonly isMentioned: (name: SubjectName, members: readonly [string, string]) => boolean;
}

export function createAnswerChecker(): AnswerChecker {
  const heard = new Map<string, { times: number; readonly members: Set<string> }>();
  function isHeld({ id, holds }: (typeof invariants)[number], part: object): boolean {
    const own = heard.get(id) ?? { times: 0, members: new Set() };
    heard.set(id, own);
    own.times += 1;
    if (own.times > LISTENED) return holds(part);
    return holds(listening(part, (member) => own.members.add(shownAs(member))));
  }
  return {
    faultsOf(name, asked, answer) {
      const expected = expectedOf(name, asked);
      if ('problem' in answer) {
        if (!/^(?:404|409|503) /.test(answer.problem)) return [`${name} fails: ${answer.problem}`];
        return typeof expected === 'object' ? [`${name} refuses truthful facts: ${answer.problem}`] : [];
      }
      const parsed = subjects[name].response.safeParse(answer.body);
      if (!parsed.success) return [`${name} breaks its schema: ${z.prettifyError(parsed.error)}`];
      const broken = checkedPartsOf(name, asked, parsed.data).flatMap(({ table, part }) =>
        invariants
          .filter((one) => one.table === table && !isHeld(one, part))
          .map(({ id }) => `${name} breaks ${id}`),
      );
      return [...broken, ...differencesFrom(expected, name, asked, parsed.data)];
    },
    isMentioned(name, members) {
      const groups = [
        ...Array.from(heard.values(), (own) => [...own.members]),
        ...constrained(subjects[name].response),
      ];
      return groups.some((group) =>
        members.every((member) => group.some((read) => read === member || read.startsWith(`${member}/`))),
      );
    },
  };
}

/** The member of the answer that a member of a checked part stands for. */
const shownAs = (member: string): string =>
  member.replace('/row/', '/').replace(/^administeredItemCount$/, 'diagnostic/administeredItemCount');

/** What an answer says that the second composer does not, or leaves out. */
function differencesFrom(expected: Expected, name: SubjectName, { view }: Case, body: object): string[] {
  if (expected === 'refused') return [`${name} answers where the facts allow no answer`];
  const entries = 'entries' in body ? (body as ReadinessReport).entries : [];
  const isSilent = entries.some((one) => one.decision === 'indeterminate' && one.limitations.length === 0);
  const isPassed = entries.some(({ decision }) => decision === 'projected_pass');
  if (expected === 'undecided') return isPassed ? [`${name} projects a pass of contradicting facts`] : [];
  const members = Object.entries(expected).filter(([member]) => member !== 'mastery' || view !== 'summary');
  return [
    ...(isSilent ? [`${name} is indeterminate without a limitation`] : []),
    ...members
      .filter(([member, value]) => !shows((body as Row)[member], value, member, view))
      .map(([member]) => `${name} shows another ${member} than the facts`),
  ];
}

type Row = Readonly<Record<string, unknown>>;

/** Whether a shown value is an owner's: with at least its members, and `unknown` only for a word that the contract does not have. */
function shows(shown: unknown, owned: unknown, member: string, view: Case['view']): boolean {
  if (typeof owned === 'string' && shown === 'unknown')
    return owned === shown || !wordsOf(member).includes(owned);
  if (typeof owned !== 'object' || owned === null) return Object.is(shown, owned);
  if (typeof shown !== 'object' || shown === null) return member === 'evidence' && view === 'standards';
  const hasAll = !Array.isArray(owned) || owned.length === (shown as readonly unknown[]).length;
  const named = (name: string): string => (Array.isArray(owned) ? member : name);
  return (
    hasAll &&
    Object.entries(owned).every(([name, value]) => shows((shown as Row)[name], value, named(name), view))
  );
}

/** Members of an answer that a condition of its schema names together. */
function constrained(schema: z.core.$ZodType, path: readonly string[] = []): string[][] {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  const own = conditionsOf(schema).map((condition) =>
    [condition.if, condition.then ?? {}, condition.else ?? {}].flatMap((members) =>
      Object.keys(members).map((member) => [...path, member].join('/')),
    ),
  );
  if (def.type === 'nullable' || def.type === 'optional') return constrained(def.innerType, path);
  if (def.type === 'array') return constrained(def.element, [...path, '*']);
  if (def.type !== 'object') return own;
  const below = Object.entries(def.shape).flatMap(([member, of]) => constrained(of, [...path, member]));
  return [...own, ...below];
}
