import { requestableTestKind, view } from '#shared/contract/reports/attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { readEquivalence } from '#shared/contract/reports/routes/read-equivalence.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import type { ProofReceipt } from '#ops/proof/receipt.ts';

const passed = (id: string): ProofReceipt['checks'][number] => ({
  id,
  title: 'what holds',
  asked: 'what was sent',
  result: 'passed',
  why: null,
});

/** The receipt of a deployment that has one route, changed; the digest of its checks is of the changed ones. */
export function sampleProof(changes: Partial<Omit<ProofReceipt, 'digests'>> = {}): ProofReceipt {
  const checks = changes.checks ?? [
    passed('anonymous.readAttemptReport.mastery_gate.both'),
    ...['denial', 'cache', 'trace'].flatMap((group) =>
      ['A-B', 'B-A'].map((side) => passed(`${group}.readAttemptReport.formative.${side}`)),
    ),
    ...requestableTestKind.options.flatMap((kind) =>
      view.options.flatMap((shown) => ['A', 'B'].map((side) => passed(`matrix.${kind}.${shown}.${side}`))),
    ),
  ];
  const routeOf = (
    { operationId, method, path }: typeof readAttemptReport | typeof readEquivalence,
    open: boolean,
  ) => ({
    operationId,
    method,
    path,
    open,
  });
  return {
    kind: 'two-tenant-proof',
    version: 1,
    service: 'reports',
    target: 'https://reports.school.org',
    rehearsal: false,
    marks: [],
    startedAt: '2029-12-01T10:00:00.000Z',
    finishedAt: '2029-12-01T10:01:00.000Z',
    product: { name: 'mastery-reports', version: '0.1.0' },
    tenants: [
      { side: 'A', tenantSha256: 'a'.repeat(64), fixturesSha256: 'c'.repeat(64) },
      { side: 'B', tenantSha256: 'b'.repeat(64), fixturesSha256: 'd'.repeat(64) },
    ],
    routes: [routeOf(readAttemptReport, true), routeOf(readEquivalence, false)],
    ...changes,
    checks,
    digests: { contract: 'e'.repeat(64), checks: hashCanonical(checks) },
  };
}
