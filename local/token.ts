import { createIssuer, readIssuerKey } from '#shared/stage/local-issuer.ts';
import { describeNoStack, findRunningStack, localFiles } from '#shared/stage/description.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { examples, exits, integer, list, program, run, text, UsageError } from '#tools/terminal/command.ts';

/** Everything that a client of the mastery engine and of the reports service may ask for. */
const ALL_SCOPES = 'mastery:run mastery:read mastery:simulate reports:read reports:write';

const command = program(
  'npm run token --',
  'Prints a token of the local issuer, alone on the last line. For the stack that npm start runs in this folder; production has no minting.',
)
  .option('--tenant <T>', 'whose token; .local/stack.json names the tenants', text)
  .option('--scope <SCOPES>', 'scopes, separated by spaces', text, ALL_SCOPES)
  .option('--studentIds <a,b>', 'learners that the token may see (reports)', list)
  .option('--classSourcedIds <a,b>', 'classes that the token may see (reports)', list)
  .option('--schoolSourcedIds <a,b>', 'schools that the token may see (reports)', list)
  .option('--administrationIds <a,b>', 'administrations that the token may see (reports)', list)
  .option('--sub <S>', 'the subject; default: the tenant’s client', text)
  .option('--role <R>', 'the role; default: that of the tenant’s client', text)
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
    if (!stack.ok) return err(describeNoStack(stack.error));
    const { tenants } = stack.value;
    const known = tenants.map(({ tenantId }) => tenantId).join(', ');
    if (values.tenant === undefined) return err(new UsageError(`--tenant is required; known are ${known}`));
    const tenant = tenants.find(({ tenantId }) => tenantId === values.tenant);
    if (tenant === undefined) return err(`unknown tenant ${values.tenant}; known are ${known}`);
    const scopes = values.scope.split(' ').filter((scope) => scope !== '');
    const key = await readIssuerKey(files.issuerKey);
    if (key === undefined) return err(`${files.issuerKey} is gone: start the stack again with \`npm start\``);
    const { issueToken } = await createIssuer(key);
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
