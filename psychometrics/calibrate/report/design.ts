/** What the tables show before any fit: how items are linked, where answers are missing, how each item goes with the rest. */
import { markup, table, type Markup } from '#tools/page/markup.ts';
import type { Calibration } from '../calibrate.ts';
import { itemRest } from '../checks/columns.ts';
import { nestingOf } from '../checks/nesting.ts';
import { figure } from './figures.ts';
import { linkagePicture } from './pictures.ts';

/** Renders the section about the design of the study. */
export function designSection({ study }: Calibration): (Markup | undefined)[] {
  const { items, responses, linkage, lacking } = study;
  const { pairs, difference } = nestingOf(study);
  const most = responses.counts.reduce((a, b) => Math.max(a, b), 0);
  const rest = itemRest(study);
  const namesOf = (part: readonly number[]): string => part.map((j) => items[j] ?? '').join(', ');
  return [
    markup`<p>Learners link the items that they answer. Parts of the test that no learner links have a common scale only if their groups of learners are equally able.</p>`,
    table(
      'Design of the study',
      ['figure', 'number'],
      [
        ['different sets of answered items', String(linkage.sets)],
        ['parts of the test, each linked by its learners', String(linkage.parts.length)],
        ['share of missing answers', figure(lacking.share)],
        ['learners who answered all items up to one, and none of those after it', String(lacking.tails)],
        ['different rows of answers', String(responses.counts.length)],
        ['learners with the most frequent row', String(most)],
        ['pairs of items of which one needs the KCs of the other and more', String(pairs)],
        ['mean difference of their proportions correct', figure(difference)],
      ],
    ),
    linkage.parts.length === 1
      ? undefined
      : table(
          'Parts that nothing links',
          ['part', { text: 'items' }],
          linkage.parts.map((part, n) => [String(n + 1), namesOf(part)]),
        ),
    linkage.common === undefined ? undefined : linkagePicture(study, linkage.common),
    table(
      'Items against the rest of the test',
      ['item', 'missing', 'correct', 'correlation with the rest'],
      items.map((item, j) => [
        item,
        String(responses.learners - (study.answered[j] ?? 0)),
        figure((study.correct[j] ?? 0) / (study.answered[j] ?? 1)),
        figure(rest[j]?.correlation),
      ]),
    ),
  ];
}
