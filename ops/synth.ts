import { runCdk } from './cdk/run-cdk.ts';

if (import.meta.main) {
  await runCdk(
    'synth',
    'Bundles the functions and synthesizes all stacks into cdk.out. The default stage is sandbox-dev; -c stage=NAME chooses another.\n-c gates=A,D opens these release gates without access to an AWS account; -c gates= opens none. Without it, the gate flags are read from the SSM parameters of the stage.',
  );
}
