import { runCdk } from './cdk/run-cdk.ts';

if (import.meta.main) {
  await runCdk(
    'deploy',
    'Bundles the functions and deploys every stack of the stage (or the stacks that are named). -c stage=NAME is required.\nThe gates are the stage’s own, read from SSM. Gates given by -c gates are refused: they prove nothing.',
  );
}
