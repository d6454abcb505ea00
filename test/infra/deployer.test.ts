import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as s3 from '@aws-sdk/client-s3';
import * as ssm from '@aws-sdk/client-ssm';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { deployArguments } from '#ops/cdk/arguments.ts';
import { gatesPath, manifestParameter, markerName } from '#shared/release/applied-manifest.ts';
import { stackIds, stackName, stackRegion } from '#shared/stage/stack-names.ts';
import { placeOfProof } from '#shared/stores/proof-objects.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const texts = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const policy = z.strictObject({
  Version: z.literal('2012-10-17'),
  Statement: z.array(
    z.strictObject({ Sid: z.string(), Effect: z.literal('Allow'), Action: texts, Resource: texts }),
  ),
});

/** What the commands call without a client of the SDK. */
const withoutClient = [
  ...['acm:DescribeCertificate', 'apigateway:GET', 'sns:ListSubscriptionsByTopic'],
  ...['cloudformation:DescribeChangeSet', 'cloudformation:DescribeStacks'],
];

describe('the example of a deployer’s policy', () => {
  const { Statement } = policy.parse(JSON.parse(read('examples/deploy/deployer-policy.json')));
  const allows = (action: string, resource: string): boolean =>
    Statement.some(
      ({ Action, Resource }) =>
        Action.includes(action) &&
        Resource.some((pattern) =>
          new RegExp(`^${RegExp.escape(pattern).replaceAll(String.raw`\*`, '.*')}$`).test(resource),
        ),
    );

  it('names operations that exist, one by one', () => {
    const known: Readonly<Record<string, object>> = { s3, ssm };
    for (const action of Statement.flatMap(({ Action }) => Action)) {
      const [service = '', operation = ''] = action.split(':');
      if (service in known) expect(known[service]).toHaveProperty(`${operation}Command`);
      else expect([...withoutClient, 'sts:AssumeRole']).toContain(`${service}:${operation}`);
    }
  });

  it('allows what a synth reads of the stage, and nothing of another', () => {
    const parameter = (name: string): string => `arn:aws:ssm:eu-central-1:111122223333:parameter${name}`;
    const manifest = (bucket: string): string =>
      placeOfProof(bucket, 'manifest', 'jws').location.replace('s3://', 'arn:aws:s3:::');
    for (const [stage, may] of [
      ['prod', true],
      ['staging', false],
    ] as const) {
      expect(allows('ssm:GetParametersByPath', parameter(gatesPath(stage)))).toBe(may);
      expect(allows('ssm:GetParametersByPath', parameter(`${gatesPath(stage)}/${markerName}`))).toBe(may);
      expect(allows('ssm:GetParameter', parameter(manifestParameter(stage)))).toBe(may);
      expect(allows('s3:GetObject', manifest(`mastery-reports-${stage}-records-receipts`))).toBe(may);
    }
    expect(allows('ssm:GetParameter', parameter('/prod/profiles/x/PLATFORM_JWT'))).toBe(false);
    expect(allows('s3:GetObject', 'arn:aws:s3:::mastery-reports-prod-records-receipts/dGVuYW50/0')).toBe(
      false,
    );
  });
});

describe('the example of a deployer’s policy, for a stage with stacks in two regions,', () => {
  const { Statement } = policy.parse(JSON.parse(read('examples/deploy/deployer-policy.json')));
  const resources = Statement.flatMap(({ Resource }) => Resource);

  it.each(stackIds)('reaches the stack %s where it is', (id) => {
    const region = stackRegion(id, 'eu-central-1');
    const stack = `arn:aws:cloudformation:${region}:111122223333:stack/${stackName('prod', id)}/one`;
    const covers = (pattern: string) =>
      new RegExp(`^${RegExp.escape(pattern).replaceAll(String.raw`\*`, '.*')}$`).test(stack);
    expect(resources.some(covers)).toBe(true);
    for (const role of ['deploy', 'file-publishing', 'lookup'])
      expect(resources).toContain(
        `arn:aws:iam::111122223333:role/cdk-hnb659fds-${role}-role-111122223333-${region}`,
      );
    expect(resources).toContain(
      `arn:aws:ssm:${region}:111122223333:parameter/cdk-bootstrap/hnb659fds/version`,
    );
  });
});

describe('the example of a pipeline', () => {
  const commands = [...read('examples/deploy/deploy.yml').matchAll(/^ +- run: (.+)$/gm)].map(
    ([, command = '']) => command,
  );

  it('runs commands of this project, with options that they take', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
    for (const command of commands) {
      const [, script] = /^npm (?:run )?([\w:-]+)/.exec(command) ?? [];
      if (script !== 'ci') expect(Object.keys(scripts)).toContain(script);
    }
    const deploys = commands.filter((command) => command.startsWith('npm run deploy -- '));
    expect(deploys).toHaveLength(2);
    for (const command of deploys) {
      const given = command
        .replaceAll(/\$\{\{.+?\}\}/g, '1')
        .split(' ')
        .slice(4);
      expect(given).toContain('--all');
      expect(deployArguments(given)).toMatchObject({ ok: true, value: { rest: [], allowed: new Set() } });
    }
  });

  it('trusts the repository’s environments, of which it has those two', () => {
    const trusted = [...read('examples/deploy/trust-policy.json').matchAll(/environment:([\w-]+)"/g)];
    const used = [...read('examples/deploy/deploy.yml').matchAll(/^ +environment: ([\w-]+)$/gm)];
    expect(trusted.map(([, name]) => name)).toStrictEqual(used.map(([, name]) => name));
  });
});
