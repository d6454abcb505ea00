import { runCdk } from './cdk/run-cdk.ts';

const help = `npm run deploy -- -c stage=NAME [options of cdk deploy]

Bundles the functions and deploys every stack of the stage (or the stacks that are named).

  -c stage=NAME   the stage (shared/stage/stages.ts); required
  --help          this text

The gates are the stage's own, read from SSM. Gates given by -c gates are refused: they prove nothing.`;

if (import.meta.main) process.exitCode = await runCdk('deploy', process.argv.slice(2), help);
