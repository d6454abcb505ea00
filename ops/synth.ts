import { runCdk } from './cdk/run-cdk.ts';

if (import.meta.main) {
  await runCdk(
    'synth',
    'Bundles the functions and synthesizes every stack into cdk.out.\n-c gates=A,D says which gates are open, without asking the stage’s account, and -c gates= that none is. Without it the flags are read from SSM with the caller’s credentials. The stage is sandbox-dev unless -c stage=NAME names another.',
  );
}
