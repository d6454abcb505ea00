import { access, constants, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import * as z from 'zod';
import { createIssuer, readIssuerKey } from '#shared/stage/local-issuer.ts';
import { findRunningStack, localFiles } from '#shared/stage/description.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { openDrawing } from '#tools/terminal/drawing.ts';
import { localProof, type LocalProof } from '#ops/proof/local.ts';
import { isLoopback } from '#ops/proof/rehearsal.ts';
import { runProof } from '#ops/proof/run-proof.ts';
import { exampleTenantFile, readTenantFile } from '#ops/proof/tenant-file.ts';
import { renderProgress, renderRun } from '#ops/proof/view.ts';
import { receiptOf, writeReceipt } from '#ops/proof/write-receipt.ts';
import { examples, exits, program, run, text, UsageError } from '#tools/terminal/command.ts';
import { shellWord } from '#shared/kernel/shell-word.ts';
import { paintFor } from '#tools/terminal/paint.ts';

const command = program(
  'npm run proof --',
  'Tests a deployment for tenant isolation over HTTP (docs/proof.md): each tenant gets its own data, a caller without a token gets none, and the ' +
    'data of one tenant is invisible to the other. Writes the receipt that opens gate D. On open routes it materializes an attempt and analyzes ' +
    'an administration of each tenant. Exits with 0 only if every check passed.',
)
  .option('--target <URL>', 'base URL of the deployed service, without /v1', text)
  .option(
    '--tenant-a <FILE>',
    'the tenant file of one tenant (docs/proof.md), or the id of a local tenant',
    text,
  )
  .option('--tenant-b <FILE>', 'the tenant file of the other tenant', text)
  .option(
    '--local',
    'test the stack that npm start runs in this folder; sets the three options above that are omitted',
  )
  .addOption(
    new Option('--service <SERVICE>', 'the service to test')
      .choices(['reports', 'mastery'] as const)
      .default('reports' as const),
  )
  .option('--rehearsal', 'writes a rehearsal receipt; a stack on this machine cannot have any other')
  .option(
    '--out <FILE>',
    'where to write the receipt; default: proof-SERVICE-TIME.json, with --local in .local',
    text,
  )
  .option('--example', 'prints an example of a tenant file, and sends nothing')
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
const noReceipt =
  'warning: the target is on the loopback interface, so these checks cannot result in a receipt. --rehearsal writes a rehearsal receipt';
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
    if (await isThere(out))
      return err(`${out} already exists: a receipt never replaces a file, choose another with --out`);
    // Before the suite sends hundreds of requests.
    if (!(await isThere(dirname(out), constants.W_OK)))
      return err(`cannot write ${out}: its folder does not exist or is not writable`);

    const isInVain =
      values.rehearsal !== true && (await isLoopback(new URL(chosen.value.url).hostname)) === true;
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
        if (done === 0 && isInVain) console.error(noReceipt);
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
      `${receipt.value.rehearsal ? 'rehearsal receipt' : 'receipt'} ${shellWord(out)}  sha256 ${written.value}`,
    );
    return ok(undefined);
  }),
);

await run(command);

/** Returns what is proved: a deployment and two files, or the local stack and its tenants. */
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
  const missing = Object.entries({ '--target': target, '--tenant-a': tenantA, '--tenant-b': tenantB })
    .filter(([, value]) => value === undefined)
    .map(([option]) => option);
  if (url === undefined || tenantA === undefined || tenantB === undefined)
    return err(new UsageError(`missing: ${missing.join(', ')} (or --local)`));
  const a = await readTenantFile(tenantA, 'A', process.env, Date.now());
  if (!a.ok) return a;
  const b = await readTenantFile(tenantB, 'B', process.env, Date.now());
  return b.ok ? ok({ url: url.value, a: a.value, b: b.value }) : b;
}

/** Returns whether both are tenants of the stack that runs here, and neither is a file. */
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
): Promise<Result<LocalProof, string | UsageError>> {
  const files = localFiles(process.cwd());
  const stack = await findRunningStack(files.stack);
  if (!stack.ok) return stack;
  const key = await readIssuerKey(files.issuerKey);
  if (!key.ok) return key;
  const { issueToken } = await createIssuer(key.value);
  const local = await localProof(service, stack.value, tenantIds, issueToken, Date.now());
  return local.ok ? local : err(new UsageError(local.error));
}

/** Returns a base URL as requests need it. Checked here and not by the option, whose error would quote a credential in it; what cannot be read may hold one too. */
function baseUrl(given: string): Result<string, UsageError> {
  const refused = (reason: string): Result<string, UsageError> => err(new UsageError(`--target ${reason}`));
  if (!URL.canParse(given)) return refused('is not a URL');
  const { protocol, username, password, search, hash, href } = new URL(given);
  if (username !== '' || password !== '') return refused('must not contain a credential');
  if (protocol !== 'https:' && protocol !== 'http:') return refused('must be an https URL');
  if (search !== '' || hash !== '') return refused('must not contain a query or a fragment');
  const url = href.replace(/\/+$/, '');
  return url.endsWith('/v1') ? refused('must be the base URL, without /v1') : ok(url);
}

/** Returns the folder of the local stack's private files, or the current folder for a deployment. */
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

/** Returns name and version of this suite, from the manifest of the package. */
async function product(): Promise<{ readonly name: string; readonly version: string }> {
  const source = await readFile(join(import.meta.dirname, '../package.json'), 'utf8');
  return z.object({ name: z.string(), version: z.string() }).parse(JSON.parse(source));
}
