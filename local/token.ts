import { createIssuer, readIssuerKey } from '#shared/stage/local-issuer.ts';
import { findRunningStack, localFiles } from '#shared/stage/description.ts';
import { routes } from '#shared/contract/routes.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { examples, exits, integer, list, program, run, text, UsageError } from '#tools/terminal/command.ts';

const knownScopes: readonly string[] = [...new Set(routes.map(({ scope }) => scope))];

const command = program(
  'npm run token --',
  'Prints an access token for the stack that npm start runs in this folder, alone on the last line. Only the local issuer makes tokens this way.',
)
  .option('--tenant <T>', 'the tenant (required); .local/stack.json lists the tenants', text)
  .option('--scope <SCOPES>', 'scopes, separated by spaces', text, knownScopes.join(' '))
  .option('--studentIds <a,b>', 'learners that the token may read (reports)', list)
  .option('--classSourcedIds <a,b>', 'classes that the token may read (reports)', list)
  .option('--schoolSourcedIds <a,b>', 'schools that the token may read (reports)', list)
  .option('--administrationIds <a,b>', 'administrations that the token may read (reports)', list)
  .option('--sub <S>', 'the subject; default: the client of the tenant', text)
  .option('--role <R>', 'the role; default: the role of that client', text)
  .option('--expires-in <S>', 'seconds until it expires', integer(1, 86_400), 3600)
  .addHelpText(
    'after',
    examples(
      'npm run token -- --tenant tenant-aurora',
      'TOKEN=$(npm run --silent token -- --tenant tenant-aurora --scope "mastery:read")',
    ),
  );

command.action(
  exits(async (values) => {
    const files = localFiles(process.cwd());
    const stack = await findRunningStack(files.stack);
    if (!stack.ok)
      return err(values.tenant === undefined ? new UsageError('missing: --tenant') : stack.error);
    const { tenants } = stack.value;
    const known = tenants.map(({ tenantId }) => tenantId).join(' or ');
    if (values.tenant === undefined) return err(new UsageError(`missing: --tenant (${known})`));
    const tenant = tenants.find(({ tenantId }) => tenantId === values.tenant);
    if (tenant === undefined) return err(`unknown tenant "${values.tenant}": expected ${known}`);
    const scopes = values.scope.split(' ').filter((scope) => scope !== '');
    for (const scope of scopes.filter((each) => !knownScopes.includes(each)))
      console.error(
        `warning: no route requires the scope "${scope}": the scopes are ${knownScopes.join(', ')}`,
      );
    const key = await readIssuerKey(files.issuerKey);
    if (!key.ok) return key;
    const { issueToken } = await createIssuer(key.value);
    const token = await issueToken(
      {
        tenantId: tenant.tenantId,
        sub: values.sub ?? tenant.sub,
        role: values.role ?? tenant.role,
        scopes,
        studentIds: values.studentIds,
        classSourcedIds: values.classSourcedIds,
        schoolSourcedIds: values.schoolSourcedIds,
        administrationIds: values.administrationIds,
        expiresInSeconds: values.expiresIn,
      },
      Date.now(),
    );
    process.stdout.write(`${token}\n`);
    return ok(undefined);
  }),
);

await run(command);
