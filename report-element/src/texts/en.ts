import type { ReportData } from '../data.ts';
import { counting } from './plural.ts';

const count = counting('en');
const onTimes = ([first, last = first]: readonly string[]): string =>
  first === undefined ? '' : first === last ? `, on ${first}` : `, between ${first} and ${String(last)}`;
const thisLearner = 'This learner';
/** Within a sentence, a learner without a name has no capital. */
const inSentence = (who: string): string => (who === thisLearner ? 'this learner' : who);
const are = (n: number): string => (n === 1 ? 'is' : 'are');

/** Every text of the element, in English. The other languages have the same members. */
export const en = {
  thisLearner,
  learner: (n: string): string => `Learner ${n}`,
  standard: (n: string): string => `Standard ${n}`,
  component: (n: string): string => `Component ${n}`,
  subject: (n: string): string => `Subject ${n}`,
  unlistedGap: (n: string): string => `Further gap ${n}`,
  form: (n: string): string => `Form ${n}`,
  thisForm: 'This form',
  measure: (n: string): string => `Measure ${n}`,
  items: (n: number): string => count(n, 'item', 'items'),
  unnamedItems: (n: number): string => count(n, 'item without a name here', 'items without a name here'),
  partOf: (name: string): string => `Part of: ${name}`,
  after: (names: string): string => `First: ${names}`,

  mastered: 'mastered',
  gap: 'gap',
  gapOfDecision: 'gap, says the decision',
  notSettled: 'not settled',
  tooLittle: 'too little evidence',
  unknownValue: 'not known to this page',
  noRow: 'not in the report',
  counts: {
    gap: (n: number): string => count(n, 'gap', 'gaps'),
    mastered: (n: number): string => count(n, 'mastered', 'mastered'),
    notSettled: (n: number): string => count(n, 'not settled', 'not settled'),
    unknownState: (n: number): string => count(n, 'in an unknown state', 'in an unknown state'),
  },

  gatePass: (who: string): string => `${who} has passed`,
  gateFail: (who: string): string => `${who} has not passed yet`,
  gateOpen: (who: string): string => `Whether ${inSentence(who)} has passed is not decided`,
  gateUnknown: (who: string): string => `This page does not know the decision about ${inSentence(who)}`,
  diagnosis: (who: string): string => who,
  underWay: (who: string): string => `${who} is still taking the test`,
  saving: (who: string): string => `${who} has finished the test, and the result is being saved`,
  noRows: 'no standard and no component has been reported',
  rowsLeftOut: 'standards and components are left out of this view',
  sentence: (start: string, rest: string): string => `${start}: ${rest}.`,
  gateFigures: (achieved: string, required: string, unit: string): string =>
    `${achieved} achieved, ${required} required${unit}.`,
  gateWithoutFigure: (required: string): string => `No valid measurement; ${required} required.`,
  unitOfCriteria: ' (the report does not name the unit of this figure)',
  unitOfScore: { points: ' (points)', percent: ' (percent)', scale: ' (on the mastery scale)' },
  gateMisses: {
    measurement: 'There is no valid measurement. A new attempt or a corrected scoring can supply one.',
    coverage:
      'The evidence that the test covers its blueprint is missing. The owner of the test has to supply it; the learner cannot change it.',
    other:
      'Criteria, coverage evidence or a valid measurement are missing; the report does not say which. Ask the owner of the test.',
  },
  lastScored: (day: string): string => `Last item scored on ${day}.`,
  dayNotGiven: 'The day of the test is not given in this view.',

  teachNext: 'What to teach next',
  inOrder: 'In the order of what builds on what:',
  asListed: 'No order is known here; as the report lists them:',
  noGap: 'No gap was found.',
  nothingMeasured: 'No standard and no component has been reported, so nothing is known about gaps.',
  noGapYet: 'No gap is known. What is not settled can still turn out to be one.',
  shownBy: (items: string): string => `Decided by the answers to: ${items}`,
  shownByOmitted: 'The items that showed it are left out of this view.',
  gateGapWithoutRow: 'The decision about the test lists it as a gap; the report says nothing else about it.',
  gateGapAgainstRow: (state: string): string =>
    `The decision about the test lists it as a gap; its own row says: ${state}.`,
  open: 'Not settled yet',
  howToSettle: {
    notSettled: 'Not a failure: the answers so far do not decide it. More scored items on it can.',
    tooLittle: 'Too little evidence. More scored items on it are needed.',
    unknownState: 'This page is older than the state. The part for auditors shows it as it came.',
    running: 'The test is not over: further items on it can settle it.',
  },
  alreadyMastered: 'Mastered',
  showAll: (n: number): string => `Show all ${count(n, 'row', 'rows')}`,

  howSure: 'How sure is this?',
  score: 'Score',
  states: 'Standards and components',
  limits: 'Limits',
  scored: (value: string): string => `Score: ${value}.`,
  points: (value: string, maximum: string | undefined): string =>
    maximum === undefined ? `${value} points` : `${value} of ${maximum} points`,
  onScale: (value: string): string => `${value} on the mastery scale`,
  withoutUnit: (value: string): string => `${value}, in a unit that this page does not know`,
  range: (low: string, high: string, error: string): string =>
    `The ability is most likely between ${low} and ${high} (± ${error}, one standard error). Scores whose ranges overlap have not been told apart.`,
  noError: 'The report gives no standard error for this score.',
  axisEnds: (low: string, high: string): string =>
    `The axis runs from ${low} to ${high}, the ends of the scale.`,
  axisWithoutEnds: (low: string, high: string): string =>
    `The scale states no ends; this axis runs from ${low} to ${high}, that of another score may not.`,
  axisPart: (low: string, high: string): string =>
    `The picture shows the part of the scale from ${low} to ${high}.`,
  noScore: {
    pending: 'No score yet: there is too little evidence for one.',
    anchor: 'No score: the anchor of the scale cannot be verified, so the states are provisional too.',
    unknown: 'No score can be reported.',
  },
  axisLabel: (what: string, figure: string, low: string, high: string): string =>
    `${what}: ${figure}, on an axis from ${low} to ${high}`,
  probability: (value: string): string => `probability of mastery ${value}`,
  estimate: (value: string, margin: string): string => `estimate ${value} ± ${margin}`,
  margins: {
    standardError: 'standard error',
    halfWidth: 'half an interval',
    policyMargin: 'margin of the policy',
    unknown: 'a measure of uncertainty that this page does not know',
  },
  threshold: (value: string): string => `threshold ${value}`,
  rule: (mastered: string, gap: string): string => `mastered from ${mastered}, ${gap}, between: not settled`,
  gapUpTo: (value: string): string => `gap up to ${value}`,
  gapBelow: (value: string): string => `gap below ${value}`,
  ruleStart: (rule: string): string => `The rule: ${rule}, and only once an item has measured it.`,
  rulesDiffer: 'The rules differ; each is given with its row.',
  rowRule: (rule: string): string => `Rule: ${rule}`,
  ruleOfPolicy: (hasMargin: boolean): string =>
    `Each bar shows the estimate (dark line)${hasMargin ? ', its margin (blue) where its meaning is known,' : ''} and the threshold of the test’s policy (dotted line). The policy decides the state, which does not follow from these figures alone.`,
  probabilityMeans: 'A probability is how sure the test is, not how much of it is known.',
  stateMayChange: 'A few more answers can change a state that is close to where another one begins.',
  leftOut: 'Left out of this view: ',
  omitted: {
    mastery: 'the standards and components',
    itemEvidence: 'the items behind each state',
    readiness: 'the readiness for other tests, which is a report of its own',
  },
  omittedUnknown: 'a part that this page does not know',
  incomplete: (n: number): string =>
    `${count(n, 'optional addition is', 'optional additions are')} missing, because a source did not respond. The rest is complete.`,
  stopped: {
    complete: 'The test stopped because every component in its scope was settled.',
    precise:
      'The test stopped because its results were precise enough on average; single ones can still be open.',
    longest: 'The test stopped at its largest number of items, or no other item could be offered.',
    time: 'The test stopped because its time was over. It says nothing about what was not answered in time.',
    unknown: 'Why the test stopped is not known to this page.',
  },
  administered: (n: number): string => `${count(n, 'item was', 'items were')} given.`,
  crosswalk: 'A crosswalk to an external scale exists. It is not a score of that scale’s vendor.',
  provisional: 'Provisional: the anchor of the scale cannot be verified at the moment.',
  waiting: (since: string | undefined): string =>
    `The test waits for another system${since === undefined ? '' : ` since ${since}`}.`,
  trial: 'A check with made-up answers, not a learner’s test.',

  history: (who: string): string => `${who}: tests over time`,
  noReports: (who: string): string => `There is no report about ${inSentence(who)} yet.`,
  reportsFound: (n: number): string => `${count(n, 'report', 'reports')} on this page.`,
  rose: (from: string, to: string, by: string, least: string): string =>
    `From ${from} to ${to} the score rose by ${by}: more than chance explains, which is up to ${least}.`,
  fell: (from: string, to: string, by: string, least: string): string =>
    `From ${from} to ${to} the score fell by ${by}: more than chance explains, which is up to ${least}.`,
  noChange: (from: string, to: string, by: string, least: string): string =>
    `From ${from} to ${to}: no change that can be told from chance. The scores differ by ${by}; chance explains up to ${least}.`,
  oneDay: (day: string): string =>
    `All scores are of ${day}. A change over time needs tests on different days.`,
  oneScore: 'There is one score with a day. A change needs two.',
  noScores:
    'No report on this page has a score with a standard error, so nothing can be said about a change.',
  noDays: 'The days of the tests are not given here, so their scores are not compared over time.',
  changeRule:
    'A change is called a change only if it is larger than twice the errors of both scores together. Scores of other scales are not compared.',
  otherCalibrations: 'The scores come from different calibrations of the scale.',
  notComparable: (from: string, to: string): string =>
    `The scores of ${from} and ${to} come from different calibrations, or have no error: their difference is not called a change.`,
  scalePanel: (n: string, of: number): string =>
    of === 1 ? 'Scores over time' : `Scores over time, scale ${n}`,
  timelineLabel: (n: number, low: string, high: string): string =>
    `${count(n, 'score', 'scores')} with a band of one standard error to both sides, from ${low} to ${high}, over time`,
  allTests: 'All tests',
  columns: {
    day: 'Day',
    test: 'Test',
    result: 'Result',
    learner: 'Learner',
    measure: 'Measure',
    value: 'Value',
    form: 'Form',
    learners: 'Learners',
    member: 'Member',
  },
  notGiven: 'not given',
  testKinds: {
    gate: 'Test with a pass mark',
    diagnostic: 'Adaptive test',
    formative: 'Formative test',
    unknown: 'Another kind of test',
  },
  passed: 'passed',
  failed: 'not passed',
  undecided: 'undecided',
  withheld: {
    unsettled: (n: number): string =>
      `${count(n, 'scored test', 'scored tests')} cannot be shown yet: facts are not settled.`,
    stale: (n: number): string =>
      `${count(n, 'scored test', 'scored tests')} cannot be shown: a source is out of date.`,
    unreleased: (n: number): string =>
      `${count(n, 'scored test', 'scored tests')} cannot be shown: reports of this kind of test are not released.`,
    unverified: (n: number): string =>
      `${count(n, 'scored test', 'scored tests')} cannot be shown: facts are missing or contradict each other.`,
    unknown: (n: number): string => `${count(n, 'scored test', 'scored tests')} cannot be shown.`,
  },
  moreReports: 'There are further reports that are not on this page.',

  cohortOf: (n: number): string => `${count(n, 'learner', 'learners')} in this group`,
  figuresOf: (day: string): string =>
    `As of ${day}, from the analytics system. Figures are rounded; the part for auditors has them as published.`,
  thisSchool: 'This school',
  grade: (n: string): string => `grade ${n}`,
  grades: {
    IT: 'infants and toddlers',
    PR: 'preschool',
    PK: 'prekindergarten',
    TK: 'transitional kindergarten',
    KG: 'kindergarten',
    PS: 'postsecondary',
    ABE: 'adult basic education',
    ASE: 'adult secondary education',
    AdultESL: 'English as a second language for adults',
    UG: 'ungraded',
    Other: 'another grade level',
  },
  unknownGrade: 'a grade that this page does not know',
  suppressionUnknown: 'It is not known whether the figures of this group may be shown, so none is.',
  suppressed:
    'The figures of this group are withheld, so that nothing can be concluded about single learners. There is no value, which is not a value of zero.',
  noFigures: 'No figure was published.',
  figures: 'Figures',
  /** By the names that the contract has for measures of a group. */
  measures: {
    mean_percent_correct: 'Mean share of correct answers',
    share_proficient: 'Share of learners who are proficient',
    mastery_rate: 'Share of mastery',
    pass_rate: 'Share of learners who passed',
  },
  unknownUnit: (value: string): string => `${value}, in a unit that this page does not know`,
  cohortCaution: 'A figure about a group says nothing about one of its learners.',

  equivalent: 'The forms measure alike: it does not matter which one a learner takes',
  alikeButDifferent:
    'The study found the results of the forms alike, but the forms do not cover or demand the same',
  notEquivalent: 'The forms do not measure alike: do not compare results across them',
  undecidedForms: 'Whether the forms measure alike is not decided: the study has too little evidence',
  unknownForms: 'This page does not know the decision about the forms',
  formsNext: {
    equivalent: 'Results of these forms can be compared.',
    notEquivalent: 'Give all learners of a comparison the same form, or have the forms revised.',
    open: 'Treat the forms as different until a study with more evidence has decided.',
    unequal: 'Do not compare results of these forms before their owner has settled what they have to cover.',
    unknown:
      'Ask the owner of the analysis what it decided. Until then, do not compare results of these forms.',
  },
  comparedForms: 'Forms that were compared',
  resultOfStudy: (value: string, low: string, high: string): string =>
    `Result of the study: ${value}, confidence interval from ${low} to ${high}.`,
  tolerance: (value: string): string =>
    `The largest difference that counts as alike is ${value}, in the unit of the method.`,
  sameCoverage: 'The forms cover the blueprint alike.',
  otherCoverage: 'The forms do not cover the blueprint alike.',
  sameDepth: 'The forms demand the same depth of knowledge.',
  otherDepth: 'The forms do not demand the same depth of knowledge.',
  study: 'The study',

  classTitle: (n: number): string => `A class of ${count(n, 'learner', 'learners')}`,
  classShared: (n: number, name: string): string =>
    `${count(n, 'learner has', 'learners share')} the gap: ${name}`,
  classNoGap: 'No gap is known that two learners share',
  classNoGapAmong: (n: number): string =>
    `No gap is known to be shared: ${count(n, 'report', 'reports')} of the class can be compared`,
  classLoading: (waiting: number, all: number): string =>
    `${waiting} of ${count(all, 'report', 'reports')} ${are(waiting)} still being loaded`,
  sharedGaps: 'Who shares a gap',
  needThis: (n: number, names: string): string => `${count(n, 'learner', 'learners')}: ${names}`,
  grid: 'Learners and components',
  gridCaption: 'One row per learner, one column per standard or component',
  columnsLeftOut: (n: number): string =>
    `${count(n, 'further column has', 'further columns have')} no more gaps than these and ${are(n)} not drawn; the file has ${n === 1 ? 'it' : 'them'}.`,
  notLoaded: (n: number, names: string): string =>
    `${count(n, 'report', 'reports')} could not be loaded, so this page says nothing about: ${names}.`,
  withoutReport: (n: number, names: string): string =>
    `${count(n, 'learner', 'learners')} without a report: ${names}.`,
  loadMissing: 'Try the missing ones again',
  csv: 'Save as CSV',
  csvName: 'class.csv',
  cellWaiting: '…',
  cellFailed: 'not loaded',
  cellNone: 'no report',

  auditors: 'For auditors',
  members: 'Members of the answer',
  countOf: (n: number): string => `(${count(n, 'entry', 'entries')}, not shown here)`,
  absent: '(not in the answer)',
  /** @param times the first and the last one */
  dataNote: (kind: ReportData['kind'], times: readonly string[]): string =>
    `${
      kind === 'run'
        ? 'The adaptive test engine computed this from the scores that the test system holds, and keeps no copy.'
        : `Read from the systems that own it${onTimes(times)}. The report service keeps no copy of the results, the answers or the names.`
    } The names come from the page that shows this report. The report sends nothing anywhere.`,
  dataNoteTitle: 'What happens to the data?',

  loading: 'Loading …',
  nothing: 'There is nothing to show yet.',
  tryAgain: 'Try again',
  failure: {
    signIn: ['You are not signed in', 'Sign in again, then try again.'],
    forbidden: ['You may not see this', 'Ask the person who gives access.'],
    absent: ['Nothing is here for you', 'It does not exist, or you have no access to it.'],
    changed: ['The facts changed while they were read', 'Try again: the next reading shows the new state.'],
    incomplete: [
      'The facts are not complete',
      'A fact is missing, or facts contradict each other. A report that may be wrong is not shown. Try again later; if it stays, tell the operator of this page.',
    ],
    unavailable: [
      'Not available now',
      'A system that owns part of the facts does not respond. Try again soon.',
    ],
    busy: ['Too many requests', 'Wait a moment, then try again.'],
    page: [
      'This page asked for something wrong',
      'Tell the operator of this page; trying again does not help.',
    ],
    service: [
      'Something went wrong in the service',
      'Try again. If it stays, tell the operator of this page.',
    ],
    network: ['No answer arrived', 'Check the connection, then try again.'],
  } satisfies Record<string, readonly [title: string, advice: string]>,
};

/** The catalogue of one language. */
export type Texts = typeof en;
