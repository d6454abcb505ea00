import { expect, it } from 'vitest';
import { createReportsClient, type ImprovementRun } from '#client/index.ts';
import { alignment, completedRun, queuedRun, revisionOrders } from '#shared/contract/reports/examples.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { readImprovementRun } from '#shared/contract/reports/routes/read-improvement-run.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { plain } from '#tools/terminal/paint.ts';
import { improve } from './improve.ts';

// What is shown of a completed run: start.slow.test.ts.

const queued: ImprovementRun = analyzeAdministration.success.schema.parse(queuedRun);
const completed: ImprovementRun = readImprovementRun.success.schema.parse(completedRun);
const notFound = { type: 'https://x/not-found', status: 404, detail: 'd', requestId: 'q', retryable: false };

/** Improves with a service whose run goes through these states. */
async function improved(runs: readonly ImprovementRun[], { isAligned = true } = {}) {
  const drawn: string[] = [];
  const states = [...runs];
  let text = '';
  const answer = (url: string): Response => {
    if (url.includes('alignment-reports'))
      return isAligned ? Response.json(alignment) : Response.json(notFound, { status: 404 });
    if (url.includes('revision-orders')) return Response.json({ ...revisionOrders, nextCursor: null });
    return Response.json(states.length > 1 ? states.shift() : states[0]);
  };
  const result = await improve({
    reports: createReportsClient({
      baseUrl: 'http://reports',
      fetch: (url) => Promise.resolve(answer(url)),
    }),
    administrationId: 'administration-1',
    space: { width: 120, paint: plain },
    sleep: () => Promise.resolve(),
    draw: (line) => drawn.push(line),
    write: (lines) => {
      text += lines.join('\n');
    },
  });
  return { result, drawn, text };
}

it('draws how far the run is until it stands', async () => {
  const analyzing: ImprovementRun = { ...queued, status: 'analyzing', alignmentRecordCount: 1 };
  const { result, drawn } = await improved([queued, queued, analyzing, completed]);
  expect(result).toEqual(ok(completed));
  expect(drawn).toEqual([
    expect.stringMatching(/^queued\s+░{20} 0 of 2 sources aligned, 0 orders$/),
    expect.stringMatching(/^analyzing\s+█{10}░{10} 1 of 2 sources aligned, 0 orders$/),
  ]);
});

it('fails, and says why, when the run waits for a receiver, even one that has no alignments yet, or has failed', async () => {
  const blocked: ImprovementRun = { ...queued, status: 'blocked_upstream', blockedOrderCount: 2 };
  for (const isAligned of [true, false]) {
    const { result, text } = await improved([blocked], { isAligned });
    expect(result).toEqual(err(expect.stringContaining('2 orders are not delivered')));
    expect(text).toMatch(/^improvement run {2}blocked_upstream[\s\S]*no receipt/);
  }
  const failed: ImprovementRun = { ...queued, status: 'failed', completedAt: queued.createdAt };
  expect((await improved([failed])).result).toEqual(err(expect.stringContaining('failed')));
  expect((await improved([completed], { isAligned: false })).result).toEqual(
    err(expect.stringContaining('readAlignmentReport: 404')),
  );
});
