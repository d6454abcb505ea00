import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { GateName } from '#shared/contract/gates.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { appOf, deployed, ofType, serviceOf } from './deployed.ts';

const { sandbox, services } = deployed();
const text = JSON.stringify(sandbox.template.toJSON());
const [, api] = ofType(sandbox, 'AWS::ApiGateway::RestApi')[0] ?? [];
const paths = z
  .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
  .parse(api?.Properties['Body']).paths;

describe('the sandbox', () => {
  it.each<readonly [string, readonly GateName[]]>([
    ['no gate', []],
    ['D', ['D']],
    ['every gate', ['A', 'B', 'C', 'D', 'E', 'F']],
  ])('is the same with %s, and opens none [RP-032]', (_, gates) => {
    const of = deployed({ gates });
    expect(of.sandbox.template.toJSON()).toStrictEqual(sandbox.template.toJSON());
    const gateways = ofType(serviceOf(of, 'reports'), 'AWS::Lambda::Permission').filter(
      ([, { Properties }]) => Properties['Principal'] === 'apigateway.amazonaws.com',
    );
    expect(gateways.length > 0).toBe(gates.length > 1);
    expect(JSON.stringify(of.operations.template.toJSON())).toContain('-prod-serveSandbox-errors');
  });

  it('is a stack of its own, which waits for no other and refers to none [RP-033]', () => {
    const { stacks } = appOf();
    expect(stacks.sandbox?.stackName).toBe('mastery-reports-prod-sandbox');
    expect(stacks.sandbox?.dependencies).toStrictEqual([]);
    expect(text).not.toMatch(/GetStackOutput|ImportValue/);
    for (const service of services.values())
      expect(JSON.stringify(service.template.toJSON())).not.toContain('serveSandbox');
    expect(sandbox.outputs).toContain('BaseUrl');
  });

  it('has nothing to hold anything in, and its function may do nothing but log and be traced [RP-033]', () => {
    const types = new Set(Object.values(sandbox.resources).map(({ Type }) => Type.split('::')[1]));
    expect([...types].toSorted()).toStrictEqual([
      'ApiGateway',
      'CodeDeploy',
      'IAM',
      'Lambda',
      'Logs',
      'WAFv2',
    ]);
    // What brings its versions into service has roles of its own.
    const own = Object.entries(sandbox.resources).filter(([id]) => id.startsWith('serveSandbox'));
    expect(new Set(JSON.stringify(own).match(/"(?:[a-z]+[a-z0-9]*):[A-Z][A-Za-z]+"/g))).toStrictEqual(
      new Set([
        '"logs:CreateLogStream"',
        '"logs:PutLogEvents"',
        '"xray:PutTelemetryRecords"',
        '"xray:PutTraceSegments"',
        '"lambda:InvokeFunction"',
        '"sts:AssumeRole"',
      ]),
    );
  });

  it('serves exactly its routes, under the paths of production, all by the one function [RP-033, RP-042]', () => {
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(served.toSorted()).toStrictEqual(
      Object.values(sandboxRoutes)
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    );
    for (const methods of Object.values(paths)) {
      for (const operation of Object.values(methods)) {
        expect(JSON.stringify(operation)).toMatch(/"serveSandboxFunctionLive\w+"\},"\/invocations"/);
        expect(operation).not.toHaveProperty('security');
      }
    }
  });

  it('may be invoked by these methods and paths of its own API only', () => {
    const sources = ofType(sandbox, 'AWS::Lambda::Permission').map(([, { Properties }]) =>
      JSON.stringify(Properties['SourceArn']).replace(/^.*"(\/prod[^"]*)".*$/, '$1'),
    );
    expect(sources.toSorted()).toStrictEqual(
      Object.values(sandboxRoutes)
        .map(({ method, path }) => `/prod/${method}${path.replaceAll(/\{\w+\}/g, '*')}`)
        .toSorted(),
    );
  });
});
