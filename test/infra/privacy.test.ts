import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { routesOf } from '#shared/contract/routes.ts';
import { deployed, ofType, serviceOf } from './deployed.ts';

/*
 * The URLs of the reports service name learners, and the URL of a receipt is a credential. No trace, log or metric may contain one.
 */

const everything = deployed();
const stacks = {
  mastery: serviceOf(everything, 'mastery'),
  reports: serviceOf(everything, 'reports'),
  sandbox: everything.sandbox,
  stores: everything.stores,
  operations: everything.operations,
};
const stages = Object.entries(stacks).flatMap(([stack, of]) =>
  ofType(of, 'AWS::ApiGateway::Stage').map(([, { Properties }]) => {
    const { RestApiId, TracingEnabled, AccessLogSetting, MethodSettings } = z
      .object({
        RestApiId: z.object({ Ref: z.string() }),
        TracingEnabled: z.boolean(),
        AccessLogSetting: z.object({ Format: z.string() }),
        MethodSettings: z.array(z.object({ DataTraceEnabled: z.boolean(), LoggingLevel: z.string() })),
      })
      .parse(Properties);
    const name = String(of.resources[RestApiId.Ref]?.Properties['Name']).replace('mastery-reports-prod-', '');
    return {
      stack,
      name,
      traced: TracingEnabled,
      fields: z.record(z.string(), z.string()).parse(JSON.parse(AccessLogSetting.Format)),
      methodSettings: MethodSettings,
    };
  }),
);

it('X-Ray sees the URLs of the mastery engine only, which name policies and calibrations', () => {
  expect(stages.map(({ name, traced }) => `${name} ${String(traced)}`).toSorted()).toStrictEqual([
    'mastery true',
    'receipts false',
    'reports false',
    'sandbox false',
  ]);
  const named = routesOf('mastery').flatMap(({ request: { path, query } }) => [
    ...Object.keys(path.shape),
    ...Object.keys(query.shape),
  ]);
  expect(named.toSorted()).toStrictEqual(['calibrationId', 'policyId']);
});

describe.each(stages.map((stage) => [stage.name, stage] as const))('the API %s', (_, stage) => {
  it('logs these fields of a request and no other, none of which the caller chooses freely [MA-007]', () => {
    const { xrayTraceId, ...fields } = stage.fields;
    expect(xrayTraceId).toBe(stage.traced ? '$context.xrayTraceId' : undefined);
    expect(fields).toStrictEqual({
      requestId: '$context.requestId',
      integrationRequestId: '$context.integration.requestId',
      time: '$context.requestTimeEpoch',
      method: '$context.httpMethod',
      resourcePath: '$context.resourcePath',
      status: '$context.status',
      responseLength: '$context.responseLength',
      responseLatency: '$context.responseLatency',
      integrationLatency: '$context.integrationLatency',
      integrationStatus: '$context.integrationStatus',
      errorType: '$context.error.responseType',
      wafResponseCode: '$context.wafResponseCode',
    });
  });

  it('has no execution log, which would contain the whole request', () => {
    for (const settings of stage.methodSettings)
      expect(settings).toMatchObject({ DataTraceEnabled: false, LoggingLevel: 'OFF' });
  });
});

describe.each(Object.entries(stacks))('the stack %s', (_, of) => {
  it('has no firewall that keeps requests', () => {
    expect(ofType(of, 'AWS::WAFv2::LoggingConfiguration')).toStrictEqual([]);
    for (const [, acl] of ofType(of, 'AWS::WAFv2::WebACL')) {
      expect(JSON.stringify(acl)).not.toContain('"SampledRequestsEnabled":true');
    }
  });

  it('derives no metric from logged text', () => {
    expect(ofType(of, 'AWS::Logs::MetricFilter')).toStrictEqual([]);
    expect(ofType(of, 'AWS::CloudWatch::InsightRule')).toStrictEqual([]);
  });
});
