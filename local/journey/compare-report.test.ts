import { describe, expect, it } from 'vitest';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { compareReport, describeComparison, type EngineResult } from './compare-report.ts';
import { sampleReport, sampleRow, sampleRun } from '#test/support/sample-report.ts';

const engine: EngineResult = { run: sampleRun, studentId: 'student-1', answered: 3 };
const sample = sampleReport();
const diagnostic = sample.diagnostic!;
const [mastered, gap] = sample.mastery as [
  AttemptReport['mastery'][number],
  AttemptReport['mastery'][number],
];
const withGap = (change: object) => ({ mastery: [mastered, { ...gap, ...change }] });

describe('the comparison of a report with the run of the engine', () => {
  it('finds no difference where both name the same facts', () => {
    expect(describeComparison(compareReport(engine, sample))).toStrictEqual([
      'the report agrees with the engine: 23 facts, 2 knowledge components; 1 without evidence are not in the report',
    ]);
  });

  it.each<[string, Partial<AttemptReport>]>([
    ['status', { status: 'indeterminate' }],
    ['candidate', { candidateSourcedId: 'student-2' }],
    ['results record', { resultRecordId: 'RECORD-1' }],
    ['score', { score: { ...sample.score, value: 512.4376 } }],
    ['unit of the score', { score: { ...sample.score, unit: 'points' } }],
    ['scale of the score', { score: { ...sample.score, scaleVersion: 'scale-2' } }],
    ['scale score', { diagnostic: { ...diagnostic, scaleScore: 512.4376 } }],
    ['standard error', { diagnostic: { ...diagnostic, standardError: 18.250000000001 } }],
    ['scale', { diagnostic: { ...diagnostic, scaleVersion: 'scale-2' } }],
    ['calibration', { diagnostic: { ...diagnostic, calibrationVersion: 'calibration-2' } }],
    ['stopping reason', { diagnostic: { ...diagnostic, stoppingReason: 'unknown' } }],
    ['administered items', { diagnostic: { ...diagnostic, administeredItemCount: 4 } }],
    ['knowledge_component k-gap: state', withGap({ state: 'not_yet' })],
    ['knowledge_component k-gap: posterior', withGap({ estimate: 0.040000000001 })],
    ['knowledge_component k-gap: required confidence', withGap({ confidence: 0.9 })],
    ['knowledge_component k-gap: policy', withGap({ policyId: 'policy-2' })],
    ['knowledge_component k-gap: items', withGap(sampleRow('k-gap', 'gap', 0.04, ['q2', 'q2']))],
    [
      'knowledge_component k-unasked: state',
      { mastery: [mastered, gap, sampleRow('k-unasked', 'not_yet', 0.5, ['q3'])] },
    ],
  ])('finds another %s', (fact, change) => {
    // Also what no service could answer: a diagnostic has the status `scored`.
    const { differences } = compareReport(engine, { ...sample, ...change });
    expect(differences.map((one) => one.fact)).toStrictEqual([fact]);
  });

  it('names both sides of every difference, also of a component that one of them lacks', () => {
    const report = sampleReport({ ...withGap({ caseGuid: 'k-foreign' }), candidateSourcedId: 'student-2' });
    expect(describeComparison(compareReport(engine, report))).toStrictEqual([
      '7 of 24 facts differ between the engine and the report:',
      '  candidate: engine "student-1", report "student-2"',
      '  knowledge_component k-gap: state: engine "gap", report nothing',
      '  knowledge_component k-gap: posterior: engine 0.04, report nothing',
      '  knowledge_component k-gap: required confidence: engine 0.8, report nothing',
      '  knowledge_component k-gap: policy: engine "policy-1", report nothing',
      '  knowledge_component k-gap: items: engine "q2", report nothing',
      '  knowledge_component k-foreign: state: engine nothing, report "gap"',
    ]);
  });
});
