import { beforeAll, describe, expect, it } from 'vitest';
import { readSelectionPolicy } from '#shared/contract/mastery/routes/read-selection-policy.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { readClassCohort } from '#shared/contract/reports/routes/read-class-cohort.ts';
import { readReadiness } from '#shared/contract/reports/routes/read-readiness.ts';
import type { Route } from '#shared/contract/route.ts';
import { allOpen } from '#shared/release/release-state.ts';
import { but, type Change } from '#test/support/changed.ts';
import { lintWithRedocly, lintWithSpectral, type Findings } from '#test/support/openapi-checkers.ts';
import { renderSandboxOpenApi } from '#tools/docs/sandbox.ts';
import { renderOpenApi } from './openapi.ts';
import { tolerant } from './tolerant.ts';

const strict = [
  ['mastery', renderOpenApi('mastery', allOpen)],
  ['reports', renderOpenApi('reports', allOpen)],
  ['sandbox', renderSandboxOpenApi()],
] as const;
const published = new Map<string, object>(
  strict.flatMap(([name, document]) => [
    [name, document],
    [`${name}.tolerant`, tolerant(JSON.parse(JSON.stringify(document)) as object)],
  ]),
);

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
  const projected = { 'entries/0/decision': 'projected_pass', 'entries/0/coverageFraction': 0.5 };
  const wrong: readonly (readonly [name: string, route: Route, change: Change])[] = [
    ['a gate of another kind [RP-066]', readAttemptReport, { testKind: 'formative' }],
    ['a mastery scale without version [RP-083]', readAttemptReport, { 'score/unit': 'mastery_scale' }],
    ['a decision without measurement [RP-102]', readAttemptReport, { 'gate/achieved': null }],
    ['a gate without decision in a scored report [RP-104]', readAttemptReport, { 'gate/status': 'unknown' }],
    ['a pass with a gap [RP-105]', readAttemptReport, { 'gate/status': 'pass' }],
    ['another object [RP-054]', readAttemptReport, { object: 'report' }],
    ['an omission twice [RP-070]', readAttemptReport, { omitted: ['readiness', 'readiness'] }],
    ['more without a cursor [RP-136]', listCandidateReports, { hasMore: true }],
    ['a projected pass without evidence [RP-116]', readReadiness, projected],
    ['values of a suppressed snapshot [RP-131]', readClassCohort, { 'suppression/status': 'suppressed' }],
    ['an id that is a number', readSelectionPolicy, { id: 7 }],
  ];

  let findings: Findings;
  beforeAll(async () => {
    findings = await lintWithRedocly(
      new Map(
        wrong.map(([name, route, change]) => {
          const example: unknown = but(route.success.example, change);
          const changed = { ...route, success: { ...route.success, example } };
          return [name, renderOpenApi(route.service, allOpen, [changed])];
        }),
      ),
    );
  });

  it.each(wrong)('is found: %s', (name) => {
    expect(findings.get(name)).toContainEqual(expect.stringContaining('no-invalid-media-type-examples'));
  });
});
