import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import type { Stage } from '#shared/stage/stages.ts';
import { prefix } from '../names.ts';

/** Creates the budget of a stage that has one. It counts what has the stage's tag, so that stages can share an account. */
export function budget(scope: Construct, stage: Stage): void {
  const { monthlyBudgetUsd, alarmsEmail, alarmsTopicArn } = stage.config;
  const address = alarmsEmail?.ticket ?? alarmsTopicArn?.ticket;
  if (monthlyBudgetUsd === undefined || address === undefined) return;
  const subscriber = { subscriptionType: alarmsEmail === undefined ? 'SNS' : 'EMAIL', address };
  new CfnBudget(scope, 'Budget', {
    budget: {
      budgetName: prefix(stage),
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyBudgetUsd, unit: 'USD' },
      costFilters: { TagKeyValue: [`user:stage$${stage.name}`] },
    },
    notificationsWithSubscribers: ['ACTUAL', 'FORECASTED'].map((notificationType) => ({
      notification: {
        notificationType,
        comparisonOperator: 'GREATER_THAN',
        threshold: 100,
        thresholdType: 'PERCENTAGE',
      },
      subscribers: [subscriber],
    })),
  });
}
