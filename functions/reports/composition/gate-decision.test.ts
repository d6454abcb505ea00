import { describe, expect, it } from 'vitest';
import type { SettledGate } from '#shared/platform/owners/results.ts';
import { passedGate } from '#test/support/report-facts.ts';
import { decideGate } from './gate-decision.ts';

const facts = passedGate();
const criteria = facts.criteria.value.criteria!;
const passed = facts.record.value.gate!;
const failed: SettledGate = { ...passed, status: 'fail', achieved: 0.7, gapCaseGuids: ['guid-2', 'guid-1'] };

describe('a decision with all that it stands on', () => {
  it.each([
    ['a pass', passed],
    ['a fail with every gap', failed],
    ['an indeterminate one without a measurement', { ...failed, status: 'indeterminate', achieved: null }],
    ['an indeterminate one without gaps', { ...passed, status: 'indeterminate' }],
    ['a pass at its very threshold', { ...passed, achieved: 0.8 }],
    ['a fail above its threshold', { ...failed, achieved: 0.9 }],
  ])('is shown as Results made it: %s [RP-010, RP-100, RP-101, RP-102, RP-105]', (_, settled) => {
    expect(decideGate(settled, criteria)).toEqual({ ok: true, value: settled });
  });
});

describe('a decision that lacks what it stands on', () => {
  /** What is missing, of a pass and of a fail, and what the other owner supplies in its place. */
  const missing = {
    'coverage evidence': [{ coverageEvidenceId: null }, criteria],
    'a measurement': [{ achieved: null }, criteria],
    'criteria at Content': [{}, null],
    'a threshold at Content': [{}, { ...criteria, required: null }],
    'a version at Results': [{ criteriaVersion: null }, criteria],
    'a threshold at Results': [{ required: null }, criteria],
  } as const;

  it.each(Object.entries(missing))(
    'is indeterminate without %s, over a fail too, whose gaps stay [RP-011, RP-067, RP-102, RP-103]',
    (_, [lack, held]) => {
      for (const settled of [passed, failed, { ...failed, status: 'appealed' }])
        expect(decideGate({ ...settled, ...lack }, held)).toEqual({
          ok: true,
          value: {
            ...settled,
            coverageEvidenceId: 'coverageEvidenceId' in lack ? null : 'coverage-771',
            achieved: 'achieved' in lack ? null : settled.achieved,
            status: 'indeterminate',
          },
        });
    },
  );
});
