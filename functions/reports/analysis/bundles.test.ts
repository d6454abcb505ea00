import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { receiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import type { ReceiptBundle, RunReceipt, SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import type { OrderRecord } from '#shared/improvement/records.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { improveRun, learner, observedValues, runArtifacts } from '#test/support/improvement-facts.ts';
import type { RunChange } from '#test/support/improvement-facts.ts';
import { runBundle } from './bundles.ts';

const textOf = ({ bytes }: Bundle): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

function read(bundle: Bundle): ReceiptBundle {
  const value = parseStrictJson(textOf(bundle));
  if (!value.ok) throw new Error(value.error.kind);
  return receiptBundle.parse(value.value);
}
const readSource = (bundle: Bundle) => read(bundle) as SourceReceipt;
const readRun = (bundle: Bundle) => read(bundle) as RunReceipt;

// What whole runs seal, canonical and named by its digest: test/contract/reports/alignment-report.test.ts.

const improved = improveRun();

describe('a receipt bundle', () => {
  it('is the same bytes whoever makes it and when', () => {
    const again = improveRun();
    expect([again.source, again.run]).toEqual([improved.source, improved.run]);
    // Neither how often the run was touched nor how often it was sent on is in its receipt.
    const { progress } = improved.runFacts;
    const touched = {
      ...progress,
      run: { ...progress.run, touchedAt: 4e12, sweeps: 7, state: 'blocked_upstream' as const },
    };
    expect(runBundle({ ...improved.runFacts, progress: touched })).toEqual(improved.run);
  });

  it('of a run of earlier rules has the bytes that it had, without the list of sources', () => {
    const { source, run } = improveRun({ rules: '2' });
    expect(source.sha256).toBe('51b36b3fe97a506ce5f474a2c82efa9cd40bd012bac928334b172c6b7488ec8b');
    expect([readSource(source).formatVersion, readRun(run).formatVersion]).toEqual([2, 2]);
    const { formatVersion, sourceSet } = readSource(improved.source);
    expect(formatVersion).toBe(3);
    // The same digest as the bundle of the run.
    expect(sourceSet).toEqual(readRun(improved.run).sourceSet);
  });

  it('holds nothing that was observed, and nothing of a learner [RP-202, RP-216]', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10_000_001, max: 19_999_999 }), (salt) => {
        const value = salt / 1e9;
        const { discrimination } = structuredClone(runArtifacts);
        for (const row of discrimination.rows) for (const measure of row.measures) measure.value = value;
        const salted = improveRun({ discrimination });
        const [order] = salted.runFacts.metrics.get('item_discrimination')?.orders ?? [];
        expect(order?.content.observedMetric.value).toBe(value);
        expect(salted.sourceFacts.derived.orders.map(({ content }) => content.observedMetric.name)).toEqual(
          expect.arrayContaining(['alignment_percent', 'observed_agreement']),
        );
        for (const bundle of [salted.source, salted.run]) {
          const text = textOf(bundle);
          // Digests, and ids made of them, can have any six digits in a row.
          const told = text.replaceAll(/[0-9a-f]{64}|order_[0-9a-f-]{36}/g, '');
          expect(told).not.toContain(String(salt));
          for (const observed of Object.values(observedValues)) expect(told).not.toContain(String(observed));
          expect(text).not.toContain(learner);
          expect(text).not.toMatch(/observedMetric|populationCount|"value":(?!0\.2\b|90\b|0\.9\b)/);
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('the bundle of a source', () => {
  const { comparison: compared } = runArtifacts;
  const { agreementCount } = compared;
  it.each<[string, Exclude<RunChange['comparison'], undefined>, number]>([
    ['missing', 'missing', 1],
    ['not due', null, 0],
    ['not due, since Analytics has never analyzed the administration', 'not_analyzed', 0],
    ['suppressed', { ...compared, suppression: { status: 'suppressed', rule: 'minimum 10' } }, 1],
    ['perhaps suppressed', { ...compared, suppression: { status: 'partly', rule: null } }, 1],
    ['of counts that contradict each other', { ...compared, agreementCount: agreementCount! + 1 }, 1],
    ['of nobody', { ...compared, populationCount: 0 }, 1],
  ])(
    'has the omission of a comparison that is %s [RP-145, RP-152, RP-187, RP-215]',
    (_, comparison, omitted) => {
      const other = readSource(improveRun({ comparison }).source);
      const omissions = ['predicted_actual'].slice(0, omitted);
      expect(other).toMatchObject({ omissions, numerator: 2, denominator: 3.8 });
      expect(other.decisions.map(({ trigger }) => trigger)).toEqual([1]);
    },
  );
});

it('the bundle of a source names that Analytics has never analyzed the administration [RP-176]', () => {
  expect(readSource(improveRun({ comparison: 'not_analyzed' }).source)).toMatchObject({
    comparison: 'not_analyzed',
    limitations: expect.arrayContaining([
      'Analytics has never analyzed the administration: no comparison of predicted with actual results is due.',
    ]) as unknown,
  });
});

describe('the bundle of a run', () => {
  const { progress } = improved.runFacts;

  it('holds the life of every order, with the receipt of its receiver where there is one [RP-204, RP-215]', () => {
    const rejected = withOrders(([first, ...rest]) => [
      { ...first, status: 'rejected', supersedesRevisionOrderId: 'order_before' },
      ...rest.map((order) => ({ ...order, status: 'superseded' as const, ack: null })),
    ]);
    expect(readRun(runBundle(rejected)!).orders).toMatchObject([
      { status: 'rejected', supersedesRevisionOrderId: 'order_before', receipt: { version: '1' } },
      { status: 'superseded', receipt: null },
      { status: 'superseded', receipt: null },
    ]);
  });

  const withOrders = (
    change: (orders: readonly [OrderRecord, ...OrderRecord[]]) => readonly OrderRecord[],
  ) => ({
    ...improved.runFacts,
    progress: { ...progress, orders: change(progress.orders as [OrderRecord, ...OrderRecord[]]) },
  });

  it('is never made of a run that has something left to do [RP-150, RP-217]', () => {
    for (const status of ['pending', 'blocked_upstream'] as const)
      expect(() =>
        runBundle(withOrders(([first, ...rest]) => [{ ...first, status, ack: null }, ...rest])),
      ).toThrow(TypeError);
    for (const { key } of progress.evidence) {
      const evidence = progress.evidence.filter((record) => record.key !== key);
      expect(() => runBundle({ ...improved.runFacts, progress: { ...progress, evidence } })).toThrow(
        TypeError,
      );
    }
    const unnamed = progress.evidence.map(({ key, evaluatedAt }) => ({ key, evaluatedAt }));
    expect(() => runBundle({ ...improved.runFacts, progress: { ...progress, evidence: unnamed } })).toThrow(
      TypeError,
    );
    expect(() => runBundle({ ...improved.runFacts, metrics: new Map() })).toThrow(TypeError);
  });
});
