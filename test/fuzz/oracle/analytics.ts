/** The rest of the second composer: what the roll-ups and analyses of Analytics may tell a reader. */
import type { Facts } from '../subjects.ts';
import { isOld, once, type Expected } from './attempt.ts';

/** The measures that the fuzzer knows by name, each a proportion, with the least value of each. The greatest one is 1. */
const leastOf: Readonly<Record<string, number>> = { share_proficient: 0, proportion_correct: 0 };

/** What a cohort tells. @param at the moment of the answer, in epoch milliseconds */
export function cohortOf(scope: object, rollup: Facts['readClassRollup'], at: number): Expected {
  const { populationCount, suppression, measures, asOf } = rollup;
  const isOther = once([scope, rollup.scope].map((of) => Object.entries(of).toSorted()));
  if (isOther || isOld(rollup) || populationCount === null) return 'refused';
  if (Date.parse(asOf) > at + 24 * 3_600_000) return 'refused';
  if (suppression.status !== 'not_suppressed') return { populationCount, measures: undefined };
  const isPossible = measures.every(({ name, unit, value }) => {
    if (unit === 'count')
      return Number.isInteger(value) && value >= 0 && (populationCount > 0 || value === 0);
    const least = unit === 'proportion' ? leastOf[name] : undefined;
    return populationCount > 0 && (least === undefined || (least <= value && value <= 1));
  });
  const areOnce = once(measures.map(({ name, unit }) => [name, unit]));
  return isPossible && areOnce ? { populationCount, measures } : 'refused';
}

/** What the comparison of a form tells. */
export function equivalenceOf(asked: string, facts: Facts): Expected {
  const { readForm: form, readFormEquivalence: analysis, readReportCriteria: content } = facts;
  const { readFormEvidence: blueprint } = facts;
  if (isOld(form, analysis, content, blueprint)) return 'refused';
  const specs = [
    form.contentTestSpecId,
    analysis.contentTestSpecId,
    content.testSpecId,
    blueprint.testSpecId,
  ];
  const versions = [form.contentTestSpecVersion, analysis.contentTestSpecVersion, blueprint.testSpecVersion];
  const about = [asked, form.qtiTestId, analysis.qtiTestId, blueprint.qtiTestId];
  const areOne = [specs, [...versions, content.version], about].every((said) => new Set(said).size === 1);
  const others = analysis.comparisonQtiTestIds;
  const forms = [asked, ...others];
  const sizes = Object.entries(analysis.sampleSizes);
  const compared = new Set([...others, ...blueprint.comparisonQtiTestIds]).size;
  const areAlike = compared === others.length && compared === new Set(blueprint.comparisonQtiTestIds).size;
  const areSized = sizes.length === forms.length && sizes.every(([of]) => forms.includes(of));
  if (!areOne || others.length === 0 || !once(forms) || !areAlike || !areSized) return 'refused';
  const { statistic, confidenceInterval, tolerance, decision, evidenceArtifactUrl: link } = analysis;
  if (statistic < confidenceInterval.lower || statistic > confidenceInterval.upper) return 'refused';
  if (tolerance < 0) return 'refused';
  if (decision === 'equivalent') {
    if (sizes.some(([, size]) => size < 1)) return 'refused';
    if (analysis.statisticKind === 'difference' && Math.abs(statistic) > tolerance) return 'refused';
  }
  if (link === null && decision !== 'insufficient_evidence') return 'refused';
  const url = link === null ? null : URL.parse(link);
  const isOpen = url?.protocol === 'https:' && url.username === '' && !url.searchParams.has('sig');
  if (link !== null && (!isOpen || url.hostname.startsWith('127.'))) return 'refused';
  const words = ['equivalent', 'not_equivalent', 'insufficient_evidence'];
  return {
    ...{
      statistic,
      confidenceInterval,
      tolerance,
      sampleSizes: analysis.sampleSizes,
      evidenceArtifactUrl: link,
    },
    decision: words.includes(decision) ? decision : 'unknown',
    ...{ coverageMatch: blueprint.coverageMatch, dokMatch: blueprint.dokMatch },
  };
}
