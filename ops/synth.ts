import { runCdk } from './cdk/run-cdk.ts';

const help = `npm run synth -- [options of cdk synth]

Bundles the functions and synthesizes every stack into cdk.out.

  -c gates=A,D    which gates are open, without asking the stage's account; -c gates= for none
  -c stage=NAME   the stage (shared/stage/stages.ts); default sandbox-dev
  --quiet         no templates, no progress
  --help          this text

Without -c gates the flags are read from SSM with the caller's credentials.`;

if (import.meta.main) process.exitCode = await runCdk('synth', process.argv.slice(2), help);
