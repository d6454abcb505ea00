import { Option } from '@commander-js/extra-typings';
import { createIssuer, readIssuerKey } from '#shared/stage/local-issuer.ts';
import { findRunningStack, localFiles } from '#shared/stage/description.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { compareServers } from './parity/compare.ts';
import { examples, exits, program, run, text } from './terminal/command.ts';

const command = program(
  'npm run parity --',
  'Sends the odd requests of docs/parity.md to a deployed stage and to the local stack that npm start runs in this folder, and prints every ' +
    'difference between the two, and from what is documented. Nothing is written anywhere. Exits with 0 only if there is no difference.',
)
  .requiredOption('--target <URL>', 'base URL of the deployed service, without /v1', text)
  .addOption(
    new Option('--service <SERVICE>', 'the service that the target is')
      .choices(['reports', 'mastery'] as const)
      .default('mastery' as const),
  )
  .option(
    '--token <JWT>',
    'a token of the target; without one, the requests that need one are left out',
    text,
  )
  .addHelpText(
    'after',
    examples('npm run parity -- --service mastery --target https://mastery.staging.school.org'),
  );

command.action(
  exits(async ({ target, service, token }) => {
    const files = localFiles(process.cwd());
    const [stack, key] = [await findRunningStack(files.stack), await readIssuerKey(files.issuerKey)];
    if (!stack.ok) return stack;
    if (!key.ok) return key;
    const [tenant] = stack.value.tenants;
    if (tenant === undefined) return err('the local stack has no tenant: start it again');
    const scopes = [service === 'mastery' ? 'mastery:read' : 'reports:read'];
    const issuer = await createIssuer(key.value);
    const local = {
      url: stack.value[`${service}Url`],
      token: await issuer.issueToken({ ...tenant, scopes }, Date.now()),
    };
    const { sent, differences } = await compareServers(service, { url: target, token }, local);
    for (const difference of differences) console.log(difference);
    console.log(`${sent} requests, ${differences.length} differences`);
    return differences.length === 0 ? ok(undefined) : err('the target and the local gateway differ');
  }),
);

await run(command);
