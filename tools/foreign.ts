import { mayBeAbsent } from './foreign/may-be-absent.ts';
import type { Part } from './foreign/part.ts';
import { runParts } from './foreign/run-parts.ts';
import { examples, exits, list, program, run } from './terminal/command.ts';

/** Loaded one by one, so that `--only` waits for nothing else. */
const parts: Readonly<Record<string, () => Promise<Part>>> = {
  templates: async () => (await import('./foreign/templates.ts')).templates,
  contract: async () => (await import('./foreign/contract.ts')).contract,
  clients: async () => (await import('./foreign/clients.ts')).clients,
  proxies: async () => (await import('./foreign/proxies.ts')).proxies,
  aws: async () => (await import('./foreign/aws.ts')).aws,
};
const names = Object.keys(parts);

await run(
  program(
    'npm run foreign --',
    'Runs tools from outside this project against the product, and ends with a table. Installs what they need into build/foreign when it is first needed.\n' +
      'A part whose tool cannot be had counts as “not run”, and then the command fails, unless tools/foreign/may-be-absent.ts names a reason.',
  )
    .option('--only <NAMES>', `only these parts, separated by commas: ${names.join(', ')}`, list, names)
    .option('--all', 'also what takes too long for CI')
    .addHelpText('after', examples('npm run foreign', 'npm run foreign -- --only templates'))
    .action(exits(({ only, all = false }) => runParts(parts, only, { all, mayBeAbsent }))),
);
