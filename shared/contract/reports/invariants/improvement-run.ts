import type { AlignmentContribution, AlignmentReport } from '../alignment-report.ts';
import type { ImprovementRun, MetricStatus } from '../improvement-run.ts';
import type { RevisionOrder } from '../revision-order.ts';
import { areDistinct } from './invariant.ts';
import type { Invariants, ListKeys } from './invariant.ts';

const resources = { noKey: 'An owner may give several resources.' };
const itself = { key: (name: string) => name };

/** The lists of the answers on improvement runs and of their rows, which have none. Owners list the same things by the same keys. */
export const improvementLists = {
  run: {
    metricStatuses: { key: ({ metric }) => metric },
    sourceKeys: itself,
    omissions: itself,
    sources: resources,
  } satisfies ListKeys<ImprovementRun> & ListKeys<MetricStatus>,
  alignment: {
    contributions: {
      key: (row: Pick<AlignmentContribution, 'sourceRequirementId'>) => row.sourceRequirementId,
    },
    limitations: { noKey: 'Sentences for people.' },
    sources: resources,
  } satisfies ListKeys<AlignmentReport> & ListKeys<AlignmentContribution>,
  order: {
    caseGuids: itself,
    sourceKeys: itself,
    reasonCodes: itself,
    evidenceRefs: resources,
  } satisfies ListKeys<RevisionOrder>,
};

/** The names in what owners list of an administration that is to be analyzed. */
export type JudgedLists = Readonly<Record<'sourceKeys' | 'metrics' | 'comparedKeys', readonly string[]>>;

export const listInvariants: Invariants<JudgedLists> = {
  'source-named-once': {
    owner: 'blueprint',
    broken: 'Content names a source test of the blueprint twice.',
    allows: 'Two versions of one assessment under two keys.',
    holds: ({ sourceKeys }) => areDistinct(sourceKeys, improvementLists.run.sourceKeys),
  },
  'metric-named-once': {
    owner: 'analytics',
    broken: 'Analytics names a metric of the administration twice.',
    allows: 'A metric that this version does not know.',
    holds: ({ metrics }) => areDistinct(metrics, itself),
  },
  'comparison-named-once': {
    owner: 'analytics',
    broken: 'Analytics names a comparison of the administration twice.',
    allows: 'A comparison of a source that the blueprint does not name.',
    holds: ({ comparedKeys }) => areDistinct(comparedKeys, improvementLists.run.sourceKeys),
  },
};
