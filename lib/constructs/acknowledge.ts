import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Accepts findings of cdk-nag on one construct and what is below it. Each reason is a sentence that is true of exactly that construct.
 * @param findings reasons by rule, or by `rule[finding]` where a rule reports several things
 */
export function acknowledge(construct: IConstruct, findings: Readonly<Record<string, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(findings).map(([id, reason]) => ({ id, reason })));
}
