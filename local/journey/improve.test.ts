import { describe, expect, it } from 'vitest';
import type { AlignmentReport } from '#shared/contract/reports/alignment-report.ts';
import { alignment, completedRun, queuedRun, revisionOrders } from '#shared/contract/reports/examples.ts';
import type { ImprovementRun } from '#shared/contract/reports/improvement-run.ts';
import {
  analyzeAdministration,
  listRevisionOrders,
  readAlignmentReport,
  readImprovementRun,
} from '#shared/contract/reports/routes.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { plain } from '#tools/terminal/paint.ts';
import type { CallFailure } from '#client/calls.ts';
import { improve } from './improve.ts';
import { createImprovementClient } from '#client/improvement-client.ts';
import type { ImprovementClient } from '#client/improvement-client.ts';

const queued = analyzeAdministration.success.schema.parse(queuedRun);
const completed = readImprovementRun.success.schema.parse(completedRun);
const report = readAlignmentReport.success.schema.parse(alignment);
const { data: orders } = listRevisionOrders.success.schema.parse(revisionOrders);
const unreachable: CallFailure = { kind: 'unreachable', message: 'refused' };

const addressOf = (url: string | URL | Request): string =>
  url instanceof Request ? url.url : url.toString();

async function improved(
  runs: readonly ImprovementRun[],
  {
    alignments = ok(report),
    ...client
  }: Partial<ImprovementClient> & {
    alignments?: ReturnType<typeof ok<AlignmentReport>> | ReturnType<typeof err<CallFailure>>;
  } = {},
) {
  const drawn: string[] = [];
  const asked: string[] = [];
  let text = '';
  let waits = 0;
  const [first = queued, ...later] = runs;
  const result = await improve({
    client: {
      analyze: () => Promise.resolve(ok(first)),
      readRun: (id) => {
        asked.push(id);
        return Promise.resolve(ok(later[asked.length - 1] ?? later.at(-1) ?? first));
      },
      readAlignment: (_, key) =>
        Promise.resolve(alignments.ok ? ok({ ...alignments.value, sourceKey: key }) : alignments),
      listOrders: () => Promise.resolve(ok(orders)),
      ...client,
    },
    space: { width: 120, paint: plain },
    sleep: () => {
      waits += 1;
      return Promise.resolve();
    },
    draw: (line) => drawn.push(line),
    write: (lines) => {
      text += lines.join('\n');
    },
  });
  return { result, drawn, asked, text, waits };
}

describe('the journey of an improvement run', () => {
  it('shows how far the run is until it stands, then its alignments as bars and its orders with their reasons', async () => {
    const analyzing: ImprovementRun = { ...queued, status: 'analyzing', alignmentRecordCount: 1 };
    const { result, drawn, asked, text, waits } = await improved([queued, analyzing, completed]);
    expect(result).toEqual(ok(completed));
    expect(asked).toEqual([queued.improvementRunId, queued.improvementRunId]);
    expect(waits).toBe(2);
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

  it('fails, and says why, when the run waits for a receiver, or has failed', async () => {
    const blocked: ImprovementRun = {
      ...queued,
      status: 'blocked_upstream',
      revisionOrderCount: 3,
      blockedOrderCount: 2,
    };
    const parked = await improved([blocked]);
    expect(parked.result).toEqual(err(expect.stringContaining('2 orders are not delivered')));
    expect(parked.text).toContain('no receipt');
    const failed: ImprovementRun = { ...queued, status: 'failed', completedAt: queued.createdAt };
    expect((await improved([failed])).result).toEqual(err(expect.stringContaining('failed')));
  });

  it('says what it could not read', async () => {
    const silent = () => Promise.resolve(err(unreachable));
    for (const [client, said] of [
      [{ analyze: silent }, 'cannot analyze the administration: no answer'],
      [{ listOrders: silent }, 'cannot read the orders: no answer'],
      [{ alignments: err(unreachable) }, 'cannot read the alignment of state-math-5.2025'],
    ] as const)
      expect((await improved([completed], client)).result).toEqual(err(expect.stringContaining(said)));
  });

  it('goes without the alignments that a run which has not ended has not made', async () => {
    const blocked: ImprovementRun = { ...queued, status: 'blocked_upstream', blockedOrderCount: 0 };
    const { text } = await improved([blocked], { alignments: err(unreachable) });
    expect(text).toContain('improvement run  blocked_upstream');
  });
});

describe('the client of improvement runs', () => {
  it('asks for every page of a run’s orders, each with the token of its administration', async () => {
    const urls: string[] = [];
    const permissions: unknown[] = [];
    const client = createImprovementClient('administration 1', {
      reportsUrl: 'http://reports',
      token: (permission) => {
        permissions.push(permission);
        return Promise.resolve('token');
      },
      newKey: () => 'key-1',
      fetch: (url) => {
        urls.push(addressOf(url));
        const more = urls.length === 1;
        return Promise.resolve(
          Response.json({
            ...revisionOrders,
            hasMore: more,
            nextCursor: more ? 'next page' : null,
          }),
        );
      },
      sleep: () => Promise.resolve(),
      random: () => 0,
    });
    expect(await client.listOrders('run/1')).toEqual(ok([...orders, ...orders]));
    expect(urls).toEqual([
      'http://reports/v1/improvement-runs/run%2F1/revision-orders?limit=100',
      'http://reports/v1/improvement-runs/run%2F1/revision-orders?limit=100&cursor=next+page',
    ]);
    expect(permissions).toEqual(
      Array(2).fill({ scope: 'reports:read', administrationIds: ['administration 1'] }),
    );
  });

  it('begins a run by a POST with a key and no body', async () => {
    const sent: (readonly [string, RequestInit | undefined])[] = [];
    const client = createImprovementClient('administration-1', {
      reportsUrl: 'http://reports',
      token: () => Promise.resolve('token'),
      newKey: () => 'key-1',
      fetch: (url, init) => {
        sent.push([addressOf(url), init]);
        return Promise.resolve(Response.json(queuedRun));
      },
      sleep: () => Promise.resolve(),
      random: () => 0,
    });
    expect(await client.analyze()).toEqual(ok(queued));
    expect(sent).toMatchObject([
      [
        'http://reports/v1/administrations/administration-1/improvement-runs:analyze',
        { method: 'POST', headers: { 'Idempotency-Key': 'key-1', Authorization: 'Bearer token' } },
      ],
    ]);
    expect(sent[0]?.[1]).not.toHaveProperty('body');
  });
});
