import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from '@commander-js/extra-typings';
import { createIssuer, readIssuerKey } from '#shared/stage/local-issuer.ts';
import { loadSeed } from '#local/seeds/load.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import { findRunningStack, localFiles } from '#shared/stage/description.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { chooseLearner, findBank, startRequest } from './journey/bank.ts';
import { browseEvidence } from './journey/browse-evidence.ts';
import { createMasteryClient, createReportsClient, MasteryReportsError, runAdaptive } from '#client/index.ts';
import type { RetryEvent } from '#client/index.ts';
import { openDrawing } from '#tools/terminal/drawing.ts';
import { improve } from './journey/improve.ts';
import { keysOf } from './journey/keys.ts';
import { createPlayer } from './journey/player.ts';
import { rowsByNeed } from '#report-element/speak/rows.ts';
import { openScreen } from './journey/screen.ts';
import { showReport } from './journey/show-report.ts';
import { openView, renderStep, renderSummary, withState } from './journey/view.ts';
import { examples, exits, integer, program, run, text } from '#tools/terminal/command.ts';
import { paintFor } from '#tools/terminal/paint.ts';

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

const command = program(
  'npm run journey --',
  'A learner takes an adaptive test over HTTP, in the stack that npm start runs in this folder. Then the command materializes the attempt, reads its report and compares the report with the result of the run. In a terminal, keys open the evidence of the report. Exits with 0 if the run is completed and, where the stack serves reports, its report agrees. With --improve: exits with 0 if the improvement run is completed.',
)
  .option('--tenant <T>', 'the tenant of the learner; default: the first tenant', text)
  .option('--bank <NAME>', 'a bank of the seed; default: the first bank', text)
  .addOption(
    new Option('--mode <MODE>', 'the run mode')
      .choices(['production_learner', 'owner_conformance'] as const)
      .default('production_learner' as const),
  )
  .option(
    '--learner <N>',
    'replays the answers of learner N of the seed (from 1) instead of simulating a learner',
    integer(1, MAX_INTEGER),
  )
  .option('--random-seed <N>', 'seed of the simulated learner', integer(0, MAX_INTEGER), 1)
  .option(
    '--delay <MS>',
    'milliseconds between items; default: 400 in a terminal, else 0',
    integer(0, 60_000),
  )
  .option('--improve', 'analyzes an administration instead, and prints the improvement run')
  .option(
    '--administration <ID>',
    'id of the administration that --improve analyzes; default: the first of the tenant',
    text,
  )
  .option('--evidence', 'prints the evidence of every row of the report, and waits for no key')
  .addHelpText(
    'after',
    examples(
      'npm run journey',
      'npm run journey -- --bank generated --random-seed 7',
      'npm run journey -- --learner 3 --delay 1500',
      'npm run journey -- --evidence',
      'npm run journey -- --improve',
    ),
  );

command.action(
  exits(async (values) => {
    const withEvidence = values.evidence === true;
    const files = localFiles(process.cwd());
    const stack = await findRunningStack(files.stack);
    if (!stack.ok) return stack;
    const { masteryUrl, reportsUrl, platformUrl, tenants, fixtures, seedDirectory } = stack.value;
    const tenant =
      values.tenant === undefined ? tenants[0] : tenants.find(({ tenantId }) => tenantId === values.tenant);
    if (tenant === undefined) {
      return err(
        `unknown tenant "${values.tenant ?? ''}": expected ${tenants.map(({ tenantId }) => tenantId).join(' or ')}`,
      );
    }
    const key = await readIssuerKey(files.issuerKey);
    if (!key.ok) return key;
    const issuer = await createIssuer(key.value);
    const caller = { tenantId: tenant.tenantId, sub: tenant.sub, role: tenant.role };
    const paint = paintFor(process.stdout, process.env);
    if (values.improve === true) {
      const [first] = fixtures[tenant.tenantId]?.reports.administrations ?? [];
      const administrationId = values.administration ?? first;
      if (administrationId === undefined)
        return err('the seed has no administration to analyze: set --administration ID');
      const drawing = openDrawing(process.stdout);
      const improved = await improve({
        reports: createReportsClient({
          baseUrl: reportsUrl,
          token: ({ scope = '' }) =>
            issuer.issueToken(
              { ...caller, scopes: [scope], administrationIds: [administrationId] },
              Date.now(),
            ),
          onRetry: (event) => drawing.keep([againIn(event)]),
        }),
        administrationId,
        space: { width: process.stdout.isTTY ? process.stdout.columns : 160, paint },
        draw: (line) => {
          if (process.stdout.isTTY) drawing.draw([line]);
        },
        write: (lines) => drawing.keep(lines),
      });
      return improved.ok ? ok(undefined) : improved;
    }

    const seed = await loadSeed(seedDirectory);
    if (!seed.ok) return err(`cannot use the seed in ${seedDirectory}:\n${renderDefects(seed.error)}`);
    const bank = findBank(seed.value, tenant.tenantId, values.bank);
    if (!bank.ok) return bank;
    const learner = chooseLearner(bank.value, values.learner, values.randomSeed);
    if (!learner.ok) return learner;
    const screen = openScreen(process.stdout, paint);
    const delay = values.delay ?? (process.stdout.isTTY ? 400 : 0);
    const mastery = createMasteryClient({
      baseUrl: masteryUrl,
      token: ({ scope = '' }) => issuer.issueToken({ ...caller, scopes: [scope] }, Date.now()),
      onRetry: (event) => screen.note(againIn(event)),
    });
    const play = createPlayer({
      platformUrl,
      tenantId: tenant.tenantId,
      playerToken: tenant.playerToken,
      learner: learner.value,
      fetch,
    });

    let view = openView(
      [tenant.tenantId, bank.value.fixture.name, values.mode, learner.value.description].join(' · '),
      bank.value.labels,
      learner.value.trueState,
    );
    if (!process.stdout.isTTY) screen.note(renderStep(view));
    const filledIn: string[] = [];
    let answered: Parameters<typeof withState>[2];
    const taken = await runAdaptive(mastery, {
      start: startRequest(bank.value, values.mode),
      play: async (item) => {
        await sleep(delay);
        const { artifactVersionId } = item;
        if (learner.value.isImputed(artifactVersionId))
          filledIn.push(bank.value.textOf(artifactVersionId).name);
        answered = { item, correct: await play(item) };
      },
      onState: ({ data }) => {
        view = withState(view, data, answered, bank.value.textOf);
        screen.show(view);
      },
    }).catch((error: unknown) => {
      if (error instanceof MasteryReportsError) return error;
      throw error;
    });
    if (taken instanceof MasteryReportsError) return err(`the run ends early: ${taken.message}`);
    const space = { width: process.stdout.isTTY ? process.stdout.columns : 160, paint };
    process.stdout.write(`\n${renderSummary(view, space).join('\n')}\n`);
    if (filledIn.length > 0)
      process.stdout.write(`\nsimulated answers, because the study has none: ${filledIn.join(', ')}\n`);
    if (values.mode === 'owner_conformance') return ok(undefined);

    const studentId = bank.value.resultsStudentId;
    const names = bank.value.reportNames;
    const shown = await showReport(
      { run: taken.data, studentId, answered: view.answers.length },
      {
        connect: (administrationIds) =>
          createReportsClient({
            baseUrl: reportsUrl,
            token:
              administrationIds === undefined
                ? undefined
                : ({ scope = '' }) =>
                    issuer.issueToken(
                      { ...caller, scopes: [scope], studentIds: [studentId], administrationIds },
                      Date.now(),
                    ),
            onRetry: (event) => process.stdout.write(`${againIn(event)}\n`),
          }),
        names,
        space,
        withEvidence,
        write: (lines) => process.stdout.write(lines),
      },
    );
    if (!shown.ok) return shown;
    const rows = shown.value === undefined ? [] : rowsByNeed(shown.value);
    const mayAsk =
      process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb' && !withEvidence;
    if (mayAsk && rows.length > 0) {
      process.stdout.write('\n');
      await browseEvidence(rows, names, keysOf(process.stdin), { output: process.stdout, paint });
    }
    return ok(undefined);
  }),
);

await run(command);

function againIn({ operation, wait, error }: RetryEvent): string {
  return `${operation} again in ${(wait / 1000).toFixed(1)} s: ${error.message}`;
}
