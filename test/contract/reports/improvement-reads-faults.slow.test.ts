import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listRevisionOrders, readAlignmentReport } from '#shared/contract/reports/routes.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import { revisionOrderPage } from '#shared/contract/reports/revision-order.ts';
import type { Route } from '#shared/contract/route.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { callsDuring, countedCalls, slowDown, takenBy } from '#test/support/platform-calls.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { ALWAYS } from '#test/lemmas/faults.ts';
import { openReads, somebody, tenantId } from '#test/lemmas/sound-reads.ts';
import type { Reads } from '#test/lemmas/sound-reads.ts';

// What alignments and orders answer when one of the reads that they rest on goes wrong, and how many reads they make of it, over the bundled
// functions.

let stack: TestStack;
let runs: ImprovementRuns;
let run: RunKey;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  runs = openImprovementRuns(stack);
  run = await runs.analyze(runs.administration('spring-gate'));
  await stack.improvement.settled();
});
afterEach(async () => {
  stack.awsFaults.reset();
  await stack.control('DELETE', 'faults');
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

const incomplete = (owner: SourceService): string => `503 dependency-incomplete ${owner}`;

const claims = ({
  classes,
}: ReturnType<ImprovementRuns['caller']['fixtures']>): NonNullable<GatewayCall['claims']> => ({
  classSourcedIds: classes,
});

interface Expected {
  readonly route: Route;
  readonly call: Parameters<typeof openReads>[2]['call'];
  readonly reads: readonly (keyof typeof operations)[];
  /** Its reads when all owners answer, and when each of them shows its evidence amiss. */
  readonly sound: { readonly calls: number; readonly depth: number };
  readonly worst: { readonly calls: number; readonly depth: number };
}

const subjects: readonly Expected[] = [
  {
    route: readAlignmentReport,
    call: (fixtures) => ({
      claims: claims(fixtures),
      path: { improvementRunId: run.improvementRunId, sourceKey: fixtures.sourceKeys[0]! },
    }),
    reads: ['readAlignmentCrosswalk', 'readAnalysisArtifact'],
    sound: { calls: 2, depth: 1 },
    worst: readAlignmentReport.budget,
  },
  {
    route: listRevisionOrders,
    call: (fixtures) => ({
      claims: claims(fixtures),
      path: { improvementRunId: run.improvementRunId },
      query: '?limit=100',
    }),
    reads: ['readAlignmentSources', 'readAlignmentCrosswalk', 'readAnalysisArtifact'],
    // Four metrics, three crosswalks, two comparisons and the list of sources; a page of twelve artifacts: revision-order-pages.test.ts.
    sound: { calls: 10, depth: 1 },
    worst: { calls: 20, depth: 2 },
  },
];

describe.each(subjects)('$route.operationId', (subject) => {
  const { route, reads: names, sound, worst } = subject;
  let reads: Reads;
  beforeAll(async () => {
    reads = await openReads(stack, runs.caller, subject);
  });

  it('goes on after one failed try of each of its reads, and after evidence that is gone once', async () => {
    for (const name of names)
      await stack.fault({ operation: operations[name].id, kind: 'status', status: 503 });
    expect(await reads.ask(somebody())).toBe('200');
    await stack.faultsStruck();
    for (const name of names)
      await stack.fault({ operation: operations[name].id, kind: 'status', status: 404 });
    expect(await reads.ask(somebody())).toBe('200');
    await stack.faultsStruck();
  });

  it('asks nobody for what its owner has no time for: a table that cannot be read is 500, a release that cannot be read 503, and it goes on afterwards [RP-324]', async () => {
    // Once in a container that knows the release, once in one that does not.
    expect(await reads.ask(somebody())).toBe('200');
    for (const expected of ['500 internal-error', '503 dependency-unavailable unknown']) {
      stack.awsFaults.unavailable('dynamodb', ALWAYS);
      const { result, calls } = await callsDuring(stack, () => reads.send(somebody()));
      expect([reportsAnswerOf(result), calls]).toEqual([expected, []]);
      stack.awsFaults.reset();
      await stack.killWorkers(route.operationId);
    }
    expect(await reads.ask(somebody())).toBe('200');
  });

  it('reads its owners side by side, and takes no more than its budget when all of them show it something else [RP-001]', async () => {
    const taken = async () => {
      // A moment without a processor can only make reads look as if they had waited for one another: then another try counts.
      for (let tries = 1; ; tries += 1) {
        await slowDown(stack);
        const { calls } = await callsDuring(stack, () => reads.send(somebody()));
        const found = takenBy(calls);
        if (found.depth <= sound.depth || tries === 3) return found;
      }
    };
    expect(await taken()).toEqual(sound);

    const { calls } = await callsDuring(stack, async () => {
      await stack.control('DELETE', 'faults');
      for (const name of names)
        await stack.fault({ operation: operations[name].id, kind: 'version_drift', times: ALWAYS });
      await reads.send(somebody());
    });
    expect(countedCalls(calls)).toBe(worst.calls);
    expect(worst.calls).toBeLessThanOrEqual(route.budget.calls);
    expect(worst.depth).toBeLessThanOrEqual(route.budget.depth);
  });
});

describe('evidence that its owner has changed for good', () => {
  const { tenantOf, source } = {
    tenantOf: () => stack.seededTenants.get(tenantId)!.platform.reports,
    source: () => runs.caller.fixtures(tenantId).sourceKeys[0]!,
  };
  const crosswalk = () => tenantOf().alignmentCrosswalks.find(({ sourceKey }) => sourceKey === source())!;
  const comparison = () =>
    tenantOf().analysisArtifacts.find(
      (artifact) =>
        artifact.kind === 'comparison' &&
        artifact.sourceKey === source() &&
        artifact.administrationId === runs.administration('spring-gate'),
    )!;
  const change = (entity: string, id: string, pointer: string, value: unknown) =>
    stack.control('PATCH', 'entities', { tenantId, entity, id, changes: [{ pointer, value }] });
  const alignment = async () =>
    reportsAnswerOf(
      await runs.caller.call(readAlignmentReport, {
        tenantId,
        path: { improvementRunId: run.improvementRunId, sourceKey: source() },
      }),
    );
  const orders = async () =>
    reportsAnswerOf(
      await runs.caller.call(listRevisionOrders, {
        tenantId,
        path: { improvementRunId: run.improvementRunId },
      }),
    );

  it.each([
    [
      'a crosswalk of another version',
      'crosswalk',
      '/testSpecVersion',
      'another',
      '409 source-version-conflict blueprint',
      incomplete('blueprint'),
    ],
    [
      'a crosswalk of another source',
      'crosswalk',
      '/sourceKey',
      'another',
      '409 source-version-conflict blueprint',
      incomplete('blueprint'),
    ],
    [
      'a crosswalk of other weights',
      'crosswalk',
      '/requirements/0/weight',
      7.25,
      incomplete('blueprint'),
      incomplete('blueprint'),
    ],
    [
      'a comparison of another version',
      'comparison',
      '/contentTestSpecVersion',
      'another',
      '409 source-version-conflict analytics',
      incomplete('analytics'),
    ],
    [
      'a comparison of another source',
      'comparison',
      '/sourceKey',
      'another',
      '409 source-version-conflict analytics',
      incomplete('analytics'),
    ],
    [
      'a comparison of other counts',
      'comparison',
      '/agreementCount',
      16,
      incomplete('analytics'),
      incomplete('analytics'),
    ],
  ] as const)(
    'is no evidence: %s [RP-169, RP-175, RP-272, RP-273, RP-278]',
    async (_, what, pointer, value, ofAlignment, ofOrders) => {
      const [entity, id, held] =
        what === 'crosswalk'
          ? (['content.alignment_crosswalk', crosswalk().crosswalkId, crosswalk()] as const)
          : (['analytics.artifact', comparison().artifactRef, comparison()] as const);
      const before = pointer
        .slice(1)
        .split('/')
        .reduce<unknown>((inside, step) => (inside as Record<string, unknown>)[step], held);
      await change(entity, id, pointer, value);
      const { result, calls } = await callsDuring(stack, alignment);
      expect([result, await orders()]).toEqual([ofAlignment, ofOrders]);
      const operation =
        what === 'crosswalk' ? operations.readAlignmentCrosswalk : operations.readAnalysisArtifact;
      expect(calls.filter((call) => call.operation === operation.id)).toHaveLength(2);
      await change(entity, id, pointer, before);
      expect([await alignment(), await orders()]).toEqual(['200', '200']);
    },
  );

  it('is not looked at for a page that has nothing of it [RP-278, RP-306]', async () => {
    await stack.fault({ operation: operations.readAnalysisArtifact.id, kind: 'down', times: ALWAYS });
    const { result, calls } = await callsDuring(stack, () =>
      runs.caller.call(listRevisionOrders, {
        tenantId,
        path: { improvementRunId: run.improvementRunId },
        query: '?status=rejected',
      }),
    );
    expect(revisionOrderPage.parse(JSON.parse(result.text)).data).toEqual([]);
    expect(calls.map(({ operation }) => operation)).toEqual([operations.readAlignmentSources.id]);
  });
});
