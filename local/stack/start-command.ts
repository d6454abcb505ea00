import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { finished } from 'node:stream/promises';
import { Option } from '@commander-js/extra-typings';
import type { Access } from '#local/gateway/gateway.ts';
import { loadIssuerKey } from '#shared/stage/local-issuer.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import { offlineRelease, parseGates, type OpenGates } from '#shared/release/read-release.ts';
import { backgroundFunctions } from '#shared/contract/background.ts';
import { gates } from '#shared/contract/gates.ts';
import { routes } from '#shared/contract/routes.ts';
import { serveSandbox } from '#shared/contract/sandbox.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { isReleased, type ReleaseState } from '#shared/release/release-state.ts';
import { buildFunctions } from '#tools/bundling/build.ts';
import { examples, exits, integer, parsed, program, run, text } from '#tools/terminal/command.ts';
import { plainText } from '#tools/terminal/plain-text.ts';
import type { LocalSite, Site } from '#tools/site/render.ts';
import { paintFor, type Paint } from '#tools/terminal/paint.ts';
import {
  findRunningStack,
  isAlive,
  localFiles,
  removeStackDescription,
  writeStackDescription,
} from '#shared/stage/description.ts';
import type { StackDescription } from '#shared/stage/description.ts';
import { bundleExplorer } from '#tools/bundling/explorer.ts';
import { bundleExamplePage } from '#tools/bundling/report-element.ts';
import { interrupted } from './interrupted.ts';
import { describeStack } from './describe-stack.ts';
import { takeLock } from './lock.ts';
import { SeedRefusedError, startStack, type Stack } from './stack.ts';

/** A stage sweeps every five minutes, which is too long to wait in front of a screen. */
const SWEEP_SECONDS = 5;

/** `npm start`: the whole product on this machine, until it is interrupted. */
export async function start(): Promise<void> {
  await run(
    program(
      'npm start --',
      'Runs both services on this machine, with emulators of AWS and of the platform (docs/local-runtime.md).',
    )
      .option('--port <N>', 'port of the gateway; 0: any free port', integer(0, 65_535), 4010)
      .option(
        '--seed <DIR>',
        'folder with the banks to load (docs/seeds.md); default: the built-in banks',
        text,
      )
      .addOption(
        new Option('--gates <LIST>', 'open release gates, for example A,D; empty: none')
          .default<OpenGates>(new Set(gates), 'all')
          .argParser(parsed(parseGates)),
      )
      .option(
        '--throttle <N>',
        'lets N requests per second pass for each route, as the throttle of a stage; default: any number',
        integer(1, 10_000),
      )
      .option('--calls', 'prints example calls of the stack that is already running, and exits')
      .addHelpText('after', examples('npm start', 'npm start -- --port 0 --seed ./my-bank'))
      .action(exits((settings) => (settings.calls === true ? printCalls() : serve(settings)))),
  );
}

interface Settings {
  readonly port: number;
  readonly seed?: string | undefined;
  readonly gates: OpenGates;
  readonly throttle?: number | undefined;
}

async function serve(settings: Settings): Promise<Result<undefined, string>> {
  const files = localFiles(process.cwd());
  const lock = await takeLock(files.lock, process.pid, (pid) => isStack(files.stack, pid));
  if (!lock.ok) {
    const other = await findRunningStack(files.stack);
    return err(
      other.ok && other.value.pid === lock.error.pid
        ? `a local stack is already running (process ${other.value.pid}, ${other.value.docsUrl}): stop it first`
        : `a local stack is starting or stopping in this folder (process ${lock.error.pid}): wait, or stop that process. If it is another program, delete ${files.lock}`,
    );
  }
  try {
    return await serveLocked(settings, files);
  } finally {
    await lock.value.release();
  }
}

async function serveLocked(
  settings: Settings,
  files: ReturnType<typeof localFiles>,
): Promise<Result<undefined, string>> {
  await Promise.all([rm(files.stack, { force: true }), rm(files.run, { force: true })]);

  process.stdout.write('Reading the seed …\n');
  const seedDirectory = resolve(settings.seed ?? DEFAULT_SEED_DIRECTORY);
  const seed = await loadSeed(seedDirectory);
  if (!seed.ok) return err(`cannot use the seed in ${seedDirectory}:\n${renderDefects(seed.error)}`);
  const release = offlineRelease(settings.gates);
  const served = routes.filter((route) => isReleased(route, release));
  const background = backgroundFunctions.filter((row) => isReleased(row, release));
  process.stdout.write('Bundling the functions and the explorer …\n');
  const [built, explorer, examplePage] = await Promise.all([
    buildFunctions({
      only: [...served, ...background, serveSandbox].map(({ operationId }) => operationId),
    }),
    bundleExplorer(),
    bundleExamplePage(),
  ]);
  if (!built.ok) return err(`cannot bundle the functions:\n${built.error.join('\n')}`);

  process.stdout.write('Starting the emulators and the gateway …\n');
  await mkdir(dirname(files.functionLog), { recursive: true });
  const functionLog = createWriteStream(files.functionLog, { mode: 0o600 });
  const accessLog = createWriteStream(files.accessLog, { mode: 0o600 });
  const paint = paintFor(process.stdout, process.env);
  let stack: Stack;
  try {
    stack = await startStack({
      port: settings.port,
      seed: seed.value,
      routes: served,
      proved: release.proved,
      background,
      ...(settings.throttle !== undefined && {
        throttles: [{ per: 'method', ratePerSecond: settings.throttle, burst: settings.throttle }],
      }),
      sweepRunsEverySeconds: SWEEP_SECONDS,
      bundles: built.value,
      issuerKey: await loadIssuerKey(files.issuerKey),
      site: (local) => renderLocalSite(release, local),
      explorer: new Map([...explorer, ...examplePage]),
      onFunctionLog: (line) => functionLog.write(`${JSON.stringify(line)}\n`),
      onAccess: (access) => {
        accessLog.write(`${JSON.stringify(access)}\n`);
        process.stdout.write(`${accessLine(access, paint)}\n`);
      },
    });
  } catch (error) {
    const mistake = explain(error, settings.port, seedDirectory);
    if (mistake === undefined) throw error;
    return err(mistake);
  }

  const description = describeStack(stack, seedDirectory, files.functionLog);
  await writeFile(files.manifest, `${stack.rehearsal.manifest}\n`);
  await writeStackDescription(files.stack, description);
  process.stdout.write(`${welcome(description, seed.value.title, paint).join('\n')}\n\n`);

  await interrupted(process);
  await removeStackDescription(files.stack, process.pid);
  await stack.close();
  functionLog.end();
  accessLog.end();
  await Promise.all([finished(functionLog), finished(accessLog)]);
  return ok(undefined);
}

/** Loaded when it is first needed: nothing else of the stack waits for the generator. */
async function renderLocalSite(release: ReleaseState, local: LocalSite): Promise<Site> {
  const { renderSite } = await import('#tools/site/render.ts');
  return renderSite({ release, apis: local.apis, local });
}

/** Whether the process is one of this command: its id may have been given to another program since. */
async function isStack(descriptionFile: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const described = await findRunningStack(descriptionFile);
  return !described.ok || described.value.pid !== pid || (await answers(described.value));
}

/** Returns false only if another program, or none, listens there: a busy stack may be slow to answer. */
export async function answers(
  { docsUrl }: Pick<StackDescription, 'docsUrl'>,
  signal = AbortSignal.timeout(2000),
): Promise<boolean> {
  try {
    return (await fetch(new URL('/.well-known/jwks.json', docsUrl), { signal })).ok;
  } catch {
    return signal.aborted;
  }
}

/** A sentence for what the user can put right; undefined for a defect. */
function explain(error: unknown, port: number, seedDirectory: string): string | undefined {
  if (error instanceof SeedRefusedError) return `cannot use the seed in ${seedDirectory}:\n${error.message}`;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use: stop the other program, or choose a free port with npm start -- --port 0`;
  }
  return code === 'EACCES' ? `port ${port} requires privileges: choose a port from 1024 to 65535` : undefined;
}

function accessLine({ method, resource, status, milliseconds }: Access, paint: Paint): string {
  const colour = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
  return `${paint(colour, String(status))} ${method} ${resource ?? 'unknown route'} ${paint('dim', `${milliseconds} ms`)}`;
}

function welcome(stack: StackDescription, seedTitle: string, paint: Paint): readonly string[] {
  const banks = stack.fixtures[stack.tenants[0]?.tenantId ?? '']?.mastery.banks ?? [];
  return [
    '',
    `${paint('bold', 'mastery-reports is running on this machine')}, ready in ${(performance.now() / 1000).toFixed(1)} s.`,
    '',
    `  mastery engine     ${stack.masteryUrl}`,
    `  reports service    ${stack.reportsUrl}`,
    `  sandbox            ${stack.sandboxUrl}`,
    `  explorer           ${stack.explorerUrl}`,
    `  documentation      ${stack.docsUrl}`,
    `  platform emulator  ${stack.platformUrl}`,
    `  AWS emulator       ${stack.awsUrl}`,
    `  tenants            ${stack.tenants.map(({ tenantId }) => tenantId).join(', ')}`,
    `  seed               ${plainText(seedTitle)} (${banks.map(({ name }) => name).join(', ')})`,
    '',
    `${paint('bold', 'Open')} ${new URL('/', stack.docsUrl).href} in a browser, which leads to all of it, or try it in another terminal:`,
    '',
    '  npm run call -- readAttemptReport    get a first report (--help lists every operation)',
    '  npm run journey                      watch a learner take an adaptive test',
    `  npm start -- --calls                 print example calls (also at ${callsUrl(stack)})`,
    '',
    'Press Ctrl-C to stop. Requests are listed below.',
  ];
}

/** `npm start -- --calls`: the page of example calls of the stack that is running. */
async function printCalls(): Promise<Result<undefined, string>> {
  const stack = await findRunningStack(localFiles(process.cwd()).stack);
  if (!stack.ok) return stack;
  const url = callsUrl(stack.value);
  try {
    const response = await fetch(url);
    if (!response.ok) return err(`${url} returned ${response.status}`);
    process.stdout.write(await response.text());
    return ok(undefined);
  } catch {
    return err(`no answer from ${url}: start the stack again with \`npm start\``);
  }
}

function callsUrl({ docsUrl }: Pick<StackDescription, 'docsUrl'>): string {
  return new URL('/calls', docsUrl).href;
}
