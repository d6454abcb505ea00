import { Stack, Validations, type App } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { flattenCfnReference } from 'cdk-nag/lib/utils/flatten-cfn-reference.js';
import type { IConstruct } from 'constructs';

/** Checks the app with cdk-nag: a finding that no construct acknowledges fails the synth. */
export function checkWithNag(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
}

/**
 * Accepts findings of cdk-nag on one construct and those below it. Each reason is a sentence that holds only for that construct.
 * @param findings reasons by rule, or by `rule[finding]` where a rule reports several things
 */
export function acknowledge(construct: IConstruct, findings: Readonly<Record<string, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(findings).map(([id, reason]) => ({ id, reason })));
}

/** Accepts all wildcards of these resources of a policy for one reason. */
export function acknowledgeWildcards(
  construct: IConstruct,
  resources: readonly string[],
  reason: string,
): void {
  for (const resource of resources.filter((name) => name.includes('*'))) {
    const shown = flattenCfnReference(Stack.of(construct).resolve(resource));
    acknowledge(construct, { [`AwsSolutions-IAM5[Resource::${shown}]`]: reason });
  }
}
