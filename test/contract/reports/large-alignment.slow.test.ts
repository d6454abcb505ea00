import { get } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { alignmentReport } from '#shared/contract/reports/alignment-report.ts';
import { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { lazily } from '#test/support/lazily.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { sourceReceiptOf } from '#test/support/receipts.ts';
import { useTestStack } from '#test/support/stack.ts';
import { expectedAlignment } from './expected-improvement.ts';

// An alignment of as many requirements as there can be, over the bundled functions. Content names one of the fifty sources only, and
// Analytics no metric, so that the run is done with it soon.

const tenantId = 'tenant-aurora';

const stack = useTestStack({ bundled: true });
const runs = lazily(() => openImprovementRuns(stack, tenantId));
let crosswalk: AlignmentCrosswalk;
let improvementRunId: string;
beforeAll(async () => {
  const { generated, administrations } = stack.seededTenants.get(tenantId)!.platform.reports;
  const administrationId = runs.administration('large-sitting');
  const { contentTestSpecId } = administrations.find((one) => one.administrationId === administrationId)!;
  const list = generated.alignmentSources.get(contentTestSpecId)!();
  const source = list.sources[0]!;
  crosswalk = generated.alignmentCrosswalks.get(source.crosswalkId)!();
  const analysis = generated.analyses.get(administrationId)!();
  const { change } = runs;
  await change('content.alignment_sources', contentTestSpecId, '/sources', [source]);
  await change('analytics.administration_analysis', administrationId, '/metrics', []);
  await change(
    'analytics.administration_analysis',
    administrationId,
    '/comparisons',
    analysis.comparisons.filter(({ sourceKey }) => sourceKey === source.sourceKey),
  );
  ({ improvementRunId } = await runs.analyze(administrationId));
  await stack.improvement.settled();
}, 120_000);

/** An answer as it comes over the wire. */
async function fetchRaw(coding: string) {
  const { sourceKey } = crosswalk;
  const path = `/v1/improvement-runs/${improvementRunId}/alignment-reports/${sourceKey}`;
  const token = await stack.tokenFor(tenantId, ['reports:read'], {
    administrationIds: [runs.administration('large-sitting')],
  });
  return new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer; pieces: number }>(
    (resolve, reject) => {
      get(
        `${stack.urls.reportsUrl}${path}`,
        { headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': coding } },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('error', reject);
          response.on('end', () => {
            const { statusCode: status = 0, headers } = response;
            resolve({ status, headers, body: Buffer.concat(pieces), pieces: pieces.length });
          });
        },
      ).on('error', reject);
    },
  );
}

describe('an alignment of 10,000 requirements', { timeout: 120_000 }, () => {
  it('goes out whole, piece by piece, plain or compressed, and says what its crosswalk says, as its receipt does [RP-001, RP-168, RP-173, RP-174]', async () => {
    const plain = await fetchRaw('identity');
    expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
    expect(plain.headers['content-length']).toBeUndefined();
    expect(plain.pieces).toBeGreaterThan(10);
    expect(plain.body.length).toBeGreaterThan(2_000_000);
    const report = alignmentReport.parse(JSON.parse(plain.body.toString()));
    const { contributions, ...sums } = expectedAlignment(crosswalk, undefined);
    expect(contributions).toHaveLength(10_000);
    expect(report).toMatchObject(sums);
    expect(report.contributions).toEqual(contributions);
    openPublishedContract('reports')(readAlignmentReport, {
      status: plain.status,
      headers: new Headers({ ...(plain.headers as Record<string, string>) }),
      text: plain.body.toString(),
    });

    expect((await sourceReceiptOf(report.receipt)).contributions).toEqual(contributions);

    const packed = await fetchRaw('gzip');
    expect([packed.status, packed.headers['content-encoding']]).toEqual([200, 'gzip']);
    expect(packed.body.length).toBeLessThan(plain.body.length / 4);
    const again = alignmentReport.parse(JSON.parse(gunzipSync(packed.body).toString()));
    expect(again.contributions).toEqual(report.contributions);
  });
});
