import { expect, it } from 'vitest';
import { CALLS_AT_ONCE, type ReportDependencies } from '#functions/reports/endpoints/support/owners.ts';
import { listCandidateReportsOperation } from '#functions/reports/endpoints/list-candidate-reports/operation.ts';
import { MOST_INDEX_READS } from '#functions/reports/endpoints/list-candidate-reports/read-facts.ts';
import type { IndexRow } from '#functions/reports/facts/facts.ts';
import { MAX_FRAMEWORKS } from '#functions/reports/sources/case-package.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { createPlatform, type PlatformPorts } from '#shared/platform/http-platform.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { testIssuer, testLambda } from '#test/support/lambda.ts';
import { indexLike, passedGate, tenantId } from '#test/support/report-facts.ts';
import { dependenciesOver } from '#test/support/scripted-owners.ts';

// The most that a page can have to read: thousands of gates, every one of another test spec, of which none is of the status that is asked
// for but the last; their frameworks, which no container has kept; and new versions while the first and the last page of the index are read.

const INDEX_PAGE = 100;
/** Turns of the event loop without a call, after which whoever still wants to ask waits for an answer. */
const QUIET_TURNS = 3;
const { candidateSourcedId, row, page, criteria } = indexLike(passedGate());

/** Owners whose answers arrive in rounds: all that is under way arrives together, once nobody asks any more. */
function ownersInRounds(answerTo: (url: URL) => object) {
  const taken = { calls: 0, depth: 0 };
  let underway: (() => void)[] = [];
  const fetch = async (url: string): Promise<Response> => {
    taken.calls += 1;
    await new Promise<void>((resolve) => underway.push(resolve));
    return Response.json(answerTo(new URL(url)));
  };
  /** Lets what is under way arrive, round by round, until the work is done. */
  async function during<T>(work: Promise<T>): Promise<T> {
    const state = { done: false, asked: 0, quiet: 0 };
    const ending = work.finally(() => (state.done = true));
    while (!state.done) {
      await new Promise((resolve) => setTimeout(resolve));
      state.quiet = underway.length === state.asked ? state.quiet + 1 : 0;
      state.asked = underway.length;
      if (state.asked === 0 || state.quiet < QUIET_TURNS) continue;
      taken.depth += 1;
      const arriving = underway;
      underway = [];
      for (const arrive of arriving) arrive();
    }
    return ending;
  }
  return { taken, fetch, during };
}

/** Whole pages of the index, from the n-th on: every attempt is of a spec of its own, whose version is another one in its record or not. */
const pageFrom = (nth: number, version = '1', settledUnder = version): readonly IndexRow[] =>
  Array.from({ length: INDEX_PAGE }, (_, at) => {
    const n = nth * INDEX_PAGE + at;
    return row(n, { spec: `spec-${n}`, version, settledUnder });
  });

/** The rows with an open gate at the end: the attempt that is asked for. */
const last = (rows: readonly IndexRow[]): readonly IndexRow[] =>
  rows.map((each, at) =>
    at === rows.length - 1 ? { ...each, record: { ...each.record!, gate: null } } : each,
  );

const found = { status: 200, body: { data: [{ status: 'indeterminate' }], hasMore: false } };

/**
 * A page that is read by a function that has just started.
 * @param frameworkOf the framework of the n-th test spec
 */
async function openPage(frameworkOf: (spec: number) => number) {
  /** Pages of the index, read by read; the last one ends the list. */
  let index: (readonly IndexRow[])[] = [];
  const owners = ownersInRounds(({ pathname, searchParams }) => {
    const spec = /spec-(\d+)/.exec(pathname)?.[1];
    if (spec !== undefined)
      return {
        ...criteria(`spec-${spec}`, searchParams.get('version') ?? ''),
        caseFrameworkGuid: `framework-${frameworkOf(Number(spec))}`,
      };
    const framework = /framework-\d+/.exec(pathname)?.[0];
    if (framework !== undefined)
      return {
        CFDocument: { identifier: framework, lastChangeDateTime: '2099-01-01T00:00:00Z' },
        CFItems: [],
        CFAssociations: [],
      };
    if (pathname.includes('/users/')) return { user: { sourcedId: candidateSourcedId, status: 'active' } };
    const rows = index.shift() ?? [];
    return page(rows, rows.length === INDEX_PAGE && rows.every(({ record }) => record?.gate !== null));
  });
  const ports: PlatformPorts = {
    fetch: owners.fetch,
    now: () => 0,
    // Nothing is late, and nothing is waited for.
    sleep: (_, signal) => (signal === undefined ? Promise.resolve() : new Promise(() => undefined)),
    random: () => new Uint8Array(4),
  };
  const connect: ReportDependencies['connect'] = (profile, request) =>
    createPlatform(ports, { maxConcurrency: CALLS_AT_ONCE })({ ...profile, tenantId }, request);
  const lambda = await testLambda(
    listCandidateReports,
    listCandidateReportsOperation({ ...dependenciesOver(connect), keys: createMemoryKeyRing() }),
  );
  const request = {
    path: { candidateSourcedId },
    query: { limit: '100', status: 'indeterminate' },
    headers: { Authorization: `Bearer ${await testIssuer.sign({ studentIds: [candidateSourcedId] })}` },
  };
  return async (pages: readonly (readonly IndexRow[])[]) => {
    index = [...pages];
    Object.assign(owners.taken, { calls: 0, depth: 0 });
    expect(await owners.during(lambda.invoke(request))).toMatchObject(found);
    expect(index).toEqual([]);
    return { ...owners.taken };
  };
}

it('takes no more and no less than the budget of its row, 128 calls at a time', async () => {
  // A framework is met on each of the first pages of the index.
  const read = await openPage((spec) => Math.min(Math.floor(spec / INDEX_PAGE), MAX_FRAMEWORKS - 1));
  const end = MOST_INDEX_READS - 3;
  const pages = [
    pageFrom(0, '1', '2'),
    pageFrom(0, '2'),
    ...Array.from({ length: end - 1 }, (_, n) => pageFrom(n + 1)),
    last(pageFrom(end, '1', '2')),
    last(pageFrom(end, '2')),
  ];
  expect(await read(pages)).toEqual(listCandidateReports.budget);
}, 60_000);

it('takes a turn for each read of the index, two for the test specs of its first and last page, and one for each framework', async () => {
  const one = await openPage(() => 0);
  const short = [pageFrom(0), last(pageFrom(1).slice(0, 25))];
  // Candidate and index; the test specs of its page; their framework; the next page; its test specs.
  expect(await one(short)).toEqual({ calls: 2 + 100 + 1 + 1 + 25, depth: 5 });
  // The container has kept nothing of CASE without an entity tag: the framework is read again.
  expect(await one(short)).toEqual({ calls: 2 + 100 + 1 + 1 + 25, depth: 5 });
}, 60_000);
