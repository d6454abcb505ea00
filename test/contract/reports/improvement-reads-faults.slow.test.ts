import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listRevisionOrders, readAlignmentReport } from '#shared/contract/reports/routes.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import { revisionOrderPage } from '#shared/contract/reports/revision-order.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { callsDuring, countedCalls, slowDown, takenBy } from '#test/support/platform-calls.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { sentenceOf } from './compare-answers.ts';
import { ALWAYS, casesOf, columnsDemanded, rowsOf } from './fault-table.ts';
import type { RulesByAnswer, Subject } from './fault-table.ts';
import { openReads, somebody, tenantId } from './sound-reads.ts';
import type { Reads } from './sound-reads.ts';

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

const unavailable = (owner: SourceService): string => `503 dependency-unavailable ${owner}`;
const incomplete = (owner: SourceService): string => `503 dependency-incomplete ${owner}`;

/** Immutable evidence: an owner that shows it amiss once is asked again; what stays amiss does not dereference. */
const evidence = (owner: 'analytics' | 'blueprint', other: string) => ({
  silent: unavailable(owner),
  malformed: unavailable(owner),
  401: unavailable(owner),
  403: unavailable(owner),
  404: incomplete(owner),
  409: unavailable(owner),
  422: unavailable(owner),
  wrong_tenant: unavailable(owner),
  other_entity: other,
  version_drift: '200',
  always_version_drift: incomplete(owner),
  stale: '200',
  always_stale: incomplete(owner),
});

const claims = ({
  classes,
}: ReturnType<ImprovementRuns['caller']['fixtures']>): NonNullable<GatewayCall['claims']> => ({
  classSourcedIds: classes,
});

interface Expected extends Subject {
  readonly rules: RulesByAnswer;
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
    table: {
      readAlignmentCrosswalk: evidence('blueprint', '409 source-version-conflict blueprint'),
      readAnalysisArtifact: evidence('analytics', '409 source-version-conflict analytics'),
    },
    rules: [
      ['200', 'RP-269'],
      ['409', 'RP-272'],
      ['503', 'RP-273, RP-324'],
    ],
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
    table: {
      readAlignmentSources: evidence('blueprint', incomplete('blueprint')),
      readAlignmentCrosswalk: evidence('blueprint', incomplete('blueprint')),
      readAnalysisArtifact: evidence('analytics', incomplete('analytics')),
    },
    rules: [
      ['200', 'RP-274'],
      ['503', 'RP-278, RP-324'],
    ],
    // Four metrics, three crosswalks, two comparisons and the list of sources; a page of twelve artifacts: revision-order-pages.test.ts.
    sound: { calls: 10, depth: 1 },
    worst: { calls: 20, depth: 2 },
  },
];

describe.each(subjects)('$route.operationId', (subject) => {
  const { route, table, rules, sound, worst } = subject;
  let reads: Reads;
  beforeAll(async () => {
    reads = await openReads(stack, runs.caller, subject);
  });

  it('has a row for every read that it makes, and in it a column for every fault that the read can have', async () => {
    const { calls } = await callsDuring(stack, () => reads.send(somebody()));
    const made = new Set(calls.map(({ operation, method }) => `${method} ${operation ?? ''}`));
    const rows = rowsOf(table);
    expect(new Set(rows.map(([name]) => `${operations[name].method} ${operations[name].id}`))).toEqual(made);
    for (const [name, row] of rows) expect(new Set(Object.keys(row))).toEqual(columnsDemanded(name));
  });

  for (const { title, target, arms, expected } of casesOf(subject, rules)) {
    it(title, async () => {
      for (const arm of arms) {
        await stack.fault({ ...target, ...arm });
        const reply = await reads.send(somebody());
        await stack.control('DELETE', 'faults');
        expect([arm, sentenceOf(stack, reads.sound, reply)]).toEqual([arm, expected]);
        if (arm.retryAfterSeconds !== undefined && reply.status !== 200)
          expect(reply.headers.get('retry-after')).toBe(String(arm.retryAfterSeconds));
      }
      expect(await reads.ask(somebody())).toBe('200');
    });
  }

  it('goes on after one failed try of each of its reads, and after evidence that is gone once', async () => {
    for (const [name] of rowsOf(table))
      await stack.fault({ operation: operations[name].id, kind: 'status', status: 503 });
    expect(await reads.ask(somebody())).toBe('200');
    await stack.faultsStruck();
    for (const [name] of rowsOf(table))
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
      for (const [name] of rowsOf(table))
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
