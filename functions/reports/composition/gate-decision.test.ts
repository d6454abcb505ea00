import { describe, expect, it } from 'vitest';
import type { GateDecision } from '#shared/contract/reports/attempt-report.ts';
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

type Row = readonly [
  title: string,
  decided: SettledGate | null,
  criteria: ReportCriteria['criteria'],
  shown: Partial<GateDecision>,
];

/** What Results decided stands as it is; what is shown differs from the complete pass in what the last member says. */
const decisions: readonly Row[] = [
  ['a pass is shown [RP-010]', settled, criteria, {}],
  [
    'a fail is shown with its gaps in the order of Results [RP-010, RP-105]',
    failed,
    criteria,
    { ...failed, status: 'fail' },
  ],
  [
    'Results decides, not the numbers [RP-010]',
    { ...failed, achieved: 99 },
    criteria,
    { ...failed, status: 'fail', achieved: 99 },
  ],
  [
    'a measurement and a threshold of 0 are numbers like others [RP-102, RP-103]',
    { ...settled, achieved: 0, required: 0 },
    { ...criteria, required: 0 },
    { achieved: 0, required: 0 },
  ],
  [
    'an indeterminate decision may list gaps [RP-105]',
    { ...failed, ...undecided },
    criteria,
    { ...failed, ...undecided },
  ],
  [
    'a status that the contract does not name is unknown [RP-100]',
    { ...settled, status: 'appealed' },
    criteria,
    { status: 'unknown' },
  ],
  // Nothing that a decision stands on may be missing, whatever was decided.
  ...[settled, failed].flatMap((decided): Row[] => [
    [
      `a ${decided.status} without coverage evidence is indeterminate [RP-011]`,
      { ...decided, coverageEvidenceId: null },
      criteria,
      { ...decided, ...undecided, coverageEvidenceId: null },
    ],
    [
      `a ${decided.status} without a measurement is indeterminate [RP-102]`,
      { ...decided, achieved: null },
      criteria,
      { ...decided, ...undecided, achieved: null },
    ],
    [
      `a ${decided.status} under criteria that Content does not have is indeterminate [RP-011, RP-067]`,
      decided,
      null,
      { ...decided, ...undecided },
    ],
    [
      `a ${decided.status} under criteria without a threshold is indeterminate [RP-103]`,
      decided,
      { ...criteria, required: null },
      { ...decided, ...undecided },
    ],
    [
      `a ${decided.status} that names no criteria is indeterminate, under the version of Content [RP-011, RP-101]`,
      { ...decided, criteriaVersion: null },
      { ...criteria, criteriaVersion: '5' },
      { ...decided, ...undecided, criteriaVersion: '5' },
    ],
    [
      `a ${decided.status} that names no threshold is indeterminate, with the threshold of Content [RP-103]`,
      { ...decided, required: null },
      { ...criteria, required: 55 },
      { ...decided, ...undecided, required: 55 },
    ],
  ]),
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
