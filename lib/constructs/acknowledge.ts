import { Stack, Token, Validations, type App } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';

/** Lets cdk-nag judge the app: a finding that no construct acknowledges fails the synth. */
export function checkWithNag(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
}

/**
 * Accepts findings of cdk-nag on one construct and what is below it. Each reason is a sentence that is true of exactly that construct.
 * @param findings reasons by rule, or by `rule[finding]` where a rule reports several things
 */
export function acknowledge(construct: IConstruct, findings: Readonly<Record<string, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(findings).map(([id, reason]) => ({ id, reason })));
}

/** A value of the account as cdk-nag writes it: by its name where the stack is bound to none. */
export function shown(value: string, pseudo: string): string {
  return Token.isUnresolved(value) ? `<AWS::${pseudo}>` : value;
}

/** The finding of a wildcard in the ARN of a resource, as cdk-nag writes it. */
export function wildcardFinding(scope: IConstruct, service: string, resource: string): string {
  const { account, partition, region } = Stack.of(scope);
  const place = [shown(region, 'Region'), shown(account, 'AccountId')];
  const arn = ['arn', shown(partition, 'Partition'), service, ...place, resource].join(':');
  return `AwsSolutions-IAM5[Resource::${arn}]`;
}
