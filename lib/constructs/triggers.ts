import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { QueueReference } from '../references.ts';
import { pollStatement } from '#shared/stage/permissions.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { acknowledge } from './acknowledge.ts';
import { rendered } from './grants.ts';
import type { LiveFunction } from './rollout.ts';

/** Delivers the messages of a queue to its worker, one at a time. */
export function attachQueue(worker: LiveFunction, stage: Stage, queue: QueueReference): void {
  worker.addToRolePolicy(rendered(pollStatement(queue.arn)));
  const mapping = new EventSourceMapping(worker, 'Messages', {
    target: worker,
    eventSourceArn: queue.arn,
    batchSize: 1,
    // Lambda's minimum: a small account has ten executions for everything.
    maxConcurrency: stage.config.runsAtOnce ?? 2,
    reportBatchItemFailures: true,
  });
  acknowledge(worker.lambda, {
    'Serverless-LambdaDLQ':
      'Its messages stay in their own queue until they are done, and what fails five times goes to the dead letters of that one.',
  });
  acknowledge(mapping, {
    'Serverless-LambdaEventSourceMappingDestination':
      'Lambda has no failure destination for a queue: the queue’s own redrive policy keeps what fails five times.',
  });
}

/** Calls a function every given number of minutes. A lost call is not repeated: the next one does the same. */
export function attachSchedule(called: LiveFunction, everyMinutes: number): void {
  const every = Duration.minutes(everyMinutes);
  called.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: every });
  const rule = new Rule(called, 'Schedule', {
    schedule: Schedule.rate(every),
    targets: [
      new LambdaTarget(called, {
        event: RuleTargetInput.fromObject({}),
        retryAttempts: 0,
        maxEventAge: every,
      }),
    ],
  });
  const nothingIsLost = 'A call has no input: the next one finds everything that a lost one would have.';
  acknowledge(rule, { 'Serverless-EventBusDLQ': nothingIsLost });
  acknowledge(called.lambda, {
    'Serverless-LambdaAsyncFailureDestination': nothingIsLost,
    'Serverless-LambdaDLQ': nothingIsLost,
  });
}
