import { CfnOutput, Fn, RemovalPolicy, Stack, type App } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { tables, type TableDefinition } from '#shared/aws/tables.ts';
import type { Stage } from '../stage-config/stages.ts';
import { stackProps } from './stack-props.ts';

/** A table as other stacks refer to it. */
export interface TableReference {
  readonly name: string;
  readonly arn: string;
}

/** What the stack of the stores gives to the others: values of its outputs, read at their deployment. */
export type StoreReferences = Readonly<Record<TableDefinition['name'], TableReference>> & {
  readonly keyArn: string;
};

/** The alias by which operators name the key: `npm run keys`, `aws ssm put-parameter --key-id`. */
function keyAlias(stage: Stage): string {
  return `alias/mastery-reports/${stage.name}`;
}

/**
 * The tables and the key: everything of a deployment that outlives its code. Nothing in here depends on a gate or a route, so the outputs
 * are always the same and no closing of a gate can deadlock.
 */
export function recordsAndKeys(app: App, stage: Stage): Stack {
  const stack = new Stack(app, 'RecordsAndKeys', {
    ...stackProps(stage, 'records-and-keys'),
    description: 'Mastery reports: tables and the key. Holds no learner fact.',
    terminationProtection: true,
  });

  for (const definition of tables as readonly TableDefinition[]) {
    const table = new Table(stack, pascal(definition.name), {
      partitionKey: { name: definition.partitionKey, type: AttributeType.STRING },
      ...(definition.sortKey === undefined
        ? {}
        : { sortKey: { name: definition.sortKey, type: AttributeType.STRING } }),
      ...(definition.ttl === undefined ? {} : { timeToLiveAttribute: definition.ttl }),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    new CfnOutput(stack, outputName(definition.name, 'Name'), {
      value: table.tableName,
      description: definition.holds,
    });
    new CfnOutput(stack, outputName(definition.name, 'Arn'), { value: table.tableArn });
  }

  const key = new Key(stack, 'Key', {
    alias: keyAlias(stage),
    description: `Wraps the data keys of the key ring and the service profiles of ${stage.name}; each use names its purpose in the encryption context.`,
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.RETAIN,
  });
  new CfnOutput(stack, 'KeyArn', { value: key.keyArn });
  return stack;
}

/**
 * The outputs of that stack, for another one. `Fn::GetStackOutput` reads them at deployment: weak references, which never hold the
 * producer back.
 */
export function storeReferences(stack: Stack): StoreReferences {
  const output = (name: string): string => Fn.getStackOutput(stack.stackName, name);
  const reference = (table: TableDefinition['name']): TableReference => ({
    name: output(outputName(table, 'Name')),
    arn: output(outputName(table, 'Arn')),
  });
  return {
    records: reference('records'),
    control: reference('control'),
    settings: reference('settings'),
    keyArn: output('KeyArn'),
  };
}

function outputName(table: TableDefinition['name'], what: 'Name' | 'Arn'): string {
  return `${pascal(table)}Table${what}`;
}

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
