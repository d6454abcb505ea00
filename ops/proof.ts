import { access, constants, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import * as z from 'zod';
import { createIssuer, readIssuerKey } from '#shared/stage/local-issuer.ts';
import { describeNoStack, findRunningStack, localFiles } from '#shared/stage/description.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { openDrawing } from '#tools/terminal/drawing.ts';
import { localProof } from '#ops/proof/local.ts';
import type { LocalProof } from '#ops/proof/local.ts';
import { runProof } from '#ops/proof/run-proof.ts';
import { exampleTenantFile, readTenantFile } from '#ops/proof/tenant-file.ts';
import { renderProgress, renderRun } from '#ops/proof/view.ts';
import { receiptOf, writeReceipt } from '#ops/proof/write-receipt.ts';
import { examples, exits, program, run, text, UsageError } from '#tools/terminal/command.ts';
import { paintFor } from '#tools/terminal/paint.ts';

const command = program(
  'npm run proof --',
  [
    'Proves over HTTP alone that a deployment keeps two tenants apart (docs/proof.md): each is served its own, nobody without a token is',
    'served, and one tenant’s is to the other like what nobody has. Writes a receipt for gate D of a prerequisite manifest. Where they are',
    'open, it materializes an attempt and analyzes an administration of each tenant. Exit 0 only when every check passed.',
  ].join(' '),
)
  .option('--target <URL>', 'base URL of the deployed service, without /v1', text)
  .option(
    '--tenant-a <FILE>',
    'what the suite has to know of one tenant (docs/proof.md), or the id of a local one',
    text,
  )
  .option('--tenant-b <FILE>', 'and of the other', text)
  .option('--local', 'the stack that npm start runs in this folder: of these three those that are left out')
  .addOption(
    new Option('--service <SERVICE>', 'which service is held to the proof')
      .choices(['reports', 'mastery'] as const)
      .default('reports' as const),
  )
  .option(
    '--rehearsal',
    'writes a receipt that calls itself a rehearsal; the only one that there is of a stack on this machine',
  )
  .option(
    '--out <FILE>',
    'where the receipt goes; default proof-SERVICE-TIME.json here, of the local stack in .local',
    text,
  )
  .option('--example', 'prints a tenant file, and asks nothing')
  .addHelpText(
    'after',
    examples(
      'npm run proof -- --local --rehearsal',
      'npm run proof -- --local --target http://127.0.0.1:8080/reports',
      'npm run proof -- --example > tenant-a.json',
      'npm run proof -- --target https://reports.staging.school.org --tenant-a a.json --tenant-b b.json',
      'npm run proof -- --service mastery --target https://mastery.staging.school.org --tenant-a a.json --tenant-b b.json',
    ),
  );
type Values = ReturnType<typeof command.opts>;

command.action(
  exits(async (values) => {
    if (values.example === true) {
      console.log(JSON.stringify(exampleTenantFile, null, 2));
      return ok(undefined);
    }
    const chosen = await choose(values);
    if (!chosen.ok) return chosen;
    const out = values.out ?? defaultOut(values);
    if (await isThere(out)) return err(`${out} is there already, and a receipt is written over nothing`);
    // Asked before the suite is, whose hundreds of requests would be for nothing.
    if (!(await isThere(dirname(out), constants.W_OK)))
      return err(`${out} cannot be written: its folder is not there, or may not be written to`);

    const space = {
      width: process.stdout.isTTY ? process.stdout.columns : 200,
      paint: paintFor(process.stdout, process.env),
    };
    const drawing = openDrawing(process.stdout);
    const proved = await runProof({
      ...chosen.value,
      service: values.service,
      clock: Date.now,
      onProgress: (done, of, next) => {
        if (process.stdout.isTTY) drawing.draw([renderProgress(done, of, next, space)]);
      },
    });
    if (!proved.ok) return proved;
    drawing.keep(renderRun(proved.value, space));
    const receipt = receiptOf(proved.value, values.rehearsal === true, await product());
    if (!receipt.ok) return receipt;
    const written = await writeReceipt(receipt.value, out);
    if (!written.ok) return written;
    console.log(
      `${receipt.value.rehearsal ? 'rehearsal receipt' : 'receipt'} ${out}  sha256 ${written.value}`,
    );
    return ok(undefined);
  }),
);

await run(command);

/** What is proved: a deployment and two files, or the local stack and its tenants. */
async function choose(
  values: Values,
): Promise<
  Result<Pick<LocalProof, 'url' | 'a' | 'b'> & Partial<Pick<LocalProof, 'play'>>, string | UsageError>
> {
  const { target, tenantA, tenantB } = values;
  const url = target === undefined ? undefined : baseUrl(target);
  if (url?.ok === false) return url;
  if (values.local === true || (await namesLocalTenants(tenantA, tenantB))) {
    const local = await chooseLocal(values.service, [tenantA, tenantB]);
    return local.ok ? ok({ ...local.value, ...(url === undefined ? {} : { url: url.value }) }) : local;
  }
  if (url === undefined || tenantA === undefined || tenantB === undefined)
    return err(new UsageError('needs --target URL, --tenant-a FILE and --tenant-b FILE, or --local'));
  const a = await readTenantFile(tenantA, 'A', process.env, Date.now());
  if (!a.ok) return a;
  const b = await readTenantFile(tenantB, 'B', process.env, Date.now());
  return b.ok ? ok({ url: url.value, a: a.value, b: b.value }) : b;
}

/** Whether both are tenants of the stack that runs here, and neither is a file. */
async function namesLocalTenants(...given: readonly (string | undefined)[]): Promise<boolean> {
  const stack = await findRunningStack(localFiles(process.cwd()).stack);
  if (!stack.ok) return false;
  const ids = new Set(stack.value.tenants.map(({ tenantId }) => tenantId));
  for (const name of given) {
    if (name === undefined || !ids.has(name) || (await isThere(name))) return false;
  }
  return true;
}

async function chooseLocal(
  service: Values['service'],
  tenantIds: readonly (string | undefined)[],
): Promise<Result<LocalProof, string>> {
  const files = localFiles(process.cwd());
  const stack = await findRunningStack(files.stack);
  if (!stack.ok) return err(describeNoStack(stack.error));
  const key = await readIssuerKey(files.issuerKey);
  if (key === undefined) return err(`${files.issuerKey} is gone: start the stack again with \`npm start\``);
  const { issueToken } = await createIssuer(key);
  return localProof(service, stack.value, tenantIds, issueToken, Date.now());
}

/** A base URL as requests need it. Checked here and not by the option, whose error would quote a credential in it; what cannot be read may hold one too. */
function baseUrl(given: string): Result<string, UsageError> {
  const refused = (reason: string): Result<string, UsageError> => err(new UsageError(`--target ${reason}`));
  if (!URL.canParse(given)) return refused('is no URL');
  const { protocol, username, password, search, hash, href } = new URL(given);
  if (username !== '' || password !== '') return refused('has a credential in it');
  if (protocol !== 'https:' && protocol !== 'http:') return refused('must be an https URL');
  if (search !== '' || hash !== '') return refused('has a query or a fragment in it');
  const url = href.replace(/\/+$/, '');
  return url.endsWith('/v1') ? refused('is the base URL, without /v1') : ok(url);
}

/** Beside what is private to the local stack, or in the folder from which a deployment was proved. */
function defaultOut({ local, service }: Values): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const name = `proof-${service}-${time}.json`;
  return local === true ? join(dirname(localFiles('.').stack), name) : name;
}

async function isThere(path: string, mode: number = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

/** Name and version of this suite, from the manifest of the package. */
async function product(): Promise<{ readonly name: string; readonly version: string }> {
  const source = await readFile(join(import.meta.dirname, '../package.json'), 'utf8');
  return z.object({ name: z.string(), version: z.string() }).parse(JSON.parse(source));
}
