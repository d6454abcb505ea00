import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { routes } from '#shared/contract/routes.ts';
import { deployed, ofType, stage } from './deployed.ts';

const { operations } = deployed();
const alarms = ofType(operations, 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => ({
  id,
  ...z
    .object({
      AlarmName: z.string(),
      AlarmDescription: z.string(),
      MetricName: z.string(),
      Dimensions: z.array(z.object({ Name: z.string(), Value: z.unknown() })),
      AlarmActions: z.array(z.unknown()),
    })
    .parse(Properties),
}));

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
/** The anchors of the second-level headings that are named like an alarm's section. */
const anchors = [...runbook.matchAll(/^## `([a-z0-9-]+)`$/gm)].map(([, anchor]) => anchor);

describe.each(alarms.map((alarm) => [alarm.AlarmName, alarm] as const))('%s', (_, alarm) => {
  it('says what happens, who is hurt and where to read on', () => {
    const [, what, who, where] =
      /^(.+\.) Who is hurt: (.+\.) What to do: (\S+)$/.exec(alarm.AlarmDescription) ?? [];
    expect(what?.length).toBeGreaterThan(10);
    expect(who?.length).toBeGreaterThan(20);
    const [page, anchor] = where?.split('#') ?? [];
    expect(page).toBe(stage('prod').config.runbookUrl);
    expect(anchors).toContain(anchor);
  });

  it('tells the topic', () => {
    expect(alarm.AlarmActions).toHaveLength(1);
  });
});

it('every section of the runbook belongs to an alarm', () => {
  const linked = new Set(alarms.map(({ AlarmDescription }) => AlarmDescription.split('#').at(-1)));
  expect(anchors.toSorted()).toStrictEqual([...linked].toSorted());
});

it.each(routes)(
  '$operationId is watched for errors, throttles and slowness, with the impact of its row',
  ({ operationId, lambda }) => {
    const own = alarms.filter(
      ({ Dimensions }) => Dimensions[0]?.Value === `mastery-reports-prod-${operationId}`,
    );
    expect(own.map(({ MetricName }) => MetricName).toSorted()).toStrictEqual([
      'Duration',
      'Errors',
      'Throttles',
    ]);
    for (const { AlarmDescription } of own) expect(AlarmDescription).toContain(lambda.impact);
  },
);

it('CloudWatch may publish to the topic, over TLS only', () => {
  const [policy] = ofType(operations, 'AWS::SNS::TopicPolicy');
  const text = JSON.stringify(policy?.[1].Properties);
  expect(text).toContain('"Principal":{"Service":"cloudwatch.amazonaws.com"}');
  expect(text).toContain('"aws:SecureTransport":"false"');
});

it('mails to the address of the stage', () => {
  const prod = stage('prod');
  const mailed = deployed({
    stage: { ...prod, config: { ...prod.config, alarmsEmail: 'operators@school.org' } },
  });
  mailed.operations.template.hasResourceProperties('AWS::SNS::Subscription', {
    Protocol: 'email',
    Endpoint: 'operators@school.org',
  });
});
