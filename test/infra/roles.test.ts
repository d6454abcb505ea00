import { describe, expect, it } from 'vitest';
import { accessKeyOf, localArns, localPolicies, localRoles } from '#local/aws/resources.ts';
import { deployedFunctions, deploymentOf } from '#shared/contract/functions.ts';
import { isReleased } from '#shared/release/release-state.ts';
import { offlineRelease } from '#shared/release/read-release.ts';
import { localAccount, localRegion, localStage } from '#shared/stage/local-stage.ts';
import type { Statement } from '#shared/stage/permissions.ts';
import { canary, deployed, policiesOf, resourcesOf } from './deployed.ts';

// What the local AWS emulator enforces, statement by statement, against what the templates of a stage give to the roles and resources.

/** The resources of a template, and those of the local stage in their place. */
const places: readonly (readonly [template: string, local: string])[] = [
  ['Records.Arn', localArns.records.arn],
  ['Control.Arn', localArns.control.arn],
  ['Settings.Arn', localArns.settings.arn],
  ['Improvement.Arn', localArns.improvement.arn],
  ['Runs.Arn', localArns.runs.arn],
  ['Receipts.Arn', localArns.receipts.arn],
  ['Key.Arn', localArns.keyArn],
  ['AWS-Partition', 'aws'],
  ['AWS-Region', localRegion],
  ['AWS-AccountId', localAccount],
  ['mastery-reports-prod-', `mastery-reports-${localStage}-`],
  ['/stages/prod"', `/stages/${localStage}"`],
  [':parameter/prod/', `:parameter/${localStage}/`],
  ['"kms:EncryptionContext:stage":"prod"', `"kms:EncryptionContext:stage":"${localStage}"`],
];
const local = (value: unknown): unknown =>
  JSON.parse(
    places.reduce((text, [template, here]) => text.replaceAll(template, here), JSON.stringify(value)),
  );

/** A statement as texts, one per action and resource: the CDK joins statements that differ only in these. */
function textsOf(statements: readonly unknown[]): readonly string[] {
  return (statements as readonly Readonly<Record<string, unknown>>[])
    .flatMap(({ Action, Resource, ...rest }) =>
      [Action].flat().flatMap((action) =>
        [Resource].flat().map((resource) => {
          const members = Object.entries({ action, resource, ...rest });
          return JSON.stringify(members.toSorted(([one], [other]) => (one < other ? -1 : 1)));
        }),
      ),
    )
    .toSorted();
}

/** What only the versions of the former release use of a role: the emulator runs none of them. */
const isFormer = (text: string): boolean => text.includes('/profiles/*');

/** Whether an action is of a service that the emulator has. */
const isOfStores = ({ Action }: { readonly Action: unknown }): boolean =>
  [Action].flat().every((action) => !/^(logs|xray):/.test(String(action)));

const enforced = localRoles(deployedFunctions);
const statementsFor = (row: Parameters<typeof accessKeyOf>[0]): readonly Statement[] =>
  enforced[accessKeyOf(row)]?.statements ?? [];

describe.each([
  ['with every gate open', undefined],
  ['with every gate closed', []],
] as const)('%s', (_, gates) => {
  const stacks = deployed({ settings: { canary }, ...(gates !== undefined && { gates }) });
  const released = deployedFunctions.filter(
    (row) => gates === undefined || isReleased(row, offlineRelease(new Set(gates))),
  );

  it.each(released.map((row) => [row.operationId, row] as const))(
    'the emulator enforces the role of %s',
    (operationId, row) => {
      const template = policiesOf(stacks, `${operationId}Role`, deploymentOf(row)).filter(isOfStores);
      expect(textsOf(statementsFor(row))).toStrictEqual(
        textsOf(template.map(local)).filter((text) => !isFormer(text)),
      );
    },
  );

  it('the emulator enforces the policies of the stores, and there are no others', () => {
    const documentOf = (value: unknown) => (value as { readonly Statement: readonly Statement[] }).Statement;
    const found = new Map<string, readonly Statement[]>();
    for (const [type, target, policy] of [
      ['AWS::S3::BucketPolicy', 'Bucket', 'PolicyDocument'],
      ['AWS::SQS::QueuePolicy', 'Queues', 'PolicyDocument'],
      ['AWS::KMS::Key', undefined, 'KeyPolicy'],
      ['AWS::DynamoDB::Table', undefined, 'ResourcePolicy'],
    ] as const)
      for (const { id, properties } of resourcesOf(stacks, type, 'records-and-keys')) {
        const { PolicyDocument: inner, ...document } = (properties[policy] ?? {}) as Record<string, unknown>;
        const statements = inner ?? ('Statement' in document ? document : undefined);
        if (statements === undefined) continue;
        const name = target === undefined ? id : [properties[target]].flat().map(String).join();
        found.set(name, documentOf(statements));
      }
    const policies = localPolicies();
    const ofQueue = (arn: string): string => arn.split(':').at(-1) ?? '';
    const deadLetters = Object.keys(policies).find((arn) => ofQueue(arn).endsWith('-dead-letters')) ?? '';
    const here = {
      Records: policies[localArns.records.arn],
      Runs: policies[localArns.runs.arn],
      DeadLetters: policies[deadLetters],
      Receipts: policies[localArns.receipts.arn],
      Key: policies[localArns.keyArn],
    };
    const localText = (statements: readonly unknown[] = []) =>
      textsOf(statements.map(local)).map((text) => text.replaceAll('DeadLetters.Arn', deadLetters));
    expect(
      Object.fromEntries([...found].map(([name, statements]) => [name, localText(statements)])),
    ).toStrictEqual(
      Object.fromEntries(Object.entries(here).map(([name, statements]) => [name, textsOf(statements ?? [])])),
    );
    expect(Object.keys(policies)).toHaveLength(found.size);
    // None of another kind, such as AWS::IAM::RolePolicy, which the comparisons would not see.
    const kinds = stacks.flatMap(({ template }) => Object.values(template.Resources).map(({ Type }) => Type));
    const known = ['AWS::IAM::Policy', 'AWS::S3::BucketPolicy', 'AWS::SQS::QueuePolicy'];
    expect(
      kinds.filter((kind) => /::(IAM|S3|SQS|KMS|DynamoDB)::\w*Polic/.test(kind) && !known.includes(kind)),
    ).toEqual([]);
  });
});
