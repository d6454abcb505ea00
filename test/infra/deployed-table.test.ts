import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { recordsAndKeys } from '#lib/stacks/records-and-keys.ts';
import { stageNamed } from '#shared/stage/stages.ts';
import { isDeployedTable } from '#shared/stores/deployed-table.ts';
import { tables } from '#shared/stores/tables.ts';

describe('isDeployedTable', () => {
  it('knows the names that CloudFormation makes of the stack’s own tables', () => {
    const stage = stageNamed('staging');
    if (!stage.ok) throw new Error(stage.error);
    const stack = recordsAndKeys(new App(), stage.value);
    const logicalIds = Object.keys(Template.fromStack(stack).findResources('AWS::DynamoDB::Table'));
    const names = logicalIds.map((id) => `${stack.stackName}-${id}-1ABCDEF2GHIJK`);
    for (const { name } of tables) {
      expect(names.filter((candidate) => isDeployedTable(candidate, 'staging', name))).toHaveLength(1);
    }
  });
});
