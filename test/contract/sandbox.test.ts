import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { manifest } from '#functions/sandbox/manifest.ts';
import { attemptReport, attemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import { equivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import { materializeResponse } from '#shared/contract/reports/materialize.ts';
import { readinessReport } from '#shared/contract/reports/readiness-report.ts';
import { routes } from '#shared/contract/routes.ts';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import { answerOf, expectHeadersOfEvery } from '#test/lemmas/answers.ts';
import {
  CANARY,
  casesOf,
  draftOf,
  findingIn,
  inPath,
  oddIds,
  servedVariants,
  targetOf,
  withHeader,
  withQuery,
} from '#test/lemmas/requests.ts';
import type { Draft } from '#test/lemmas/requests.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { duringTests } from '#test/support/lazily.ts';
import { startSandbox } from '#test/support/sandbox.ts';

/*
 * The bundle that deploys, behind a gateway and with nothing else: no variable of the reports service is set, no owner can be asked. The
 * paths that it does not serve: test/lemmas/requests.contract.test.ts; its list: lists.test.ts.
 */
const sandbox = duringTests(startSandbox);

const { masteryGateAttempt, adaptiveDiagnosticAttempt, candidate, form } = sandboxIds;
const history = `/v1/candidates/${candidate}/attempt-reports`;
const gateReport = `/v1/attempt-reports/${masteryGateAttempt}`;

async function read<T>(schema: z.ZodType<T>, target: string): Promise<T> {
  const { status, text } = await sandbox.call(target);
  expect(status).toBe(200);
  return schema.parse(JSON.parse(text));
}

/** All of an answer but the ids of its request. A page has them in its rows, a materialization in its report. */
function sameness({ status, headers, text }: GatewayReply): object {
  const named = [...headers].filter(([name]) => !['date', 'x-request-id', 'x-amzn-requestid'].includes(name));
  return {
    status,
    named,
    text: text.replaceAll(/"(requestId|traceId)":"[^"]+"/g, '"$1":""').replace(/urn:uuid:[^"]+/, ''),
  };
}

const named = manifest.map(
  (fixture) => [`${fixture.route.operationId} ${Object.values(fixture.path).join()}`, fixture] as const,
);

describe.each(named)('%s', (_, { route, path }) => {
  const inspected = route.method === 'GET';
  const body = route.requestExample;
  const good = draftOf(route, body === undefined ? { path } : { path, body }, 'no.such.token');
  const send = (draft: Draft): Promise<GatewayReply> =>
    sandbox.call(targetOf(route, draft), { method: route.method, ...draft });

  it('is a route of production, and returns what the schema of production and the published document describe, however it is asked [RP-033, RP-223]', async () => {
    const production = routes.find(({ operationId }) => operationId === route.operationId)!;
    expect([route.method, route.path]).toEqual([production.method, production.path]);
    const hold = openPublishedContract('sandbox');
    for (const [name, change] of servedVariants(route)) {
      const reply = await send(change(good));
      expect([name, reply.status]).toEqual([name, 200]);
      hold(route, reply);
      expect(production.success.schema.safeParse(JSON.parse(reply.text)).error?.issues ?? []).toEqual([]);
      expectHeadersOfEvery(reply);
    }
  });

  it('and an id beside it are answered alike under every token [RP-034]', async () => {
    const expired =
      'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4IiwidGVuYW50SWQiOiJ0ZW5hbnQtYXVyb3JhIiwiZXhwIjoxfQ.AAAA';
    const other = Object.keys(path).reduce((draft, name) => inPath(name, 'other')(draft), good);
    for (const draft of [good, other]) {
      const expected = sameness(await send(draft));
      for (const tokens of [
        [],
        [''],
        ['Basic dXNlcjpwYXNz'],
        [`Bearer ${expired}`],
        ['Bearer eyJhbGciOiJub25lIn0.e30.'],
        ['Bearer a', 'Bearer b'],
        [`Bearer ${'A'.repeat(5_000)}`],
      ])
        expect(sameness(await send(withHeader('Authorization', ...tokens)(draft)))).toEqual(expected);
    }
  });

  if (Object.keys(path).length > 0)
    it('is the one of its id: any other is the one 404 [RP-041, RP-042]', async () => {
      const known = manifest
        .filter((fixture) => fixture.route === route)
        .flatMap((one) => Object.values(one.path));
      const ids = [...oddIds, ...Object.values(sandboxIds).flatMap((id) => [id, id.toUpperCase()])];
      const answers = new Set<string>();
      for (const name of Object.keys(path))
        for (const encoded of ['%ZZ', ...ids.filter((id) => !known.includes(id)).map(encodeURIComponent)]) {
          const reply = await send(inPath(name, encoded)(good));
          expect([encoded, ...answerOf(route, reply)]).toEqual([encoded, '404 not-found']);
          answers.add(JSON.stringify(sameness(reply)));
          const unsupported = await send(withQuery('foo=1')(inPath(name, encoded)(good)));
          answers.add(JSON.stringify(sameness(unsupported)));
        }
      expect(answers.size).toBe(1);
      const [name, id] = Object.entries(path)[0]!;
      expect((await send(inPath(name, id.replaceAll('-', '%2D'))(good))).status).toBe(200);
    });

  it.each(casesOf(route).map((one) => [one.what, one] as const))(
    `${inspected ? 'refuses as production does, unless it does not know the id' : 'is always the same operation, whatever key and body'} [${inspected ? 'RP-042, RP-307' : 'RP-037, RP-042'}]: %s`,
    async (_what, { problem, findings, requests }) => {
      const first = sameness(await send(good));
      for (const [name, change, own = findings] of requests) {
        const draft = change(good);
        const reply = await send(draft);
        if (!inspected) {
          expect([name, sameness(reply)]).toEqual([name, first]);
          continue;
        }
        const isKnown = draft.path === good.path;
        const expected = isKnown ? [problem, ...own.map((one) => findingIn(good, one))] : ['404 not-found'];
        expect([name, ...answerOf(route, reply).toSorted()]).toEqual([name, ...expected.toSorted()]);
        if (isKnown) openPublishedContract('sandbox')(route, reply);
        expect(reply.text).not.toContain(CANARY);
      }
    },
  );
});

describe('the fixed attempts', () => {
  it('one failed its mastery gate: one gap with nested evidence, no diagnostic, and it is not ready [RP-035, RP-040]', async () => {
    const report = await read(attemptReport, `${gateReport}?view=evidence`);
    expect(report).toMatchObject({ testKind: 'mastery_gate', diagnostic: null, gate: { status: 'fail' } });
    expect(report.mastery).toHaveLength(1);
    const [row] = report.mastery;
    expect(row?.state).toBe('gap');
    expect(row?.evidence?.length).toBeGreaterThan(0);
    expect(report.gate?.gapCaseGuids).toEqual([row?.caseGuid]);
    expect(report.gate?.achieved).toBeLessThan(report.gate?.required ?? 0);

    const { attemptId, entries } = await read(readinessReport, `${gateReport}/readiness`);
    expect(attemptId).toBe(masteryGateAttempt);
    expect(entries).toMatchObject([
      { decision: 'not_ready', decisionRuleId: 'gate-implies-readiness', decisionRuleVersion: '2' },
    ]);
  });

  it('one is an adaptive diagnostic with every state, both kinds and no external norms [RP-036]', async () => {
    const report = await read(
      attemptReport,
      `/v1/attempt-reports/${adaptiveDiagnosticAttempt}?view=evidence`,
    );
    expect(report).toMatchObject({
      testKind: 'adaptive_diagnostic',
      gate: null,
      diagnostic: {
        extNormsSet: null,
        scaleScore: report.score.value,
        scaleVersion: report.score.scaleVersion,
      },
    });
    const kinds = new Set(report.mastery.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['standard', 'knowledge_component']));
    const states = new Set(report.mastery.map(({ state }) => state));
    expect(states).toEqual(new Set(['mastered', 'not_yet', 'gap']));
    const guids = report.mastery.map(({ caseGuid }) => caseGuid);
    for (const { kind, parentCaseGuid, evidence } of report.mastery) {
      expect(evidence?.length).toBeGreaterThan(0);
      if (kind === 'knowledge_component') expect(guids).toContain(parentCaseGuid);
      else expect(parentCaseGuid).toBeNull();
    }
    const items = report.mastery.flatMap(({ evidence = [] }) => evidence.map(({ qtiItemId }) => qtiItemId));
    expect(new Set(items).size).toBe(report.diagnostic?.administeredItemCount);
  });
});

it('materializes the fixed operation under the trace of its caller [RP-037, RP-073]', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const { headers, text } = await sandbox.call('/v1/attempt-reports:materialize', {
    method: 'POST',
    headers: [['traceparent', `00-${traceId}-00f067aa0ba902b7-01`]],
  });
  const { operationId, report } = materializeResponse.parse(JSON.parse(text));
  expect(operationId).toMatch(/^op_/);
  expect(headers.has('idempotent-replayed')).toBe(false);
  expect(report).toMatchObject({
    attemptId: masteryGateAttempt,
    omitted: ['mastery', 'itemEvidence', 'readiness'],
    traceId,
    requestId: headers.get('x-request-id'),
  });
});

describe('the candidate', () => {
  const page = (query: string) => read(attemptReportPage, `${history}${query}`);
  const attempts = [masteryGateAttempt, adaptiveDiagnosticAttempt];

  it('has both attempts, as summaries, newest first [RP-133]', async () => {
    const { data, nextCursor, hasMore } = await page('');
    expect(data.map(({ attemptId }) => attemptId)).toEqual(attempts);
    for (const row of data)
      expect(row).toMatchObject({
        candidateSourcedId: candidate,
        mastery: [],
        omitted: ['mastery', 'itemEvidence', 'readiness'],
      });
    expect({ nextCursor, hasMore }).toEqual({ nextCursor: null, hasMore: false });
  });
});

it('the form is the one that the others are compared with [RP-041]', async () => {
  const { qtiTestId, comparisonQtiTestIds } = await read(equivalenceReport, `/v1/forms/${form}/equivalence`);
  expect(qtiTestId).toBe(form);
  for (const other of comparisonQtiTestIds)
    expect((await sandbox.call(`/v1/forms/${other}/equivalence`)).status).toBe(404);
});

it('puts nothing of a request but its ids into the log, and has failed at none [RP-324]', () => {
  const lines = sandbox.logs().map(({ line }) => JSON.stringify(line));
  expect(lines.length).toBeGreaterThan(1_000);
  const codes = lines.map((line) => (JSON.parse(line) as { code?: string }).code);
  expect(new Set(codes)).toEqual(new Set(['REQUEST_STARTED', 'REQUEST_REFUSED', 'REQUEST_COMPLETED']));
  for (const word of [CANARY, ...Object.values(sandboxIds)])
    expect(lines.filter((line) => line.includes(word))).toEqual([]);
  // The gateway's id and the invocation's.
  const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  expect(lines.filter((line) => line.match(uuid)?.length !== 2)).toEqual([]);
});
