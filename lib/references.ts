import { Duration } from 'aws-cdk-lib';
import { analyzeRun } from '#shared/contract/background.ts';
import type { TableDefinition } from '#shared/stores/tables.ts';

/** A table or a bucket as other stacks refer to it. */
export interface StoreReference {
  readonly name: string;
  readonly arn: string;
}

/** A queue as other stacks refer to it. */
export interface QueueReference extends StoreReference {
  readonly url: string;
}

/** What the stack of the stores gives to the others: values of its outputs, read at their deployment. */
export type StoreReferences = Readonly<Record<TableDefinition['name'], StoreReference>> & {
  readonly keyArn: string;
  /** The queue of improvement runs. */
  readonly runs: QueueReference;
  /** Where its messages end that were received in vain. */
  readonly deadLetters: QueueReference;
  /** The bucket of receipt bundles. */
  readonly receipts: StoreReference;
};

/**
 * How long a message of a run stays hidden while a worker has it: six times the worker's time, as Lambda asks for, so that no second worker
 * gets a run that the first one is still at.
 */
export const RUN_HIDDEN = Duration.seconds(6 * analyzeRun.lambda.timeoutSeconds);
