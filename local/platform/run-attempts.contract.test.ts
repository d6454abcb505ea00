import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import { attemptEvidence } from '#shared/platform/owners/qti.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { CandidateAttempts, SettledRecord } from '#shared/platform/owners/results.ts';
import type { SeededTenant } from '#local/seeds/instantiate.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { bankOf, takeJourney } from '#test/support/take-journey.ts';
import type { Journey } from '#test/support/take-journey.ts';

const TENANT = 'tenant-aurora';
const CALIPER = 'caliper.emit_completion_or_simulation';

const heldRecord = z.object({
  resultRecordId: z.string(),
  request: operations.writeResultRecord.body,
  components: operations.writeKcComponents.body.shape.components,
});

let stack: TestStack;
let runs: AdaptiveRuns;
let seeded: SeededTenant;
let journey: Journey;
/** Before the run had written anything, after its record, and after its components. */
let before: CandidateAttempts;
let attempt: AttemptEvidence;
let record: SettledRecord;
/** What the engine has written. */
let written: z.output<typeof heldRecord>;
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack, TENANT);
  seeded = stack.seededTenants.get(TENANT)!;
  before = await index();
  const bank = bankOf(stack.seed, TENANT, 'fraction-subtraction');
  journey = await takeJourney(runs, { bank, mode: 'production_learner', learner: 1 });
  const { entities } = await runs.state();
  written = heldRecord.parse(Object.values(entities['results.record']!)[0]);
  const [row] = (await index()).rows;
  attempt = attemptEvidence.parse(await read(operations.readAttemptEvidence, { attemptId: row!.attemptId }));
  record = operations.readSettledRecord.answer.parse(
    await read(operations.readSettledRecord, { resultRecordId: attempt.resultRecordId! }),
  );
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

async function read(
  row: UpstreamOperation,
  path: Readonly<Record<string, string>>,
  query = '',
): Promise<unknown> {
  const values: Readonly<Record<string, string>> = { tenantId: TENANT, ...path };
  const url = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));
  const response = await fetch(`${stack.urls.platformUrl}${url}${query}`, {
    headers: { authorization: `Bearer ${seeded.platform.credentials.platformJwt}` },
  });
  expect(response.status).toBe(200);
  return response.json();
}

async function index(): Promise<CandidateAttempts> {
  const candidateSourcedId = seeded.fixtures.mastery.resultsStudentId;
  return operations.listCandidateAttempts.answer.parse(
    await read(operations.listCandidateAttempts, { candidateSourcedId }, '?limit=250'),
  );
}

/** The QTI identifier of an offered item. */
function itemIdOf({ artifactVersionId }: { readonly artifactVersionId: string }): string {
  return seeded.platform.artifacts.find((item) => item.artifactVersionId === artifactVersionId)!
    .qtiIdentifier;
}

describe('a learner’s completed run', () => {
  it('is one scored attempt of its student, found by the index', async () => {
    expect(before.rows).toEqual([]);
    const { rows } = await index();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ attemptId: attempt.attemptId, attemptStatus: 'scored' });
    expect(record).toMatchObject({ ...rows[0]!.record!, tenantId: TENANT });
    expect(rows[0]!.modifiedAt).toBe(written.request.scoredAt);
  });

  it('has a row for every component with evidence, under its standard in CASE', async () => {
    const criteria = operations.readReportCriteria.answer.parse(
      await read(
        operations.readReportCriteria,
        { testSpecId: attempt.contentTestSpecId },
        `?version=${attempt.contentTestSpecVersion}`,
      ),
    );
    expect(criteria.testKind).toBe('adaptive_diagnostic');
    const framework = operations.readPackage.answer.parse(
      await read(operations.readPackage, { sourcedId: criteria.caseFrameworkGuid }),
    );
    const guids = framework.CFItems.map(({ identifier }) => identifier);
    const withEvidence = written.components.filter(({ evidenceItemRefs }) => evidenceItemRefs.length > 0);
    expect(withEvidence.length).toBeGreaterThan(0);
    expect(record.mastery).toHaveLength(withEvidence.length);
    const policy = seeded.policies.find(({ document }) => document.id === written.request.selectionPolicyId)!;
    const right = new Map(journey.answered.map(({ item, correct }) => [itemIdOf(item), correct]));
    for (const [at, component] of withEvidence.entries()) {
      const { evidence, parentCaseGuid, ...row } = record.mastery[at]!;
      const p = component.posteriorProbability;
      expect(row).toEqual({
        kind: 'knowledge_component',
        caseGuid: component.caseCompetencyGuid,
        state: component.classification,
        estimate: p,
        threshold: policy.document.kcCutScore,
        uncertainty: Number(Math.sqrt(p * (1 - p)).toFixed(6)),
        uncertaintyKind: 'standard_error',
        policyId: policy.document.id,
        policyVersion: policy.document.id,
      });
      expect(guids).toContain(row.caseGuid);
      expect(guids).toContain(parentCaseGuid);
      expect(framework.CFAssociations).toContainEqual({
        associationType: 'isChildOf',
        originNodeURI: { identifier: row.caseGuid },
        destinationNodeURI: { identifier: parentCaseGuid },
      });
      expect(evidence.map(({ qtiItemId }) => qtiItemId).sort()).toEqual(
        component.evidenceItemRefs.toSorted(),
      );
      for (const { qtiItemId, qtiOutcomeId, resultComponentId, contribution } of evidence) {
        expect(attempt.outcomes).toContainEqual(expect.objectContaining({ qtiItemId, qtiOutcomeId }));
        expect(resultComponentId).toBe(component.componentId);
        expect(contribution).toBe(right.get(qtiItemId) === true ? 1 : -1);
      }
    }
  });

  it('is derived anew at every reading: what changes at an owner changes it, and its version', async () => {
    const [deliverySessionId = ''] = written.request.deliverySessionIds;
    const restore = await runs.change({
      entity: 'qti.session',
      id: deliverySessionId,
      changes: [
        {
          pointer: '/session/attempts/0/outcomes/SCORE',
          value: journey.answered[0]!.correct ? 0 : 1,
        },
      ],
    });
    const resultRecordId = record.resultRecordId;
    const settled = async () =>
      operations.readSettledRecord.answer.parse(await read(operations.readSettledRecord, { resultRecordId }));
    const changed = await settled();
    expect(changed.version).not.toBe(record.version);
    const contributions = ({ mastery }: SettledRecord): number[] =>
      mastery.flatMap(({ evidence }) => evidence.map(({ contribution }) => contribution));
    expect(contributions(changed)).not.toEqual(contributions(record));
    await restore();
    expect(await settled()).toEqual(record);
  });
});

describe('a run that has not got that far', () => {
  it('is an attempt once its components are written, and names its event once Caliper has it', async () => {
    const count = async (): Promise<number> => (await index()).rows.length;
    let current = await runs.start().sendForRun();
    const earlier = await count();
    await stack.fault({ operation: 'results.write_kc_components', kind: 'down', times: 1_000 });
    await stack.fault({ operation: CALIPER, kind: 'down', times: 1_000 });
    while (current.body.status === 'in_progress') {
      const { continuationToken } = current.body;
      const { etag } = await runs.playAndInspect(current.body);
      current = await runs.advance(continuationToken, etag).sendForRun();
    }
    const advance = async (): Promise<void> => {
      const { continuationToken } = current.body;
      const { etag } = await runs.inspect(continuationToken).sendForRun();
      current = await runs.advance(continuationToken, etag).sendForRun();
    };
    expect((await runs.state()).counts['results.record']).toBe(2);
    expect(await count()).toBe(earlier);
    await stack.control('DELETE', 'faults');
    await stack.fault({ operation: CALIPER, kind: 'down', times: 1_000 });
    await advance();
    expect(await count()).toBe(earlier + 1);
    const newest = async () => (await index()).rows[0]!.record!;
    const unpublished = await newest();
    expect(unpublished.completionEventIri).toBeNull();
    await stack.control('DELETE', 'faults');
    await advance();
    expect(current.body.status).toBe('completed');
    const published = await newest();
    expect(published.completionEventIri).not.toBeNull();
    // Which event has published it is no part of what was settled.
    expect(published.version).toBe(unpublished.version);
  });
});
