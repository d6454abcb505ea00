import { describe, expect, it } from 'vitest';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { SettledGate } from '#shared/platform/owners/results.ts';
import { decideGate } from './gate-decision.ts';

/** A passed gate, complete at both owners, and what is shown of it. */
const settled = {
  status: 'pass',
  criteriaVersion: '4',
  achieved: 61,
  required: 60,
  gapCaseGuids: [] as string[],
  coverageEvidenceId: 'coverage-771',
} satisfies SettledGate;
const criteria = { criteriaVersion: '4', required: 60 } satisfies ReportCriteria['criteria'];
const failed = { ...settled, status: 'fail', achieved: 41, gapCaseGuids: ['b', 'a'] };
const undecided = { status: 'indeterminate' } as const;

/** What a decision lacks, and where something else is shown in its place, that. */
const lacking: readonly (readonly [
  what: string,
  change: Partial<SettledGate>,
  criteria: ReportCriteria['criteria'],
  shown?: object,
])[] = [
  ['without coverage evidence [RP-011]', { coverageEvidenceId: null }, criteria],
  ['without a measurement [RP-102]', { achieved: null }, criteria],
  ['under criteria that Content does not have [RP-011, RP-067]', {}, null],
  ['under criteria without a threshold [RP-103]', {}, { ...criteria, required: null }],
  [
    'that names no criteria, under those of Content [RP-011, RP-101]',
    { criteriaVersion: null },
    { ...criteria, criteriaVersion: '5' },
    { criteriaVersion: '5' },
  ],
  [
    'that names no threshold, with that of Content [RP-103]',
    { required: null },
    { ...criteria, required: 55 },
    { required: 55 },
  ],
];

type Decided = readonly [
  title: string,
  decided: SettledGate | null,
  criteria: ReportCriteria['criteria'],
  shown: object,
];

/** What Results decided stands as it is; what is shown differs from the complete pass in what the last member says. */
const decisions: readonly Decided[] = [
  ['a pass is shown [RP-010]', settled, criteria, {}],
  [
    'a measurement and a threshold of 0 are numbers like others [RP-102, RP-103]',
    { ...settled, achieved: 0, required: 0 },
    { ...criteria, required: 0 },
    { achieved: 0, required: 0 },
  ],
  [
    'a status that the contract does not name is unknown [RP-100]',
    { ...settled, status: 'appealed' },
    criteria,
    { status: 'unknown' },
  ],
  // Results decides, not the numbers, and gaps are in its order; an indeterminate decision may list gaps.
  ...[{}, { achieved: 99 }, undecided].map((change): Decided => {
    const decision = { ...failed, ...change };
    return [`${JSON.stringify(decision)} is shown [RP-010, RP-105]`, decision, criteria, decision];
  }),
  // Nothing that a decision stands on may be missing, whatever was decided.
  ...[settled, failed].flatMap((decided) =>
    lacking.map(([what, change, held, shown = change]): Decided => [
      `a ${decided.status} ${what} is indeterminate`,
      { ...decided, ...change },
      held,
      { ...decided, ...undecided, ...shown },
    ]),
  ),
  [
    'without a decision there is an indeterminate gate under the criteria of Content [RP-067, RP-104]',
    null,
    criteria,
    { ...undecided, achieved: null, coverageEvidenceId: null },
  ],
];

/** Neither owner has a version and a threshold: no number is made up. */
const none: readonly (readonly [title: string, decided: SettledGate | null, ReportCriteria['criteria']])[] = [
  ['neither owner has anything', null, null],
  ['Content has no threshold, and there is no decision', null, { ...criteria, required: null }],
  ['neither owner has a threshold', { ...settled, required: null }, { ...criteria, required: null }],
  ['the decision has no threshold, and Content no criteria', { ...settled, required: null }, null],
  ['the decision has no version, and Content no criteria', { ...settled, criteriaVersion: null }, null],
];

describe('the gate of a report', () => {
  it.each(decisions)('%s', (_, decided, held, shown) => {
    expect(decideGate(decided, held)).toEqual({ ok: true, value: { ...settled, ...shown } });
  });

  it.each(none)('is a 503 of Content when %s [RP-104]', (_, decided, held) => {
    expect(decideGate(decided, held)).toMatchObject({
      ok: false,
      error: { status: 503, code: 'dependency-incomplete', dependency: 'content', reason: 'unsettled' },
    });
  });
});
