import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '#local/gateway/environment.ts';
import { toHttpAnswer } from '#local/gateway/http-answer.ts';
import { readStreamedAnswer } from '#local/gateway/streamed-answer.ts';
import { variablesOf } from '#local/stack/function-variables.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import type { Route } from '#shared/contract/route.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { inProcess, sourceOf } from '#test/support/in-process.ts';
import { proxyEvent, type TestRequest } from '#test/support/lambda.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import { useTestStack, type TestStack } from '#test/support/stack.ts';

describe('every handler', () => {
  const touched = (): never => {
    throw new Error('a port was touched');
  };
  const untouchable: Runtime = {
    environment: new Proxy({}, { get: touched, has: touched, ownKeys: touched }),
    fetch: touched,
    aws: touched,
    now: touched,
    sleep: touched,
    random: touched,
    write: touched,
  };

  it.each(deployedFunctions)(
    'of $operationId is bound to given ports, and touches none until it is called',
    async (row) => {
      const exported = (await import(pathToFileURL(sourceOf(row)).href)) as Record<string, unknown>;
      expect(Object.keys(exported).sort()).toEqual(['bind', 'handler']);
      const bind = exported['bind'] as (runtime: Runtime) => unknown;
      expect(bind(untouchable)).toBeTypeOf('function');
    },
  );
});

describe('two bindings of one function in one process', () => {
  const stack = useTestStack();

  /** A binding, what it has written, and what it has asked of AWS and of the owners since it was last asked. */
  function open(row: Route, name: string, aheadMs: number) {
    const variables = variablesOf(row, {
      awsUrl: stack.urls.awsUrl,
      gatewayUrl: new URL(stack.urls.reportsUrl).origin,
      releaseKey: stack.rehearsal.releaseKey,
    });
    const { fetch } = processRuntime();
    const lines: string[] = [];
    let fetched: string[] = [];
    let before = awsCalls();
    const environment = inProcess(() => ({
      now: () => Date.now() + aheadMs,
      fetch: (url, request) => {
        // A run makes a candidate of its own.
        fetched.push(url.replace(/candidate-[0-9a-f]{40}/, 'candidate'));
        return fetch(url, request);
      },
    }))(
      {
        ...row.lambda,
        name: row.operationId,
        bundleUrl: pathToFileURL(sourceOf(row)).href,
        variables: { ...variables, PROBLEMS_URL: `https://${name}.example/problems` },
      },
      (line) => lines.push(line),
    );
    return {
      lines,
      close: () => environment.kill(),
      call: async (event: APIGatewayProxyEvent) => {
        const { outcome, done } = environment.invoke(event, event.requestContext.requestId);
        const answer = await answerOf(await outcome);
        await done;
        return answer;
      },
      taken: () => {
        const now = awsCalls();
        const taken = [...fetched.sort(), ...now.map((count, at) => count - before[at]!)];
        fetched = [];
        before = now;
        return taken;
      },
    };
  }
  type Bound = ReturnType<typeof open>;

  const awsCalls = (): readonly number[] => [
    stack.awsCalls('dynamodb', 'GetItem'),
    stack.awsCalls('dynamodb', 'Query'),
    stack.awsCalls('kms', 'Decrypt'),
  ];

  const requests: readonly [Route, (stack: TestStack) => TestRequest][] = [
    [
      readAttemptReport,
      (running) => ({
        path: { attemptId: fixturesOf(running).attempts.gateFail },
        query: { view: 'evidence' },
      }),
    ],
    [
      listCandidateReports,
      (running) => ({
        path: { candidateSourcedId: Object.values(fixturesOf(running).candidates)[0] ?? '' },
        query: { limit: '1' },
      }),
    ],
    [startAdaptiveRun, (running) => ({ body: openAdaptiveRuns(running).startBody() })],
  ];

  it.each(requests)('share no cache, client, key or memory ($operationId)', async (row, requestOf) => {
    const request = requestOf(stack);
    const [one, two] = [open(row, 'one', 0), open(row, 'two', 120_000)];
    const send = async (bound: Bound, bearer?: string): Promise<number> => {
      const claims = row.service === 'reports' ? claimsOf(stack) : {};
      const token = bearer ?? (await stack.tokenFor('tenant-aurora', [row.scope], claims));
      const key = row.request.idempotencyKey ? { 'Idempotency-Key': crypto.randomUUID() } : {};
      const answer = await bound.call(proxyEvent(row, request, { Authorization: `Bearer ${token}`, ...key }));
      if (answer.status === 401)
        expect(answer.text).toContain(`https://${bound === one ? 'one' : 'two'}.example/problems/`);
      return answer.status;
    };
    try {
      expect(await send(one)).toBe(row.success.status);
      const cold = one.taken();
      expect(await send(one)).toBe(row.success.status);
      const warm = one.taken();
      // It keeps something, which the other one must not find.
      expect(warm).not.toEqual(cold);
      expect(cold.slice(-4)).not.toEqual(warm.slice(-4));
      two.taken();
      expect(await send(two)).toBe(row.success.status);
      expect(two.taken()).toEqual(cold);
      expect([await send(one, 'none'), await send(two, 'none')]).toEqual([401, 401]);

      const isColdStart = (line: string): boolean =>
        line.includes('"cold_start":true') && line.includes('"REQUEST_STARTED"');
      expect([one, two].map(({ lines }) => lines.filter(isColdStart).length)).toEqual([1, 1]);
      expect(timeOf(two.lines[0]) - timeOf(one.lines[0])).toBeGreaterThan(110_000);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
  });
});

async function answerOf(outcome: Outcome): Promise<{ readonly status: number; readonly text: string }> {
  if (outcome.kind === 'streaming') {
    const { status, body } = (await readStreamedAnswer(outcome.stream))!;
    return { status, text: await text(body) };
  }
  if (outcome.kind !== 'answered') throw new Error(`${outcome.kind}: ${outcome.message}`);
  const { status, body } = toHttpAnswer(outcome.value)!;
  return { status, text: body };
}

function fixturesOf(stack: TestStack) {
  return openReportsCaller(stack).fixtures('tenant-aurora');
}

function claimsOf(stack: TestStack) {
  return { studentIds: [...fixturesOf(stack).students] };
}

function timeOf(line: string | undefined): number {
  return Date.parse((JSON.parse(line ?? '{}') as { timestamp: string }).timestamp);
}
