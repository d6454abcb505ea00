import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { adaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { readSelectionPolicy } from '#shared/contract/mastery/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { renderOpenApi } from './openapi.ts';

type Json = Readonly<Record<string, unknown>>;

/** A member of a rendered document by its path, through references. */
function at(document: unknown, ...path: readonly string[]): unknown {
  let value = document;
  for (const name of path) {
    value = (resolved(document, value) as Json | undefined)?.[name];
  }
  return resolved(document, value);
}

function resolved(document: unknown, value: unknown): unknown {
  const reference = (value as Json | undefined)?.['$ref'];
  if (typeof reference !== 'string') return value;
  return at(document, ...reference.slice(2).split('/'));
}

const mastery = renderOpenApi('mastery', new Set());

/** Lints with the project's own rules; resolves to the linter's report when it finds anything. */
async function lint(document: unknown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  const root = resolve(import.meta.dirname, '../..');
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
    await promisify(execFile)(
      process.execPath,
      [
        join(root, 'node_modules/@redocly/cli/bin/cli.js'),
        'lint',
        '--config',
        join(import.meta.dirname, 'redocly.yaml'),
        join(folder, 'openapi.json'),
      ],
      {
        cwd: folder,
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout ?? ''}${stderr ?? String(error)}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('renderOpenApi', () => {
  it('gives a document without lint findings, whose examples fit their schemas', async () => {
    expect(await lint(mastery)).toBe('');
  });

  it('is held to that: the linter finds a wrong example', async () => {
    const wrong: Route = {
      ...readSelectionPolicy,
      success: { ...readSelectionPolicy.success, example: { id: 7 } },
    };
    expect(await lint(renderOpenApi('mastery', new Set(), [wrong]))).toContain(
      'no-invalid-media-type-examples',
    );
  });

  it('holds every route of the service and nothing else', () => {
    const operations = Object.values(mastery.paths ?? {}).flatMap((item) =>
      Object.values(item as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(operations.toSorted()).toEqual(
      routesOf('mastery')
        .map(({ operationId }) => operationId)
        .toSorted(),
    );
  });

  it('lists at each 4xx and 5xx of a route exactly the problem types that it may answer, with an example of each', () => {
    for (const route of routesOf('mastery')) {
      const responses = at(mastery, 'paths', route.path, route.method.toLowerCase(), 'responses') as Json;
      const documented = Object.keys(responses)
        .filter((status) => Number(status) >= 400)
        .flatMap((status) => {
          const examples = at(
            mastery,
            'paths',
            route.path,
            route.method.toLowerCase(),
            'responses',
            status,
            'content',
            'application/problem+json',
            'examples',
          );
          return Object.entries(examples as Record<string, { value: { status: number; code: string } }>).map(
            ([code, { value }]) => {
              expect([value.code, value.status]).toEqual([code, Number(status)]);
              return `${status} ${code}`;
            },
          );
        });
      expect(documented.toSorted()).toEqual([...problemKeysOf(route)].toSorted());
    }
  });

  it('tells the scope, the key and the precondition of each operation', () => {
    for (const route of routesOf('mastery')) {
      const operation = at(mastery, 'paths', route.path, route.method.toLowerCase()) as {
        security: unknown;
        parameters: readonly { in: string; name: string; required?: boolean }[];
      };
      expect(operation.security).toEqual([{ bearer: [route.scope] }]);
      const required = operation.parameters.filter((one) => one.required === true).map(({ name }) => name);
      expect(required.includes('Idempotency-Key')).toBe(route.request.idempotencyKey);
      expect(required.includes('If-Match')).toBe(route.request.ifMatch);
    }
  });

  it('opens answers to new members and values, and keeps requests closed [MA-187]', () => {
    const schemas = mastery.components?.schemas ?? {};
    expect(at(mastery, 'components', 'schemas', 'AdaptiveRun')).not.toHaveProperty('additionalProperties');
    expect(at(mastery, 'components', 'schemas', 'AdaptiveRun', 'properties', 'status', 'anyOf')).toEqual([
      { type: 'string', enum: ['in_progress', 'finalizing', 'completed'] },
      expect.objectContaining({ type: 'string' }),
    ]);
    expect(schemas['ContinuationRequest']).toHaveProperty('additionalProperties', false);
    expect(JSON.stringify(schemas['StartAdaptiveRunRequest'])).toContain('"const":"production_learner"');
  });

  it('says when a run has a scale [MA-082]', () => {
    expect(at(mastery, 'components', 'schemas', 'AdaptiveRun', 'allOf')).toEqual([
      expect.objectContaining({ if: { properties: { scaleReportability: { const: 'reportable' } } } }),
    ]);
    // The same rule in the schema that answers are checked with.
    expect(adaptiveRun.safeParse({ scaleReportability: 'reportable', scale: null }).success).toBe(false);
  });

  it('publishes a gated route only while all of its gates are open', () => {
    const gated: Route = { ...readSelectionPolicy, gates: ['A', 'D'] };
    const pathsWith = (...gates: readonly ('A' | 'D')[]): readonly string[] =>
      Object.keys(renderOpenApi('mastery', new Set(gates), [gated]).paths ?? {});
    expect(pathsWith()).toEqual([]);
    expect(pathsWith('A')).toEqual([]);
    expect(pathsWith('A', 'D')).toEqual([gated.path]);
  });

  it('is a valid document for a service without an open route', () => {
    expect(renderOpenApi('reports', new Set(), [])).toMatchObject({ openapi: '3.1.1', paths: {} });
  });

  it('describes the envelope of the service: problems of reports are told apart by type', () => {
    const route: Route = {
      ...readSelectionPolicy,
      service: 'reports',
      scope: 'reports:read',
      success: { status: 200, schema: z.strictObject({}), transfer: 'buffered', headers: [], example: {} },
    };
    const document = renderOpenApi('reports', new Set(), [route]);
    const schema = at(
      document,
      'paths',
      route.path,
      'get',
      'responses',
      '404',
      'content',
      'application/problem+json',
      'schema',
    );
    expect(schema).toMatchObject({
      allOf: [
        { $ref: '#/components/schemas/ReportsProblem' },
        { properties: { type: { pattern: '\\/(?:not-found)$' } } },
      ],
    });
  });
});
