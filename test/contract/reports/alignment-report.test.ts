import { beforeAll, describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import type { AlignmentReport } from '#shared/contract/reports/alignment-report.ts';
import { expectProven, fetchReceipt, sourceReceiptOf } from '#test/support/receipts.ts';
import { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ComparisonArtifact } from '#shared/platform/owners/analytics.ts';
import { isCompared } from '#shared/improvement/records.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns, type ImprovementRuns } from '#test/support/improvement-runs.ts';
import { ownerBytes } from '#test/support/owner-bytes.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { useTestStack } from '#test/support/stack.ts';
import { expectedAlignment } from './expected-improvement.ts';

// Alignments over whole functions, held against the crosswalks that Content holds; the receipts of them and of their runs, as clients fetch
// them through the links that the functions give.

const conforms = openPublishedContract('reports');
const aurora = 'tenant-aurora';

const withSources = ['spring-gate', 'school-gate', 'nothing-trips', 'normed-diagnostic'];

const stack = useTestStack();
const tenants = new Map<string, Tenant>();
beforeAll(async () => {
  for (const tenantId of localTenantIds) tenants.set(tenantId, await openTenant(tenantId));
  await stack.improvement.settled();
});

interface Tenant {
  readonly tenantId: string;
  readonly runs: ImprovementRuns;
  /** A complete run of each administration that has sources, by the administration’s name. */
  readonly improvementRunIds: ReadonlyMap<string, string>;
}

async function openTenant(tenantId: string): Promise<Tenant> {
  const runs = openImprovementRuns(stack, tenantId);
  const improvementRunIds = new Map<string, string>();
  for (const name of [...withSources, 'refused-by-bank']) {
    const { improvementRunId } = await runs.analyze(runs.administration(name));
    improvementRunIds.set(name, improvementRunId);
  }
  return { tenantId, runs, improvementRunIds };
}

/** A source of a run with what the owners hold for it. */
interface Aligned {
  readonly tenant: Tenant;
  readonly administrationId: string;
  readonly path: { readonly improvementRunId: string; readonly sourceKey: string };
  readonly crosswalk: AlignmentCrosswalk;
  readonly sourceSet: AlignmentSources;
  /** Absent where none is due; null where one is, and Analytics has none. */
  readonly comparison: ComparisonArtifact | null | undefined;
}

/** Every source of a tenant’s run. */
function sourcesOf(tenantId: string, name: string): readonly Aligned[] {
  const tenant = tenants.get(tenantId)!;
  const { administration, sources, sourceSet } = tenant.runs.held(name);
  const { administrationId } = administration;
  const improvementRunId = tenant.improvementRunIds.get(name)!;
  return sources.map(({ sourceKey, ...held }) => ({
    ...{ tenant, administrationId, path: { improvementRunId, sourceKey }, sourceSet },
    ...held,
  }));
}

const allOf = (tenantId: string): readonly Aligned[] =>
  withSources.flatMap((name) => sourcesOf(tenantId, name));

function ask(
  { tenant, path }: Pick<Aligned, 'tenant' | 'path'>,
  call: GatewayCall = {},
): Promise<GatewayReply> {
  return tenant.runs.caller.call(readAlignmentReport, { tenantId: tenant.tenantId, path, ...call });
}

/** The report of a source, held against what is published of it. */
async function read(aligned: Aligned, call?: GatewayCall): Promise<AlignmentReport> {
  const reply = await ask(aligned, call);
  expect(reportsAnswerOf(reply)).toBe('200');
  conforms(readAlignmentReport, reply);
  return readAlignmentReport.success.schema.parse(JSON.parse(reply.text));
}

describe.each(localTenantIds)('the alignments of %s', (tenantId) => {
  it('are one of each source that Content names, by its crosswalk and the run’s blueprint, counted anew, and stand so in their receipts [RP-006, RP-086, RP-137, RP-167, RP-168, RP-169, RP-170, RP-171, RP-172, RP-173, RP-174, RP-176, RP-177, RP-178, RP-179, RP-180, RP-181, RP-182, RP-183, RP-184, RP-211, RP-215, RP-269]', async () => {
    const keys = new Map<string, string[]>();
    const reasons = new Set<string | null>();
    for (const aligned of allOf(tenantId)) {
      const { path, crosswalk, sourceSet, comparison } = aligned;
      const { testSpecId, testSpecVersion: version, crosswalkId } = crosswalk;
      const report = await read(aligned);
      const bytes = await ownerBytes(stack, tenantId, operations.readAlignmentCrosswalk, {
        path: { testSpecId, crosswalkId },
        query: { version },
      });
      const { contributions, ...sums } = expectedAlignment(crosswalk, sourceSet);
      expect(report).toMatchObject({
        object: 'alignment_report',
        ...path,
        ...sums,
        sourceAssessment: crosswalk.sourceAssessment,
        sourceVersion: crosswalk.sourceVersion,
        contentTestSpecId: testSpecId,
        contentTestSpecVersion: version,
        crosswalkHash: sha256Hex(bytes),
        formulaVersion: 'alignment-v1',
      });
      expect(report.contributions).toEqual(contributions);
      keys.set(path.improvementRunId, [...(keys.get(path.improvementRunId) ?? []), path.sourceKey]);

      for (const { reasonCode } of contributions) reasons.add(reasonCode);
      const receipt = await sourceReceiptOf(report.receipt);
      expect(receipt).toMatchObject({
        ...{ tenantId, administrationId: aligned.administrationId, ...path, ...sums, contributions },
        crosswalk: { sha256: report.crosswalkHash },
      });
      expect(report.limitations).toEqual(expect.arrayContaining(receipt.limitations));

      const about = ({ service, resourceId, status }: (typeof report.sources)[number]) =>
        `${service} ${resourceId} ${status}`;
      expect(report.sources.map(about)).toEqual([
        `blueprint ${crosswalkId} current`,
        `blueprint ${sourceSet.sourceSetId} current`,
        ...(comparison ? [`analytics ${comparison.artifactRef} current`] : []),
      ]);
      expect(report.sources[0]!.version).toBe(`sha256:${report.crosswalkHash}`);
      for (const source of report.sources) expect(source.observedAt <= report.observedAt).toBe(true);
    }
    for (const [improvementRunId, sourceKeys] of keys) {
      const run = await tenants.get(tenantId)!.runs.read({ tenantId, improvementRunId });
      expect([sourceKeys, run.alignmentRecordCount]).toEqual([run.sourceKeys, sourceKeys.length]);
    }
    expect(reasons).toEqual(
      new Set([null, 'missing_mapping', 'ambiguous_mapping', 'stale_mapping', 'lower_dok', 'unknown']),
    );
  });
});

describe.each(localTenantIds)('the receipts of %s', (tenantId) => {
  /** The links of each run: of the run itself and of all its sources. */
  async function linksOf(name: string) {
    const { runs, improvementRunIds } = tenants.get(tenantId)!;
    const key = { tenantId, improvementRunId: improvementRunIds.get(name)! };
    const run = await runs.read(key);
    const links = [run.receipt!];
    for (const aligned of sourcesOf(tenantId, name)) links.push((await read(aligned)).receipt);
    return { key, run, links };
  }
  const names = () => [...tenants.get(tenantId)!.improvementRunIds.keys()];

  it('are proven by the artifacts of their owners: every decision follows from them, and no other does [RP-199, RP-215]', async () => {
    const { readAlignmentSources, readAlignmentCrosswalk, readAnalysisArtifact } = operations;
    for (const name of names()) {
      const { key, links } = await linksOf(name);
      const { pins } = (await tenants.get(tenantId)!.runs.progress(key)).run;
      const { contentTestSpecId: testSpecId, contentTestSpecVersion: version } = pins;
      const ofSpec = (crosswalkId?: string) => ({
        path: { testSpecId, ...(crosswalkId === undefined ? {} : { crosswalkId }) },
        query: { version },
      });
      const artifacts = [
        ...pins.metrics.flatMap(({ artifact }) => artifact ?? []),
        ...pins.sources.flatMap(({ comparison }) => (isCompared(comparison) ? [comparison] : [])),
      ];
      const files = await Promise.all([
        ownerBytes(stack, tenantId, readAlignmentSources, ofSpec()),
        ...pins.sources.map(({ crosswalk }) =>
          ownerBytes(stack, tenantId, readAlignmentCrosswalk, ofSpec(crosswalk.ref)),
        ),
        ...artifacts.map(({ ref }) =>
          ownerBytes(stack, tenantId, readAnalysisArtifact, { path: { artifactRef: ref } }),
        ),
      ]);
      const fetched = await Promise.all(links.map(fetchReceipt));
      const all = [...files, ...fetched.map(({ bytes }) => bytes)];
      for (const { receipt } of fetched) expectProven(receipt, all);
    }
  });
});

describe('a source that its run has not aligned', () => {
  it('is 503 and may be asked for again, until the run has reached it; one of another blueprint never is [RP-271, RP-273, RP-324]', async () => {
    const tenant = tenants.get(aurora)!;
    stack.improvement.pause();
    const run = await tenant.runs.analyze(tenant.runs.administration('spring-gate'));
    const path = { ...sourcesOf(aurora, 'spring-gate')[0]!.path, improvementRunId: run.improvementRunId };
    const early = await ask({ tenant, path });
    expect(reportsAnswerOf(early)).toBe('503 dependency-incomplete unknown');
    expect(reportsProblemOf(early).retryable).toBe(true);
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
    // Waiting changes nothing for a source that only another blueprint names.
    const { sourceKey } = sourcesOf(aurora, 'nothing-trips')[0]!.path;
    const elsewhere = { tenant, path: { ...path, sourceKey } };
    expect(reportsAnswerOf(await ask(elsewhere))).toBe('404 not-found');
    stack.improvement.resume();
    await stack.improvement.settled();
    expect(reportsAnswerOf(await ask({ tenant, path }))).toBe('200');
    expect(reportsAnswerOf(await ask(elsewhere))).toBe('404 not-found');
  });

  it('is nobody’s once the run has failed; what was aligned before stays [RP-155, RP-271]', async () => {
    const tenant = tenants.get(aurora)!;
    const { id: operation } = operations.readAlignmentCrosswalk;
    await stack.fault({ operation, kind: 'status', status: 404, skip: 2, times: 1_000 });
    const run = await tenant.runs.analyze(tenant.runs.administration('spring-gate'));
    await stack.improvement.settled();
    await stack.control('DELETE', 'faults');
    expect((await tenant.runs.read(run)).status).toBe('failed');
    const answers: string[] = [];
    for (const { path } of sourcesOf(aurora, 'spring-gate'))
      answers.push(
        reportsAnswerOf(await ask({ tenant, path: { ...path, improvementRunId: run.improvementRunId } })),
      );
    expect(answers).toEqual(['200', '200', '404 not-found']);
  });
});
