import { beforeAll, describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { alignmentReport } from '#shared/contract/reports/alignment-report.ts';
import type { ReceiptLink } from '#shared/contract/reports/receipt-link.ts';
import { readAlignmentReport } from '#shared/contract/reports/routes.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import * as operations from '#shared/platform/operations.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { ownerBytes } from '#test/support/owner-bytes.ts';
import { expectProven, fetchReceipt, runReceiptOf } from '#test/support/receipts.ts';
import type { FetchedReceipt } from '#test/support/receipts.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
import { useTestStack } from '#test/support/stack.ts';

// The receipts of whole runs and of each of their sources, as clients fetch them through the links that the functions give.

const names = ['spring-gate', 'school-gate', 'refused-by-bank', 'normed-diagnostic'] as const;

const stack = useTestStack();
const tenants = new Map<string, { readonly runs: ImprovementRuns; readonly keys: readonly RunKey[] }>();
beforeAll(async () => {
  for (const tenantId of localTenantIds) {
    const runs = openImprovementRuns(stack, tenantId);
    const keys: RunKey[] = [];
    for (const name of names) keys.push(await runs.analyze(runs.administration(name)));
    tenants.set(tenantId, { runs, keys });
  }
  await stack.improvement.settled();
});

/** A link with the moment at which it was given. */
interface Given {
  readonly link: ReceiptLink;
  /** Of the response that gave it. */
  readonly observedAt: string;
}

async function linksOf(tenantId: string, key: RunKey): Promise<readonly Given[]> {
  const { runs } = tenants.get(tenantId)!;
  const run = await runs.read(key);
  const given: Given[] = [{ link: run.receipt!, observedAt: run.observedAt }];
  for (const sourceKey of run.sourceKeys) {
    const reply = await runs.caller.call(readAlignmentReport, {
      tenantId,
      path: { improvementRunId: key.improvementRunId, sourceKey },
    });
    expect(reportsAnswerOf(reply)).toBe('200');
    const { receipt, observedAt } = alignmentReport.parse(JSON.parse(reply.text));
    given.push({ link: receipt, observedAt });
  }
  return given;
}

/** Every bundle of a tenant’s runs, and with each the bytes of all that the run is pinned to. */
async function bundlesOf(tenantId: string) {
  const { runs, keys } = tenants.get(tenantId)!;
  const all: (FetchedReceipt & { readonly files: readonly Uint8Array[] })[] = [];
  for (const key of keys) {
    const { pins } = (await runs.progress(key)).run;
    const { contentTestSpecId: testSpecId, contentTestSpecVersion: version } = pins;
    const { readAlignmentSources, readAlignmentCrosswalk, readAnalysisArtifact } = operations;
    const comparisons = pins.sources.flatMap(({ comparison }) =>
      comparison === null || comparison === 'missing' ? [] : [comparison],
    );
    const files = await Promise.all([
      ownerBytes(stack, tenantId, readAlignmentSources, { path: { testSpecId }, query: { version } }),
      ...pins.sources.map(({ crosswalk }) =>
        ownerBytes(stack, tenantId, readAlignmentCrosswalk, {
          path: { testSpecId, crosswalkId: crosswalk.ref },
          query: { version },
        }),
      ),
      ...[...pins.metrics.flatMap(({ artifact }) => artifact ?? []), ...comparisons].map(({ ref }) =>
        ownerBytes(stack, tenantId, readAnalysisArtifact, { path: { artifactRef: ref } }),
      ),
    ]);
    const fetched: FetchedReceipt[] = [];
    for (const { link } of await linksOf(tenantId, key)) fetched.push(await fetchReceipt(link));
    for (const one of fetched) all.push({ ...one, files: [...files, ...fetched.map(({ bytes }) => bytes)] });
  }
  return all;
}

describe.each(localTenantIds)('the receipts of %s', (tenantId) => {
  it('lie under links that are nothing but a digest, an expiry and a signature, and good for a while yet [RP-153, RP-210, RP-212, RP-213]', async () => {
    for (const key of tenants.get(tenantId)!.keys)
      for (const { link, observedAt } of await linksOf(tenantId, key)) {
        expect(['application/json', 'application/zip']).toContain(link.mediaType);
        const url = new URL(link.downloadUrl);
        expect(`${url.origin}${url.pathname}`).toBe(`${stack.urls.receiptsUrl}/${link.sha256}`);
        expect([...url.searchParams.keys()]).toEqual(['expires', 'signature']);
        expect([url.username, url.password, url.hash]).toEqual(['', '', '']);
        expect(Number(url.searchParams.get('expires')) * 1000).toBe(Date.parse(link.expiresAt));
        expect(link.expiresAt > observedAt).toBe(true);
        expect(Date.parse(link.expiresAt)).toBeGreaterThan(Date.now());
        // Whatever the signature holds, it is not to be read.
        const signature = url.searchParams.get('signature')!;
        const read = signature.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
        for (const known of [tenantId, key.improvementRunId, link.sha256, 'application/json'])
          expect(read.join('|')).not.toContain(known);
      }
  });

  it('are proven by the artifacts of their owners: every decision follows from them, and no other does [RP-199, RP-215]', async () => {
    for (const { receipt, files } of await bundlesOf(tenantId)) expectProven(receipt, files);
  });

  it('hold versions, references, contributions, decisions, the orders’ lives, acknowledgements and omissions [RP-152, RP-215]', async () => {
    const { runs, keys } = tenants.get(tenantId)!;
    const omitted = new Set<string>();
    for (const key of keys) {
      const shown = await runs.read(key);
      const { run, orders } = await runs.progress(key);
      const receipt = await runReceiptOf(shown.receipt!);
      expect(receipt).toMatchObject({
        tenantId,
        improvementRunId: key.improvementRunId,
        administrationId: run.administrationId,
        contentTestSpecVersion: shown.contentTestSpecVersion,
        analysisPolicy: stack.seededTenants.get(tenantId)!.analysisPolicy.document,
        omissions: shown.omissions,
      });
      for (const name of receipt.omissions) omitted.add(name);
      expect(receipt.sources.map(({ sourceKey }) => sourceKey)).toEqual(shown.sourceKeys);
      const held = await runs.received(run.administrationId);
      expect(receipt.orders.map(({ revisionOrderId }) => revisionOrderId)).toEqual(
        orders.map(({ revisionOrderId }) => revisionOrderId),
      );
      for (const order of receipt.orders) {
        const { decision, receiptId, module } = held.get(order.revisionOrderId)!;
        expect(order).toMatchObject({
          status: decision,
          targetModule: module,
          receipt: { service: module, resourceId: receiptId },
        });
      }
    }
    expect(omitted.size).toBeGreaterThan(1);
  });
});
