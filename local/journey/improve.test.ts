import { describe, expect, it } from 'vitest';
import { createReportsClient } from '#client/index.ts';
import type { ImprovementRun } from '#client/index.ts';
import { alignment, completedRun, queuedRun, revisionOrders } from '#shared/contract/reports/examples.ts';
import { analyzeAdministration, readImprovementRun } from '#shared/contract/reports/routes.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { plain } from '#tools/terminal/paint.ts';
import { improve } from './improve.ts';

const queued: ImprovementRun = analyzeAdministration.success.schema.parse(queuedRun);
const completed: ImprovementRun = readImprovementRun.success.schema.parse(completedRun);

const notFound = { type: 'https://x/not-found', status: 404, detail: 'd', requestId: 'q', retryable: false };

/** Improves with a service whose run goes through these states; paths that contain `missing` are not found there. */
async function improved(runs: readonly ImprovementRun[], missing?: string) {
  const drawn: string[] = [];
  const asked: string[] = [];
  let text = '';
  const states = [...runs];
  const result = await improve({
    reports: createReportsClient({
      baseUrl: 'http://reports',
      fetch: async (url) => {
        const path = url.replace('http://reports/v1/', '');
        asked.push(path);
        await Promise.resolve();
        if (missing !== undefined && path.includes(missing)) return Response.json(notFound, { status: 404 });
        if (path.includes('alignment-reports')) return Response.json(alignment);
        if (path.includes('revision-orders'))
          return Response.json({
            ...revisionOrders,
            nextCursor: path.includes('cursor') ? null : 'next page',
          });
        return Response.json(states.length > 1 ? states.shift() : states[0]);
      },
    }),
    administrationId: 'administration-1',
    space: { width: 120, paint: plain },
    sleep: () => Promise.resolve(),
    draw: (line) => drawn.push(line),
    write: (lines) => {
      text += lines.join('\n');
    },
  });
  return { result, drawn, asked, text };
}

describe('the journey of an improvement run', () => {
  it('shows how far the run is until it stands, then its alignments as bars and its orders with their reasons', async () => {
    const analyzing: ImprovementRun = { ...queued, status: 'analyzing', alignmentRecordCount: 1 };
    const { result, drawn, asked, text } = await improved([queued, queued, analyzing, completed]);
    expect(result).toEqual(ok(completed));
    const run = `improvement-runs/${queued.improvementRunId}`;
    expect(asked.filter((path) => !path.includes('alignment'))).toEqual([
      'administrations/administration-1/improvement-runs:analyze',
      run,
      run,
      run,
      `${run}/revision-orders?limit=100`,
      `${run}/revision-orders?limit=100&cursor=next+page`,
    ]);
    expect(drawn).toEqual([
      expect.stringMatching(/^queued\s+░{20} 0 of 2 sources aligned, 0 orders$/),
      expect.stringMatching(/^analyzing\s+█{10}░{10} 1 of 2 sources aligned, 0 orders$/),
    ]);
    expect(text).toMatch(
      /State mathematics assessment.* █{17}░{13} {2}57\.14 % {2}2 of 3\.5; 1 of 2 requirements/,
    );
    expect(text).toContain('agree for 95.1 % of 390: 301 predicted to pass, 288 passed');
    expect(text).toMatch(/bank\s+rotate_item\s+accepted\s+item-fractions-17, 1 CASE item\n/);
    expect(text).toContain(
      'because difficulty_out_of_band: proportion_correct is 0.97 proportion, threshold gt 0.95',
    );
    expect(text).toContain(completed.receipt?.downloadUrl);
    expect(text).toContain('suppressed   fewer than 10 responses');
  });

  it('fails, and says why, when the run waits for a receiver, even one that has no alignments yet, or has failed', async () => {
    const blocked: ImprovementRun = { ...queued, status: 'blocked_upstream', blockedOrderCount: 2 };
    for (const missing of [undefined, 'alignment-reports']) {
      const { result, text } = await improved([blocked], missing);
      expect(result).toEqual(err(expect.stringContaining('2 orders are not delivered')));
      expect(text).toMatch(/^improvement run {2}blocked_upstream[\s\S]*no receipt/);
    }
    const failed: ImprovementRun = { ...queued, status: 'failed', completedAt: queued.createdAt };
    expect((await improved([failed])).result).toEqual(err(expect.stringContaining('failed')));
  });

  it.each([
    ['analyze', 'analyzeAdministration: 404'],
    ['revision-orders', 'listRevisionOrders: 404'],
    ['alignment-reports', 'readAlignmentReport: 404'],
  ])('says that it could not read %s', async (missing, said) => {
    expect((await improved([completed], missing)).result).toEqual(err(expect.stringContaining(said)));
  });
});
