import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { finished } from 'node:stream/promises';
import { sandboxIds } from '#shared/contract/sandbox.ts';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Access } from '#local/gateway/gateway.ts';
import { loadIssuerKey } from '#shared/stage/local-issuer.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import { localTenant } from '#local/seeds/tenants.ts';
import { offlineRelease } from '#shared/release/read-release.ts';
import type { OpenGates } from '#shared/release/read-release.ts';
import { backgroundFunctions } from '#shared/contract/background.ts';
import { gates } from '#shared/contract/gates.ts';
import type { GateName } from '#shared/contract/gates.ts';
import type { Route } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { serveSandbox } from '#shared/contract/sandbox.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { isReleased } from '#shared/release/release-state.ts';
import { buildFunctions } from '#tools/bundling/build.ts';
import { examples, exits, integer, program, run, text } from '#tools/terminal/command.ts';
import { paintFor } from '#tools/terminal/paint.ts';
import type { Paint } from '#tools/terminal/paint.ts';
import {
  describeFixtures,
  findRunningStack,
  isAlive,
  localFiles,
  removeStackDescription,
  writeStackDescription,
} from '#shared/stage/description.ts';
import type { StackDescription } from '#shared/stage/description.ts';
import { loadDocuments } from './documents.ts';
import { interrupted } from './interrupted.ts';
import { takeLock } from './lock.ts';
import { SeedRefusedError, startStack } from './stack.ts';
import type { Stack } from './stack.ts';

function openGates(value: string): OpenGates {
  const open = new Set<GateName>();
  for (const part of value === '' ? [] : value.split(',')) {
    const gate = gates.find((name) => name === part);
    if (gate === undefined)
      throw new InvalidArgumentError(
        `It names ${JSON.stringify(part)}, which is no gate; known are ${gates.join(', ')}.`,
      );
    if (open.has(gate)) throw new InvalidArgumentError(`It names gate ${gate} twice.`);
    open.add(gate);
  }
  return open;
}

/** A stage sweeps every five minutes; nobody wants to wait for that in front of a screen. */
const SWEEP_SECONDS = 5;

/** `npm start`: the whole product on this machine, until it is interrupted. */
export async function start(): Promise<void> {
  await run(
    program(
      'npm start --',
      'Runs gateway, functions, AWS emulator and platform emulator on this machine. docs/local-runtime.md says what is what.',
    )
      .option('--port <N>', 'port of the gateway; 0 takes any free one', integer(0, 65_535), 4010)
      .option(
        '--seed <DIR>',
        'directory with the banks to load (docs/seeds.md); default: the built-in ones',
        text,
      )
      .addOption(
        new Option('--gates <LIST>', 'which gates are open, as in A,D; empty for none')
          .default<OpenGates>(new Set(gates), 'all')
          .argParser(openGates),
      )
      .addHelpText('after', examples('npm start', 'npm start -- --port 0 --seed ./my-bank'))
      .action(exits(serve)),
  );
}

interface Settings {
  readonly port: number;
  readonly seed?: string | undefined;
  readonly gates: OpenGates;
}

async function serve(settings: Settings): Promise<Result<undefined, string>> {
  const files = localFiles(process.cwd());
  const lock = await takeLock(files.lock, process.pid, (pid) => isStack(files.stack, pid));
  if (!lock.ok) {
    const other = await findRunningStack(files.stack);
    return err(
      other.ok && other.value.pid === lock.error.pid
        ? `a local stack is running already, process ${other.value.pid} at ${other.value.docsUrl}: end that one first`
        : `a local stack is starting or ending here, process ${lock.error.pid}: wait for it, or end it first (if that process is something else, delete ${files.lock})`,
    );
  }
  try {
    return await serveAlone(settings, files);
  } finally {
    await lock.value.release();
  }
}

async function serveAlone(
  settings: Settings,
  files: ReturnType<typeof localFiles>,
): Promise<Result<undefined, string>> {
  await rm(files.stack, { force: true });

  const seedDirectory = resolve(settings.seed ?? DEFAULT_SEED_DIRECTORY);
  const seed = await loadSeed(seedDirectory);
  if (!seed.ok) return err(`the seed in ${seedDirectory} cannot be used:\n${renderDefects(seed.error)}`);
  const release = offlineRelease(settings.gates);
  const served = routes.filter((route) => isReleased(route, release));
  const background = backgroundFunctions.filter((row) => isReleased(row, release));
  const built = await buildFunctions({
    only: [...served, ...background, serveSandbox].map(({ operationId }) => operationId),
  });
  if (!built.ok) return err(`the functions cannot be built:\n${built.error.join('\n')}`);

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
      sweepRunsEverySeconds: SWEEP_SECONDS,
      bundles: built.value,
      issuerKey: await loadIssuerKey(files.issuerKey),
      documents: await loadDocuments(release),
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

  const description: StackDescription = {
    ...stack.urls,
    tenants: [...stack.seededTenants.keys()].map((tenantId) => {
      const { sub, role, credentials } = localTenant(tenantId);
      return { tenantId, sub, role, playerToken: credentials.playerToken };
    }),
    fixtures: describeFixtures(
      Object.fromEntries([...stack.seededTenants].map(([tenantId, { fixtures }]) => [tenantId, fixtures])),
      sandboxIds,
    ),
    releaseKey: stack.rehearsal.releaseKey,
    pid: process.pid,
    seedDirectory,
    logFile: files.functionLog,
  };
  await writeFile(files.manifest, `${stack.rehearsal.manifest}\n`);
  await writeStackDescription(files.stack, description);
  process.stdout.write(`${welcome(description, seed.value.title, served, paint).join('\n')}\n\n`);

  await interrupted(process);
  await removeStackDescription(files.stack, process.pid);
  await stack.close();
  functionLog.end();
  accessLog.end();
  await Promise.all([finished(functionLog), finished(accessLog)]);
  return ok(undefined);
}

/** Whether the process is one of this command: an id alone may have been given to another program since. */
async function isStack(descriptionFile: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const described = await findRunningStack(descriptionFile);
  return !described.ok || described.value.pid !== pid || (await answers(described.value));
}

async function answers({ docsUrl }: StackDescription): Promise<boolean> {
  try {
    const response = await fetch(docsUrl, { signal: AbortSignal.timeout(2000) });
    return response.ok;
  } catch {
    return false;
  }
}

/** A sentence for what the user can put right; undefined for a defect. */
function explain(error: unknown, port: number, seedDirectory: string): string | undefined {
  if (error instanceof SeedRefusedError)
    return `the seed in ${seedDirectory} cannot be used:\n${error.message}`;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return `port ${port} is taken by another program: end it, or choose another port with npm start -- --port 0`;
  }
  return code === 'EACCES' ? `port ${port} may not be used here: choose one from 1024 on` : undefined;
}

function accessLine({ method, resource, status, milliseconds }: Access, paint: Paint): string {
  const colour = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
  return `${paint(colour, String(status))} ${method} ${resource ?? 'no such route'} ${paint('dim', `${milliseconds} ms`)}`;
}

/** Of how many components a printed simulation speaks: the command has to stay one that can be read. */
const SHOWN_KCS = 3;

/** What somebody who has just started the stack wants to know. The commands work as they stand. */
function welcome(
  stack: StackDescription,
  seedTitle: string,
  served: readonly Route[],
  paint: Paint,
): readonly string[] {
  const tenant = stack.tenants[0]?.tenantId ?? '';
  const mastery = stack.fixtures[tenant]?.mastery;
  const bank = mastery?.banks[0];
  const heading = (words: string): string => paint('bold', words);
  const test = {
    selectionPolicyId: bank?.selectionPolicyId,
    scaleCalibrationId: bank?.scaleCalibrationId,
    testSpecId: bank?.testSpecId,
    testBankId: bank?.testBankId,
    bankOperationId: bank?.bankOperationId,
  };
  const startBody = JSON.stringify({
    ...test,
    runMode: 'production_learner',
    resultsStudentId: mastery?.resultsStudentId,
  });
  const known = bank?.kcGuids.slice(0, SHOWN_KCS) ?? [];
  const simulationBody = JSON.stringify({
    ...test,
    profiles: [['synthetic:novice', 0] as const, ['synthetic:expert', 1] as const].map(
      ([syntheticProfileId, probability]) => ({
        syntheticProfileId,
        knownMastery: Object.fromEntries(known.map((guid) => [guid, probability])),
      }),
    ),
  });
  return [
    '',
    `${heading('mastery-reports runs on this machine')}, ready in ${(performance.now() / 1000).toFixed(1)} s.`,
    '',
    `  mastery engine     ${stack.masteryUrl}`,
    `  reports service    ${stack.reportsUrl}`,
    `  sandbox            ${stack.sandboxUrl}`,
    `  documents          ${stack.docsUrl}`,
    `  problem pages      ${stack.problemsUrl}`,
    `  platform emulator  ${stack.platformUrl}`,
    `  AWS emulator       ${stack.awsUrl}`,
    '',
    `  tenants            ${stack.tenants.map(({ tenantId }) => tenantId).join(', ')}`,
    `  seed               ${seedTitle} (${stack.fixtures[tenant]?.mastery.banks.map(({ name }) => name).join(', ') ?? ''})`,
    '',
    heading('A learner takes an adaptive test, in another terminal'),
    '',
    '  npm run journey',
    '',
    heading('The same by hand'),
    '',
    `  TOKEN=$(npm run --silent token -- --tenant ${tenant})`,
    `  curl -sS ${stack.masteryUrl}/v1/selection-policies/${encodeURIComponent(bank?.selectionPolicyId ?? '')} -H "Authorization: Bearer $TOKEN"`,
    `  curl -sS -i ${stack.masteryUrl}/v1/adaptive-runs -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -H "Idempotency-Key: first-run" -d '${startBody}'`,
    '',
    heading('How well that test recovers what is known of simulated learners'),
    '',
    `  curl -sS ${stack.masteryUrl}/v1/score-recovery-simulations -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -H "Idempotency-Key: first-simulation" -d ${shellWord(simulationBody)}`,
    '',
    ...reportCalls(stack, tenant, served, heading),
    heading('The sandbox: synthetic answers of the reports service, without a token'),
    '',
    ...sandboxCalls(stack),
    '',
    heading('An owner that is down for two calls: the next run meets it, and starts once it is back'),
    '',
    `  curl -sS -X POST ${stack.platformUrl}/_control/faults -d '{"operation":"bank.read_adaptive_pool_manifest","kind":"down","times":2}'`,
    '  npm run journey',
    '',
    heading('A gate is withdrawn: its routes answer 503 within 30 seconds; and opened again'),
    '',
    '  npm run gates -- apply --stage local --withdraw A',
    '  npm run gates -- apply .local/manifest.jws --stage local',
    '',
    heading('Where to look next'),
    '',
    '  docs/local-runtime.md    what is real here and what is an emulator; faults on demand',
    '  docs/adaptive-run.md     the states of a run, step by step',
    '  docs/score-recovery.md   what a simulation tells, and its evidence',
    '  docs/reports.md          how a report comes to be, and when there is none',
    '  docs/seeds.md            the data behind the reports, and how to bring your own',
    '  docs/release.md          gates: what opens a route, and what closes it',
    '  .local/stack.json        these addresses, and ids to call every route with',
    '  .local/logs/             what the functions log',
    '',
    'Ctrl-C ends it. Requests show up below.',
  ];
}

/** One call of each of the sandbox's routes. */
function sandboxCalls({ sandboxUrl, fixtures: { sandbox } }: StackDescription): readonly string[] {
  const { masteryGateAttempt, adaptiveDiagnosticAttempt, candidate, form } = sandbox;
  return [
    `"${sandboxUrl}/v1/attempt-reports/${masteryGateAttempt}?view=evidence"`,
    `"${sandboxUrl}/v1/attempt-reports/${adaptiveDiagnosticAttempt}?view=standards"`,
    `"${sandboxUrl}/v1/attempt-reports/${masteryGateAttempt}/readiness"`,
    `"${sandboxUrl}/v1/candidates/${candidate}/attempt-reports?limit=1"`,
    `"${sandboxUrl}/v1/forms/${form}/equivalence"`,
    `-X POST "${sandboxUrl}/v1/attempt-reports:materialize"`,
  ].map((call) => `  curl -sS ${call}`);
}

/** Calls of the reports service, of the routes whose gates are open. */
function reportCalls(
  { fixtures, reportsUrl }: StackDescription,
  tenant: string,
  served: readonly Route[],
  heading: (words: string) => string,
): readonly string[] {
  const reports = fixtures[tenant]?.reports;
  if (reports === undefined) return [];
  const { attempts, administrationOf, candidates, classes, schools, forms, students } = reports;
  const [school] = schools;
  const paths: readonly (readonly [operationId: string, path: string])[] = [
    ['readAttemptReport', `attempt-reports/${encodeURIComponent(attempts.gateFail)}?view=evidence`],
    ['readReadiness', `attempt-reports/${encodeURIComponent(attempts.gatePass)}/readiness`],
    [
      'listCandidateReports',
      `candidates/${encodeURIComponent(candidates.withHistory)}/attempt-reports?limit=5`,
    ],
    ['readClassCohort', `classes/${encodeURIComponent(classes[0] ?? '')}/cohort-report`],
    [
      'readSchoolGradeCohort',
      `schools/${encodeURIComponent(school?.schoolSourcedId ?? '')}/grades/${encodeURIComponent(school?.grade ?? '')}/cohort-report`,
    ],
    ['readEquivalence', `forms/${encodeURIComponent(forms.equivalent)}/equivalence`],
  ];
  const isServed = (operationId: string): boolean =>
    served.some((route) => route.operationId === operationId);
  const reads = paths
    .filter(([operationId]) => isServed(operationId))
    .map(([, path]) => `  curl -sS "${reportsUrl}/v1/${path}" ${bearer}`);
  const unsettled = JSON.stringify({
    attemptId: attempts.unsettled,
    administrationId: administrationOf.unsettled,
  });
  const materializing = isServed('materializeAttemptReport')
    ? [
        `  curl -sS "${reportsUrl}/v1/attempt-reports:materialize" ${bearer} -H "Content-Type: application/json" -H "Idempotency-Key: first-report" -d ${shellWord(unsettled)}`,
      ]
    : [];
  const improvement =
    isServed('analyzeAdministration') && reports.administrations.length > 0
      ? [
          '',
          heading('An administration is analyzed, and revision orders go to Bank and Blueprint'),
          '',
          ...improvementCalls(reportsUrl, reports),
        ]
      : [];
  const calls = [...reads, ...materializing, ...improvement];
  if (calls.length === 0) return [];
  const schoolSourcedIds = [...new Set(schools.map(({ schoolSourcedId }) => schoolSourcedId))];
  const claims = [
    `--studentIds ${shellList(students)}`,
    `--classSourcedIds ${shellList(classes)}`,
    `--schoolSourcedIds ${shellList(schoolSourcedIds)}`,
    `--administrationIds ${shellList([...new Set([administrationOf.unsettled, ...reports.administrations])])}`,
  ].join(' ');
  return [
    heading('Reports, for somebody who may see these students, classes, schools and administrations'),
    '',
    `  REPORTS_TOKEN=$(npm run --silent token -- --tenant ${tenant} ${claims})`,
    ...calls,
    '',
  ];
}

/** As a header of curl. */
const bearer = '-H "Authorization: Bearer $REPORTS_TOKEN"';

/** A run takes a moment: what it has not come to yet is a 503, which curl asks for again. */
function improvementCalls(
  reportsUrl: string,
  { administrations, sourceKeys }: StackDescription['fixtures'][string]['reports'],
): readonly string[] {
  const analyze = `${reportsUrl}/v1/administrations/${encodeURIComponent(administrations[0] ?? '')}/improvement-runs:analyze`;
  const run = `${reportsUrl}/v1/improvement-runs/$RUN`;
  const alignment = `curl -sf --retry 30 --retry-delay 1 "${run}/alignment-reports/${encodeURIComponent(sourceKeys[0] ?? '')}" ${bearer}`;
  const member = (path: string): string => `node -p "JSON.parse(require('fs').readFileSync(0)).${path}"`;
  return [
    `  RUN=$(curl -sS -X POST "${analyze}" ${bearer} -H "Idempotency-Key: first-analysis" | ${member('improvementRunId')})`,
    `  curl -sS "${run}" ${bearer}`,
    `  ${alignment}`,
    `  curl -sS "${run}/revision-orders?limit=5" ${bearer}`,
    `  curl -sS "$(${alignment} | ${member('receipt.downloadUrl')})"`,
  ];
}

/** Ids as one word of a shell, whatever they hold. */
function shellList(ids: readonly string[]): string {
  return shellWord(ids.join(','));
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
