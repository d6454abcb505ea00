import type { StackProps } from 'aws-cdk-lib';
import type { Stage } from '#shared/stage/stages.ts';

/** The first part of every physical name of a stage. Two stages can share an account. */
export function prefix(stage: Stage): string {
  return `mastery-reports-${stage.name}`;
}

/** Name, place and tags of a stage's stack. */
export function stackProps(stage: Stage, name: string): StackProps {
  const { environment } = stage.config;
  return {
    stackName: `${prefix(stage)}-${name}`,
    ...(environment === 'agnostic' ? {} : { env: environment }),
    tags: { product: 'mastery-reports', stage: stage.name },
  };
}
