import { areDistinct, ownedBy, type InvariantRows } from './invariant.ts';
import { shownLists } from './lists.ts';

const { sourceKeys: names } = shownLists.readImprovementRun;

/** The names in the owners' lists for an administration that is to be analyzed. */
export type CheckedLists = Readonly<Record<'sourceKeys' | 'metrics' | 'comparedKeys', readonly string[]>>;

export const listInvariants = ownedBy('analytics', {
  'source-named-once': {
    owner: 'blueprint',
    broken: 'Content names a source test of the blueprint twice.',
    allows: 'Two versions of one assessment under two keys.',
    holds: ({ sourceKeys }) => areDistinct(sourceKeys, names),
  },
  'metric-named-once': {
    broken: 'Analytics names a metric of the administration twice.',
    allows: 'A metric that this version does not know.',
    holds: ({ metrics }) => areDistinct(metrics, names),
  },
  'comparison-named-once': {
    broken: 'Analytics names a comparison of the administration twice.',
    allows: 'A comparison of a source that the blueprint does not name.',
    holds: ({ comparedKeys }) => areDistinct(comparedKeys, names),
  },
} satisfies InvariantRows<CheckedLists>);
