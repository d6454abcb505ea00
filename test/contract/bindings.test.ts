import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { variablesOf } from '#local/stack/function-variables.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import { listCandidateReports, readAttemptReport } from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { AwsClients, Runtime } from '#shared/lambda/runtime.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { awsClientsOf, openInProcess, sourceOf } from '#test/support/in-process.ts';
import type { InProcessFunction } from '#test/support/in-process.ts';
import { proxyEvent } from '#test/support/lambda.ts';
import type { TestRequest } from '#test/support/lambda.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import { useTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

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

  /** A binding, and everything that it has done through its ports since it was last asked. */
  function open(row: Route, name: string, aheadMs: number): Bound {
    const gatewayUrl = stack.urls.reportsUrl.replace(/\/reports$/, '');
    const variables = variablesOf(row, {
      awsUrl: stack.urls.awsUrl,
      gatewayUrl,
      releaseKey: stack.rehearsal.releaseKey,
    });
    const { fetch } = processRuntime();
    let calls: string[] = [];
    const lines: string[] = [];
    const opened = openInProcess(
      row,
      { ...variables, PROBLEMS_URL: `https://${name}.example/problems` },
      {
        now: () => Date.now() + aheadMs,
        fetch: (url, request) => {
          // A run makes a candidate of its own.
          calls.push(url.replace(/candidate-[0-9a-f]{40}/, 'candidate'));
          return fetch(url, request);
        },
        aws: recorded(variables, (command) => calls.push(command)),
        write: (line) => lines.push(line),
      },
    );
    return {
      ...opened,
      lines,
      taken: () => {
        const taken = calls;
        calls = [];
        return taken.sort();
      },
    };
  }

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
        expect(String(answer.body)).toContain(`https://${bound === one ? 'one' : 'two'}.example/problems/`);
      return answer.status;
    };
    try {
      expect(await send(one)).toBe(row.success.status);
      const cold = one.taken();
      expect(await send(one)).toBe(row.success.status);
      const warm = one.taken();
      // It keeps something, which the other one must not find.
      expect(warm.length).toBeLessThan(cold.length);
      expect(await send(two)).toBe(row.success.status);
      expect(two.taken()).toEqual(cold);
      expect(one.taken()).toEqual([]);
      expect([await send(one, 'none'), await send(two, 'none')]).toEqual([401, 401]);

      const isColdStart = (line: string): boolean =>
        line.includes('"cold_start":true') && line.includes('"REQUEST_STARTED"');
      expect([one, two].map(({ lines }) => lines.filter(isColdStart).length)).toEqual([1, 1]);
      expect(timeOf(two.lines[0]) - timeOf(one.lines[0])).toBeGreaterThan(110_000);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
  });

  it('are cut off from everything when they end', async () => {
    const [row, requestOf] = requests[0]!;
    const bound = open(row, 'one', 0);
    const token = await stack.tokenFor('tenant-aurora', [row.scope], claimsOf(stack));
    const answer = bound.call(proxyEvent(row, requestOf(stack), { Authorization: `Bearer ${token}` }));
    await bound.close();
    await expect(answer).rejects.toThrow('crashed');
    const before = bound.lines.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(bound.lines).toHaveLength(before);
  });
});

interface Bound extends InProcessFunction {
  readonly lines: readonly string[];
  /** Addresses and commands, sorted: calls side by side have no order. */
  readonly taken: () => readonly string[];
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

/** Clients of the variables' AWS that report the name of each command. */
function recorded(
  variables: Readonly<Record<string, string>>,
  report: (command: string) => void,
): AwsClients {
  const clients = awsClientsOf(variables);
  const known = new WeakSet();
  return (make) => {
    const client = clients(make);
    if (known.has(client as object)) return client;
    known.add(client as object);
    // SAFETY: whatever make-clients.ts makes is a client of the SDK.
    const { middlewareStack } = client as unknown as Recordable;
    middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          report(commandName);
          return next(args);
        },
      { step: 'initialize' },
    );
    return client;
  };
}

interface Recordable {
  readonly middlewareStack: {
    add: (
      middleware: (
        next: (args: unknown) => Promise<unknown>,
        context: { commandName: string },
      ) => (args: unknown) => Promise<unknown>,
      options: { readonly step: 'initialize' },
    ) => void;
  };
}
