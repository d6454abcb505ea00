import { runCdk } from './cdk/run-cdk.ts';

if (import.meta.main) {
  await runCdk(
    'deploy',
    'Bundles the functions and deploys all stacks of a stage, or the stacks that you name. -c stage=NAME is required.\nThe release gates are read from the SSM parameters of the stage; -c gates is rejected.\nA first deployment needs -c first=ACCOUNT/REGION.',
  );
}
