import { describe, expect, it } from 'vitest';
import { accessKeyOf, localArns, localPolicies, localRoles } from '#local/aws/resources.ts';
import { deployedFunctions, deploymentOf } from '#shared/contract/functions.ts';
import { isReleased } from '#shared/release/release-state.ts';
import { offlineRelease } from '#shared/release/read-release.ts';
import { localAccount, localRegion, localStage } from '#shared/stage/local-stage.ts';
import type { Statement } from '#shared/stage/permissions.ts';
import { deployed, policiesOf, resourcesOf } from './deployed.ts';

// What the local AWS emulator enforces, statement by statement, against what the templates of a stage give to the roles and resources.

/** The resources of a template, and those of the local stage in their place. */
const places: readonly (readonly [template: string, local: string])[] = [
  ['Records.Arn', localArns.records],
  ['Control.Arn', localArns.control],
  ['Settings.Arn', localArns.settings],
  ['Improvement.Arn', localArns.improvement],
  ['Runs.Arn', localArns.runs],
  ['Receipts.Arn', localArns.receipts],
  ['Key.Arn', localArns.key],
  ['AWS-Partition', 'aws'],
  ['AWS-Region', localRegion],
  ['AWS-AccountId', localAccount],
  [':parameter/prod/', `:parameter/${localStage}/`],
  ['"kms:EncryptionContext:stage":"prod"', `"kms:EncryptionContext:stage":"${localStage}"`],
];
const local = (value: unknown): unknown =>
  JSON.parse(
    places.reduce((text, [template, here]) => text.replaceAll(template, here), JSON.stringify(value)),
  );

/** A statement with its lists in one form, as a text. */
function textOf({ Action, Resource, ...rest }: Readonly<Record<string, unknown>>): string {
  const [actions, resources] = [Action, Resource].map((value) => [value].flat().toSorted());
  return JSON.stringify(
    Object.entries({ ...rest, actions, resources }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}
const textsOf = (statements: readonly unknown[]): readonly string[] =>
  statements.map((statement) => textOf(statement as Readonly<Record<string, unknown>>)).toSorted();

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
  const stacks = deployed(gates === undefined ? {} : { gates });
  const released = deployedFunctions.filter(
    (row) => gates === undefined || isReleased(row, offlineRelease(new Set(gates))),
  );

  it.each(released.map((row) => [row.operationId, row] as const))(
    'the emulator enforces the role of %s [RP-033]',
    (operationId, row) => {
      const template = policiesOf(stacks, `${operationId}Role`, deploymentOf(row)).filter(isOfStores);
      expect(textsOf(statementsFor(row))).toStrictEqual(textsOf(template.map(local)));
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
      Records: policies[localArns.records],
      Runs: policies[localArns.runs],
      DeadLetters: policies[deadLetters],
      Receipts: policies[localArns.receipts],
      Key: policies[localArns.key],
    };
    const localText = (statements: readonly unknown[] = []) =>
      textsOf(statements.map(local)).map((text) => text.replaceAll('DeadLetters.Arn', deadLetters));
    expect(
      Object.fromEntries([...found].map(([name, statements]) => [name, localText(statements)])),
    ).toStrictEqual(
      Object.fromEntries(Object.entries(here).map(([name, statements]) => [name, textsOf(statements ?? [])])),
    );
    expect(Object.keys(policies)).toHaveLength(found.size);
  });
});
