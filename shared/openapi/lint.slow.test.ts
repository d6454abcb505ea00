import { beforeAll, describe, expect, it } from 'vitest';
import { readSelectionPolicy } from '#shared/contract/mastery/routes.ts';
import * as examples from '#shared/contract/reports/examples.ts';
import {
  listCandidateReports,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
} from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { allOpen } from '#shared/release/release-state.ts';
import { lintWithRedocly, lintWithSpectral } from '#test/support/openapi-checkers.ts';
import type { Findings } from '#test/support/openapi-checkers.ts';
import { renderSandboxOpenApi } from '#tools/docs/sandbox.ts';
import { renderOpenApi } from './openapi.ts';

const published = new Map([
  ['mastery', renderOpenApi('mastery', allOpen)],
  ['reports', renderOpenApi('reports', allOpen)],
  ['sandbox', renderSandboxOpenApi()],
]);

describe('the published documents', () => {
  const clean = new Map([...published.keys()].map((name) => [name, []]));

  it('have no finding by the recommended rules of Redocly, and examples that fit their schemas', async () => {
    expect(await lintWithRedocly(published)).toEqual(clean);
  });

  it('have no finding by the recommended rules of Spectral', async () => {
    expect(await lintWithSpectral(published)).toEqual(clean);
  });
});

describe('an example that breaks a rule', () => {
  const { failedGate, page, notReady, classCohort, equivalentForms } = examples;
  const [entry] = notReady.entries;
  const gate = failedGate.gate!;
  const wrong: readonly (readonly [name: string, route: Route, example: object])[] = [
    ['a gate of another kind [RP-066]', readAttemptReport, { ...failedGate, testKind: 'formative' }],
    ['no gate of a mastery gate [RP-066]', readAttemptReport, { ...failedGate, gate: null }],
    [
      'no diagnostic of a diagnostic [RP-068]',
      readAttemptReport,
      { ...failedGate, testKind: 'adaptive_diagnostic', gate: null },
    ],
    [
      'a mastery scale without version [RP-083]',
      readAttemptReport,
      { ...failedGate, score: { ...failedGate.score, unit: 'mastery_scale', scaleVersion: null } },
    ],
    [
      'a decision without measurement [RP-102]',
      readAttemptReport,
      { ...failedGate, gate: { ...gate, achieved: null } },
    ],
    [
      'a decision without coverage evidence [RP-011]',
      readAttemptReport,
      { ...failedGate, gate: { ...gate, coverageEvidenceId: null } },
    ],
    ['a pass with a gap [RP-105]', readAttemptReport, { ...failedGate, gate: { ...gate, status: 'pass' } }],
    [
      'a fail without a gap [RP-105]',
      readAttemptReport,
      { ...failedGate, gate: { ...gate, gapCaseGuids: [] } },
    ],
    ['another object [RP-054]', readAttemptReport, { ...failedGate, object: 'report' }],
    ['an omission twice [RP-070]', readAttemptReport, { ...failedGate, omitted: ['readiness', 'readiness'] }],
    ['more without a cursor [RP-136]', listCandidateReports, { ...page, hasMore: true, nextCursor: null }],
    ['a cursor at the end [RP-136]', listCandidateReports, { ...page, hasMore: false, nextCursor: 'next' }],
    [
      'a projected pass without evidence [RP-116]',
      readReadiness,
      { ...notReady, entries: [{ ...entry, decision: 'projected_pass', coverageFraction: 0.5 }] },
    ],
    [
      'values of a suppressed snapshot [RP-131]',
      readClassCohort,
      { ...classCohort, suppression: { status: 'suppressed' }, measures: [] },
    ],
    [
      'a decision without artifact [RP-126]',
      readEquivalence,
      { ...equivalentForms, evidenceArtifactUrl: null },
    ],
    ['an id that is a number', readSelectionPolicy, { id: 7 }],
  ];

  let findings: Findings;
  beforeAll(async () => {
    findings = await lintWithRedocly(
      new Map(
        wrong.map(([name, route, example]) => [
          name,
          renderOpenApi(route.service, allOpen, [{ ...route, success: { ...route.success, example } }]),
        ]),
      ),
    );
  });

  it.each(wrong)('is found: %s', (name) => {
    expect(findings.get(name)).toContainEqual(expect.stringContaining('no-invalid-media-type-examples'));
  });
});
