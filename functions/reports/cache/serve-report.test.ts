import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Moment } from '#functions/reports/facts/facts.ts';
import { sourceProblem } from '#functions/reports/sources/problems.ts';
import type { Provable } from '#shared/contract/gates.ts';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { failedGate, page } from '#shared/contract/reports/examples.ts';
import type { ReportsProblem } from '#shared/contract/reports/problem.ts';
import { listCandidateReports, readAttemptReport } from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { checkBody } from '#shared/http/checked-body.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import { problemDocument } from '#shared/problems/document.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import { principalWith } from '#test/support/principal.ts';
import { wholeRelease } from '#test/support/release.ts';
import { createResponseCache } from './response-cache.ts';
import { serveReport } from './serve-report.ts';
import type { Compose, ReportRequest, ReportServing } from './serve-report.ts';

/** A fact of an owner: what it says, and under which entity tag. */
interface Fact {
  readonly text: string;
  readonly etag: string | undefined;
  /** Answers instead, whatever is asked. */
  respond?: () => Response | Promise<Response>;
}

type Change = Partial<ReportRequest<Route>['request']>;

const readFact = {
  id: 'content.read_fact',
  service: 'content',
  method: 'GET',
  path: '/tenants/{tenantId}/facts/{factId}',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: z.strictObject({ tenantId: z.string(), text: z.string() }),
  tenantInAnswer: true,
  maxAnswerBytes: 1024 * 1024,
  rule: '',
} as const satisfies UpstreamOperation;

const T0 = Date.UTC(2026, 0, 31, 9, 30);
const profile = {
  tenantId: 'tenant-a',
  baseUrl: 'https://platform.example',
  credential: secret('credential'),
};
const teacher = principalWith({ scopes: ['reports:read'], studentIds: [failedGate.candidateSourcedId] });

/** A container, its owners and its clock. A look at the clock takes a `tick`, so that no two times are the same unless a test wants that. */
function setup(facts: Record<string, Fact> = threeFacts(), tick = 1) {
  const time = { now: T0, monotonic: 0 };
  const pass = (milliseconds: number): void => {
    time.now += milliseconds;
    time.monotonic += milliseconds;
  };
  const clock = () => {
    pass(tick);
    return { ...time };
  };
  const container = (): ReportServing => ({
    cache: createResponseCache({ clock, random: randomBytes }),
    clock,
    random: randomBytes,
  });
  /** The `If-None-Match` of each call. */
  const conditions: (string | null)[] = [];
  const flight = { now: 0, most: 0 };

  async function answerOf(url: string, init: RequestInit): Promise<Response> {
    const condition = new Headers(init.headers).get('if-none-match');
    conditions.push(condition);
    flight.now += 1;
    flight.most = Math.max(flight.most, flight.now);
    await new Promise((resolve) => setImmediate(resolve));
    flight.now -= 1;
    const fact = facts[decodeURIComponent(url.split('/').at(-1) ?? '')];
    if (fact?.respond !== undefined) return fact.respond();
    if (fact === undefined) return new Response(null, { status: 404 });
    const headers: Record<string, string> = fact.etag === undefined ? {} : { etag: fact.etag };
    return condition !== null && condition === fact.etag
      ? new Response(null, { status: 304, headers })
      : Response.json({ tenantId: profile.tenantId, text: fact.text }, { headers });
  }

  const platform = createPlatform({
    profile,
    fetch: answerOf,
    now: () => 0,
    sleep: (_, signal) => (signal === undefined ? Promise.resolve() : new Promise(() => undefined)),
    random: () => 0.5,
    deadline: 60_000,
  });

  async function serve<R extends Route>(
    route: R,
    compose: Compose<R>,
    change: Change = {},
    serving: ReportServing = warm,
  ): Promise<Result<string, Problem>> {
    const request = {
      requestId: 'request-1',
      traceId: 'trace-1',
      problemsUrl: 'https://docs.example/problems',
      principal: teacher,
      path: { attemptId: failedGate.attemptId },
      query: { view: 'summary' },
      proved: wholeRelease.proved,
      ...change,
    };
    conditions.length = 0;
    const answer = await serveReport(serving, { route, request, platform, profile }, compose);
    if (!answer.ok) return answer;
    const checked = checkBody(route, answer.value.body);
    return checked.ok ? ok(checked.value.text()) : err(problem('reports', 'internal-error', 500));
  }

  const warm = container();
  return {
    facts,
    time,
    pass,
    platform,
    warm,
    serve,
    flight,
    /** How the owners were asked for the last answer. */
    conditions: (): readonly (string | null)[] => [...conditions],
    ask: (change?: Change) => serve(readAttemptReport, composing(facts), change),
    /** What a container answers that knows nothing yet. */
    askFresh: (change?: Change) => serve(readAttemptReport, composing(facts), change, container()),
  };
}

function correlationOf({ observedAt, requestId, traceId }: Moment): Partial<AttemptReport> {
  return { observedAt, requestId, traceId };
}

/** Composes a report that tells each fact in a row and in its receipt, to callers who may see its candidate. */
function composing(
  facts: Readonly<Record<string, Fact>>,
  more: (moment: Moment) => Partial<AttemptReport> = () => ({}),
): Compose<typeof readAttemptReport> {
  return async (sources, moment) => {
    const answers = await Promise.all(
      Object.keys(facts).map((factId) => {
        const call = { path: { tenantId: profile.tenantId, factId } };
        return sources.read(readFact, call, ({ text }) => ({ resourceId: factId, version: text }));
      }),
    );
    const observed = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
    for (const answer of answers) if (!answer.ok) return err(sourceProblem(answer.error, 'derived'));
    return ok({
      ...failedGate,
      mastery: observed.flatMap(({ value, receipt }) =>
        failedGate.mastery.map((row) => ({ ...row, caseGuid: receipt.resourceId, policyId: value.text })),
      ),
      sources: observed.map(({ receipt }) => receipt),
      ...correlationOf(moment),
      ...more(moment),
    });
  };
}

function threeFacts(): Record<string, Fact> {
  return {
    one: { text: 'first', etag: '"1"' },
    two: { text: 'second', etag: '"2"' },
    three: { text: 'third', etag: '"3"' },
  };
}

const confirmed = ['"1"', '"2"', '"3"'];
const composed = [null, null, null];

function reportOf(answer: Result<string, Problem>): AttemptReport {
  if (!answer.ok) throw new Error(answer.error.code);
  return readAttemptReport.success.schema.parse(JSON.parse(answer.value));
}

/** When a report says that it and its sources were observed. */
function timesOf({ observedAt, sources }: AttemptReport): readonly number[] {
  return [...sources.map((source) => source.observedAt), observedAt].map((text) => parseInstant(text) ?? NaN);
}

describe('an answer that is given again', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter((text) => text.isWellFormed()),
    fc.constantFrom('request-1', 'trace-1', '"', '\\', '\\"', '\u0000', '\u2028', '$&', '0'.repeat(32)),
    fc.stringMatching(/^[0-9a-f]{32}$/),
    fc.stringMatching(/^[1-9]\d{3}-0[1-9]-1\dT1\d:2\d:3\d\.\d{9}Z$/),
  );

  it('is what composing again would give, byte for byte, whatever its owners say [RP-336]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(hostile, { minLength: 1, maxLength: 6 }),
        fc.record({ requestId: hostile, traceId: hostile }),
        fc.integer({ min: 0, max: 29_999 }),
        async (texts, ids, later) => {
          const facts = texts.map((text, n): [string, Fact] => [`fact-${n}`, { text, etag: `"${n}"` }]);
          const { ask, askFresh, conditions, pass } = setup(Object.fromEntries(facts), 0);
          await ask();
          pass(later);
          const again = await ask(ids);
          expect(conditions()).toEqual(texts.map((_, n) => `"${n}"`));
          expect(again).toEqual(await askFresh(ids));
          expect(conditions()).toEqual(texts.map(() => null));
          expect(reportOf(again)).toMatchObject(ids);
        },
      ),
    );
  });

  it('carries the ids of the request that it answers, and nothing of the one before [RP-073]', async () => {
    const { ask, conditions } = setup();
    const first = { requestId: 'request-first', traceId: 'trace-first' };
    const second = { requestId: 'request-second', traceId: 'trace-second' };
    expect(reportOf(await ask(first))).toMatchObject(first);
    const again = await ask(second);
    expect(conditions()).toEqual(confirmed);
    expect(reportOf(again)).toMatchObject(second);
    expect(JSON.stringify(again)).not.toContain('first"');
  });

  it('says of each source when this request observed it, and is not older than any of them [RP-085]', async () => {
    const { ask, conditions, time, pass } = setup();
    for (const expected of [composed, confirmed]) {
      pass(10_000);
      const before = time.now;
      const times = timesOf(reportOf(await ask()));
      expect(conditions()).toEqual(expected);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(new Set(times).size).toBe(4);
      expect(times[0]).toBeGreaterThan(before);
      expect(times[3]).toBeLessThanOrEqual(time.now);
    }
  });

  it('is not older than its sources when the clock is set back between them', async () => {
    const { facts, ask, time } = setup();
    facts['three'] = {
      text: 'third',
      etag: '"3"',
      respond: () => {
        // Whoever has looked at the clock before sees a later time than whoever looks from now on.
        setImmediate(() => (time.now -= 5_000));
        return new Promise((resolve) =>
          setImmediate(() =>
            setImmediate(() => {
              resolve(
                Response.json({ tenantId: profile.tenantId, text: 'third' }, { headers: { etag: '"3"' } }),
              );
            }),
          ),
        );
      },
    };
    const [one = NaN, , three = NaN, report = NaN] = timesOf(reportOf(await ask()));
    expect(three).toBeLessThan(one);
    expect(report).toBeGreaterThanOrEqual(one);
  });

  it('asks all of its sources at once, and each only whether it has changed', async () => {
    const { ask, conditions, flight } = setup();
    await ask();
    flight.most = 0;
    await ask();
    expect(conditions()).toEqual(confirmed);
    expect(flight.most).toBe(3);
  });

  it('is composed anew thirty seconds after it was composed, however often it was asked for [RP-336]', async () => {
    const { ask, conditions, pass } = setup(threeFacts(), 0);
    const seen = [];
    for (const milliseconds of [0, 15_000, 14_999, 1, 29_999]) {
      pass(milliseconds);
      await ask();
      seen.push(conditions()[0]);
    }
    expect(seen).toEqual([null, '"1"', '"1"', null, '"1"']);
  });

  it('is composed anew when it has grown too old while its sources were asked [RP-336]', async () => {
    const { ask, askFresh, conditions, facts, pass } = setup(threeFacts(), 0);
    await ask();
    facts['two'] = {
      text: 'second',
      etag: '"2"',
      respond: () => {
        pass(30_000);
        delete facts['two']?.respond;
        return new Response(null, { status: 304 });
      },
    };
    const again = await ask();
    expect(conditions()).toEqual([...confirmed, ...composed]);
    expect(again).toEqual(await askFresh());
  });
});

describe('an answer that is not confirmed', () => {
  const text = 'second';
  const anew = { tenantId: profile.tenantId, text: 'changed' };
  it.each<[string, Fact]>([
    ['has changed', { text: 'changed', etag: '"2b"' }],
    ['has changed, and no longer says its version', { text: 'changed', etag: undefined }],
    [
      'does not heed conditions',
      { text, etag: '"2"', respond: () => Response.json(anew, { headers: { etag: '"2"' } }) },
    ],
    ['is no longer there', { text, etag: '"2"', respond: () => new Response(null, { status: 404 }) }],
    ['refuses the credential', { text, etag: '"2"', respond: () => new Response(null, { status: 401 }) }],
    ['does not answer', { text, etag: '"2"', respond: () => Promise.reject(new Error('reset')) }],
    ['fails', { text, etag: '"2"', respond: () => new Response(null, { status: 500 }) }],
    [
      'answers for another tenant',
      { text, etag: '"2"', respond: () => Response.json({ ...anew, tenantId: 'other' }) },
    ],
    ['answers what it must not', { text, etag: '"2"', respond: () => Response.json({}) }],
    [
      'confirms another version',
      { text, etag: '"2"', respond: () => new Response(null, { status: 304, headers: { etag: '"9"' } }) },
    ],
  ])('since an owner %s is composed as if there had been none [RP-336, RP-337]', async (_, fact) => {
    const { ask, askFresh, conditions, facts } = setup(threeFacts(), 0);
    await ask();
    facts['two'] = fact;
    const answer = await ask();
    expect(conditions()).toEqual(expect.arrayContaining([...confirmed, null]));
    expect(answer).toEqual(await askFresh());
    expect(answer).not.toMatchObject({ value: expect.stringContaining('second') as unknown });
  });

  it('is not asked for again', async () => {
    const { ask, conditions, facts } = setup();
    await ask();
    facts['two'] = { text: 'changed', etag: undefined };
    await ask();
    await ask();
    expect(conditions()).toEqual(composed);
  });

  it('is followed by what its owners say now, which is confirmed in its turn', async () => {
    const { ask, conditions, facts } = setup();
    await ask();
    facts['two'] = { text: 'changed', etag: '"2b"' };
    await ask();
    expect(reportOf(await ask()).mastery[1]).toMatchObject({ policyId: 'changed' });
    expect(conditions()).toEqual(['"1"', '"2b"', '"3"']);
  });
});

describe('an answer is given to nobody else', () => {
  it.each<[string, Change]>([
    ['subject', { principal: { ...teacher, sub: 'user-2' } }],
    ['role', { principal: { ...teacher, role: 'proctor' } }],
    ['scope', { principal: { ...teacher, scopes: ['reports:read', 'reports:write'] } }],
    ['claim', { principal: { ...teacher, classSourcedIds: ['class-1'] } }],
    ['tenant', { principal: { ...teacher, tenantId: 'tenant-b' } }],
    ['query', { query: { view: 'evidence' } }],
    ['proof of the release', { proved: new Set<Provable>(['C', 'D']) }],
    ['path', { path: { attemptId: failedGate.attemptId.toUpperCase() } }],
  ])('nor for another %s [RP-337]', async (_, change) => {
    const { ask, conditions } = setup();
    await ask();
    await ask(change);
    expect(conditions()).toEqual(composed);
    await ask();
    expect(conditions()).toEqual(confirmed);
  });

  it('but to the same caller with a refreshed token, whose claims are the same [RP-337]', async () => {
    const { ask, conditions } = setup();
    await ask();
    await ask({ principal: structuredClone(teacher) });
    expect(conditions()).toEqual(confirmed);
  });

  it('nor out of another container [RP-336]', async () => {
    const { ask, askFresh, conditions } = setup();
    await ask();
    await askFresh();
    expect(conditions()).toEqual(composed);
  });
});

describe('an answer is not kept', () => {
  const incomplete = ({ requestId, traceId, problemsUrl }: Moment): Partial<AttemptReport> => ({
    incompleteSections: [
      problemDocument(problem('reports', 'dependency-unavailable', 503, { dependency: 'caliper' }), {
        requestId,
        traceId,
        problemsUrl,
      }) as ReportsProblem,
    ],
  });

  it.each<[string, Fact]>([
    ['no entity tag', { text: 'second', etag: undefined }],
    ['a weak entity tag', { text: 'second', etag: 'W/"2"' }],
  ])('when a source has %s [RP-337]', async (_, fact) => {
    const { ask, conditions, warm } = setup({ ...threeFacts(), two: fact });
    await ask();
    expect(warm.cache.bytes()).toBe(0);
    await ask();
    expect(conditions()).toEqual(composed);
  });

  it('when it goes without a section, whose problem is of this request', async () => {
    const { facts, serve, warm } = setup();
    const ids = { requestId: 'request-2', traceId: 'trace-2' };
    const { incompleteSections } = reportOf(
      await serve(readAttemptReport, composing(facts, incomplete), ids),
    );
    expect(incompleteSections).toEqual([
      expect.objectContaining({ ...ids, instance: 'urn:uuid:request-2', dependency: 'caliper' }),
    ]);
    expect(warm.cache.bytes()).toBe(0);
  });

  it.each([
    ['goes without a section', incomplete, false],
    ['has every section', () => ({}), true],
  ])('when a row of it %s: kept %s', async (_, more, kept) => {
    const { facts, serve, warm } = setup();
    const composePage: Compose<typeof listCandidateReports> = async (sources, moment) => {
      const row = await composing(facts, more)(sources, moment);
      return row.ok
        ? ok({ ...page, data: [row.value], sources: row.value.sources, observedAt: moment.observedAt })
        : row;
    };
    const answer = await serve(listCandidateReports, composePage);
    expect(answer.ok).toBe(true);
    expect(warm.cache.bytes() > 0).toBe(kept);
  });

  it('when it is a problem', async () => {
    const { facts, ask, warm } = setup();
    facts['two'] = { text: '', etag: '"2"', respond: () => new Response(null, { status: 404 }) };
    expect(await ask()).toMatchObject({ ok: false, error: { code: 'dependency-incomplete' } });
    expect(warm.cache.bytes()).toBe(0);
  });

  it('when it is larger than an entry may be, and goes out all the same, row by row, with its own ids and times [RP-073, RP-085]', async () => {
    const { facts, platform, warm, time } = setup();
    const [example] = failedGate.mastery;
    const mastery = Array.from({ length: 5_000 }, (_, n) => ({
      ...example!,
      caseGuid: `case-${n}`,
      policyId: 'p'.repeat(255),
    }));
    const request = {
      requestId: 'request-large',
      traceId: 'trace-large',
      problemsUrl: 'https://docs.example/problems',
      principal: teacher,
      path: { attemptId: failedGate.attemptId },
      query: { view: 'summary' },
      proved: wholeRelease.proved,
    };
    const answer = await serveReport(
      warm,
      { route: readAttemptReport, request, platform, profile },
      composing(facts, () => ({ mastery })),
    );
    const body = answer.ok ? checkBody(readAttemptReport, answer.value.body) : answer;
    const pieces = body.ok ? [...body.value.pieces()] : [];
    const report = readAttemptReport.success.schema.parse(JSON.parse(pieces.join('')));
    expect(report).toMatchObject({ requestId: 'request-large', traceId: 'trace-large' });
    expect(report.mastery).toHaveLength(5_000);
    expect(timesOf(report).every((at) => at > T0 && at <= time.now)).toBe(true);
    expect(pieces.length).toBeGreaterThan(5_000);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1_000);
    expect(warm.cache.bytes()).toBe(0);
  });

  it('when it shows a receipt of what was read once more since, whose time it tells all the same [RP-085]', async () => {
    const { facts, serve, warm, time } = setup({ one: { text: 'first', etag: '"1"' } });
    const answer = await serve(readAttemptReport, async (sources, moment) => {
      const first = await composing(facts)(sources, moment);
      const second = await composing(facts)(sources, moment);
      if (!first.ok || !second.ok) return first;
      return ok({ ...second.value, sources: [...first.value.sources, ...second.value.sources] });
    });
    const times = timesOf(reportOf(answer));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.every((at) => at > T0 && at <= time.now)).toBe(true);
    expect(warm.cache.bytes()).toBe(0);
  });

  it('when a source could not be consulted, of which its receipt tells [RP-085]', async () => {
    const { facts, serve, warm, time } = setup();
    const answer = await serve(readAttemptReport, async (sources, moment) => {
      const report = await composing(facts)(sources, moment);
      const receipt = sources.unavailable(readFact, 'four');
      return report.ok ? ok({ ...report.value, sources: [...report.value.sources, receipt] }) : report;
    });
    const { sources } = reportOf(answer);
    expect(sources[3]).toMatchObject({ resourceId: 'four', status: 'unavailable' });
    expect(timesOf(reportOf(answer))[3]).toBeGreaterThan(T0);
    expect(timesOf(reportOf(answer))[3]).toBeLessThan(time.now);
    expect(warm.cache.bytes()).toBe(0);
  });

  it('when one of its sources is read in a way that knows no conditions', async () => {
    const { serve, warm } = setup();
    const readByPost = { ...readFact, method: 'POST' } as const satisfies UpstreamOperation;
    const answer = await serve(readAttemptReport, async (sources, moment) => {
      const call = { path: { tenantId: profile.tenantId, factId: 'one' } };
      const read = await sources.read(readByPost, call, () => ({ resourceId: 'one' }));
      return read.ok
        ? ok({ ...failedGate, ...correlationOf(moment), sources: [read.value.receipt] })
        : err(sourceProblem(read.error, 'derived'));
    });
    expect(reportOf(answer).sources).toHaveLength(1);
    expect(warm.cache.bytes()).toBe(0);
  });

  it('when it was composed of nothing that could be confirmed', async () => {
    const { serve, warm } = setup();
    await serve(readAttemptReport, (_, moment) =>
      Promise.resolve(ok({ ...failedGate, ...correlationOf(moment) })),
    );
    expect(warm.cache.bytes()).toBe(0);
  });
});

describe('an answer that breaks its own contract', () => {
  it('is refused by the pipeline, without a word of it, and never kept', async () => {
    const { platform, warm } = setup();
    const lambda = await testLambda(
      readAttemptReport,
      (request) =>
        serveReport(warm, { route: readAttemptReport, request, profile, platform }, (_, moment) =>
          Promise.resolve(ok({ ...failedGate, ...correlationOf(moment), attemptId: 'a b' })),
        ),
      { issuer: await createTestIssuer() },
    );
    const answer = await lambda.invoke({ path: { attemptId: failedGate.attemptId } });
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain(failedGate.candidateSourcedId);
    expect(lambda.lines.join('')).toContain('ANSWER_REFUSED');
    expect(lambda.lines.join('')).not.toContain('a b');
    expect(warm.cache.bytes()).toBe(0);
  });
});
