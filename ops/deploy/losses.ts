import type { ResourceChange } from '@aws-sdk/client-cloudformation';

/** What contains data, or opens it. */
export const dataTypes: ReadonlySet<string> = new Set([
  'AWS::DynamoDB::Table',
  'AWS::KMS::Key',
  'AWS::S3::Bucket',
  'AWS::SQS::Queue',
]);

/** What callers and operators have written down. */
export const addressTypes: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::DomainName',
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Stage',
  'AWS::CloudFront::Distribution',
]);

/**
 * Returns the changes of one change set by which data or an address would be lost: a resource of these types is removed or replaced, or CloudFormation cannot
 * know yet that it is not. Whether its deletion policy retains it makes no difference: the services would leave it.
 * @param allowed logical ids of resources that may be lost
 */
export function losses(
  changes: readonly ResourceChange[],
  allowed: ReadonlySet<string> = new Set(),
): readonly ResourceChange[] {
  const inPlace = new Set(
    changes
      .filter(({ Action, Replacement }) => Action === 'Modify' && Replacement === 'False')
      .map(({ LogicalResourceId }) => LogicalResourceId),
  );
  return changes.filter((change) => {
    const { LogicalResourceId: id = '', ResourceType: type = '' } = change;
    return (dataTypes.has(type) || addressTypes.has(type)) && !allowed.has(id) && isLost(change, inPlace);
  });
}

function isLost(
  { Action, Replacement, Details = [] }: ResourceChange,
  inPlace: ReadonlySet<string | undefined>,
): boolean {
  switch (Action) {
    case 'Add':
    case 'Import':
      return false;
    case 'Modify':
      if (Replacement === 'False') return false;
      if (Replacement !== 'Conditional') return true;
      // It names another resource, which keeps its name when it is changed in place.
      return !(
        Details.length > 0 &&
        Details.every(
          ({ Target, Evaluation, CausingEntity = '' }) =>
            (Target !== undefined && (Target.RequiresRecreation ?? 'Never') === 'Never') ||
            (Evaluation === 'Dynamic' && inPlace.has(CausingEntity.split('.')[0] ?? '')),
        )
      );
    default:
      // Remove, and what CloudFormation cannot predict.
      return true;
  }
}

export function describeChange({
  Action = 'Dynamic',
  Replacement,
  LogicalResourceId = '',
  ResourceType = '',
}: ResourceChange): string {
  const verb =
    Action === 'Modify' && Replacement === 'True'
      ? 'replace'
      : Action === 'Modify' && Replacement === 'Conditional'
        ? 'modify or replace'
        : Action.toLowerCase();
  return `  ${verb.padEnd(17)} ${ResourceType}  ${LogicalResourceId}`;
}
