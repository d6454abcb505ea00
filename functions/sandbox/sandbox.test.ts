import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { projectAttemptReport } from '#functions/reports/composition/attempt-report.ts';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import {
  adaptiveDiagnostic,
  composedAt,
  masteryGate,
  sandboxIds,
  viewOf,
} from '#shared/contract/reports/sandbox-fixtures.ts';
import { sandboxRoutes, serveSandbox } from '#shared/contract/sandbox.ts';
import { variablesOf } from '#shared/http/environment.ts';
import type { PipelineAnswer } from '#shared/http/answers.ts';
import { proxyEvent } from '#test/support/lambda.ts';
import { manifest } from './manifest.ts';
import { createSandbox } from './operation.ts';

const correlation = { requestId: 'request', traceId: 'trace' };

/** What of the process it has reached for. */
function open(): {
  readonly answer: (event: unknown) => Promise<PipelineAnswer>;
  readonly reached: string[];
} {
  const reached: string[] = [];
  const pipeline = createSandbox({
    environment: new Proxy({}, { get: (_, name) => void reached.push(String(name)) }),
    now: () => 0,
    random: (bytes) => randomBytes(bytes),
    write: () => undefined,
  });
  return {
    reached,
    answer: (event) =>
      pipeline(
        event as APIGatewayProxyEvent,
        {
          awsRequestId: randomUUID(),
          getRemainingTimeInMillis: () => 5_000,
        } as Context,
      ),
  };
}

describe('the manifest', () => {
  it('has a resource of every route of the sandbox, and of no other', () => {
    expect(new Set(manifest.map(({ route }) => route))).toEqual(new Set(Object.values(sandboxRoutes)));
  });

  it('projects a fixture as production does a report [RP-074]', () => {
    const moment = { ...correlation, observedAt: composedAt };
    const problemsUrl = 'https://docs.example/problems';
    for (const fixture of [masteryGate, adaptiveDiagnostic]) {
      const { mastery, sources, ...header } = fixture.report;
      const composed = {
        header,
        mastery: mastery.map(({ evidence = [], ...row }) => ({ row, evidence })),
        sources,
        ungovernedGapCount: 0,
        enrichmentProblems: [],
      };
      for (const view of ['summary', 'standards', 'evidence'] as const)
        expect(viewOf(fixture, view, correlation)).toEqual(
          projectAttemptReport(composed, view, moment, problemsUrl),
        );
    }
  });

  it('is told to readers: its ids stand in the README and in the API document, its answers also in that of production [RP-043]', () => {
    const file = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
    interface Operation {
      readonly parameters: readonly { in: string; name: string; schema: { examples?: unknown } }[];
      readonly responses: Record<
        string,
        { content: Record<string, { examples: Record<string, { value: unknown }> }> }
      >;
    }
    const { paths } = JSON.parse(file('docs/openapi/sandbox.json')) as {
      readonly paths: Readonly<Record<string, Record<string, Operation>>>;
    };
    for (const id of Object.values(sandboxIds)) expect(file('README.md')).toContain(`\`${id}\``);
    for (const { path, method, operationId, success } of Object.values(sandboxRoutes)) {
      const { parameters, responses } = paths[path]![method.toLowerCase()]!;
      const shown = parameters
        .filter((parameter) => parameter.in === 'path')
        .flatMap(({ name, schema }) => [schema.examples].flat().map((id) => ({ [name]: id })));
      const known = manifest
        .filter(({ route }) => route.operationId === operationId)
        .map((fixture) => fixture.path)
        .filter((parts) => Object.keys(parts).length > 0);
      expect(shown).toEqual(known);
      const { examples } = responses[success.status]!.content['application/json']!;
      expect(Object.values(examples).map(({ value }) => value)).toContainEqual(success.example);
    }
  });
});

describe('the function', () => {
  it('asks nobody and waits for nothing, and reads of its environment what every log line, problem and CORS header needs [RP-033]', async () => {
    const { answer, reached } = open();
    for (const { route, path } of manifest) {
      const answered = await answer(proxyEvent(route, { path }));
      expect(answered.statusCode).toBe(200);
    }
    expect(new Set(reached)).toEqual(
      new Set(['PROBLEMS_URL', 'ALLOWED_ORIGINS', 'LOG_LEVEL', 'AWS_LAMBDA_FUNCTION_VERSION', 'STAGE']),
    );
    expect(variablesOf(serveSandbox)).toEqual([]);
    expect(serveSandbox.lambda.grants).toEqual([]);
  });

  it('answers whatever event it is given with a fixture or a problem', async () => {
    const { answer } = open();
    const sound = proxyEvent(sandboxRoutes.readReadiness, {});
    const anything = fc.oneof(
      fc.string(),
      fc.constantFrom('__proto__', 'constructor', ...Object.values(sandboxIds)),
    );
    const parameters = fc.option(fc.dictionary(anything, anything, { maxKeys: 3 }), { nil: null });
    const lists = fc.option(fc.dictionary(anything, fc.array(anything, { maxLength: 3 }), { maxKeys: 3 }), {
      nil: null,
    });
    const event = fc.record({
      resource: fc.oneof(anything, fc.constantFrom(...manifest.map(({ route }) => route.path as string))),
      httpMethod: fc.oneof(anything, fc.constantFrom('GET', 'POST')),
      pathParameters: fc.oneof(parameters, fc.constantFrom(...manifest.map(({ path }) => path))),
      headers: parameters,
      multiValueHeaders: lists,
      queryStringParameters: parameters,
      multiValueQueryStringParameters: lists,
      body: fc.option(fc.string(), { nil: null }),
      isBase64Encoded: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(event, async (given) => {
        const { statusCode, body } = await answer({ ...sound, ...given });
        expect([200, 400, 404]).toContain(statusCode);
        if (statusCode !== 200)
          expect(reportsProblem.parse(JSON.parse(body as string)).status).toBe(statusCode);
      }),
    );
  });
});
