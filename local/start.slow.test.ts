import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { routes } from '#shared/contract/routes.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { localFiles, stackDescription, type StackDescription } from '#shared/stage/description.ts';
import { projectFolder, runProgram } from '#test/support/commands.ts';

/** Everything is run as npm runs it, but in a folder of its own, so that `.local` is nobody else's. */
const folder = await mkdtemp(join(tmpdir(), 'start-'));
let stack: ChildProcess;
let description: StackDescription;
/** What the stack prints. */
let shown: () => string;

const run = (program: string, ...argv: string[]) => runProgram(program, argv, { folder });

/** A stack on any free port, once it has described itself in its folder. */
async function startIn(cwd: string, argv: readonly string[] = []) {
  const child = spawn(process.execPath, [join(projectFolder, 'local/start.ts'), '--port', '0', ...argv], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      output += piece.toString();
    });
  }
  await vi.waitFor(
    () => {
      expect(output).toContain('Press Ctrl-C to stop');
    },
    { timeout: 30_000 },
  );
  const described = stackDescription.parse(JSON.parse(await readFile(localFiles(cwd).stack, 'utf8')));
  return { child, shown: () => output, described };
}

/** Arms a fault of the platform, or forgets all of them. */
async function control(path: 'faults' | 'reset', body: object = {}): Promise<void> {
  const url = `${description.platformUrl}/_control/${path}`;
  expect((await fetch(url, { method: 'POST', body: JSON.stringify(body) })).ok).toBe(true);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'close');
}

beforeAll(async () => {
  ({ child: stack, shown, described: description } = await startIn(folder));
});

afterAll(() => end(stack));

describe('npm start', () => {
  it('describes itself in a file of its owner’s once everything answers', async () => {
    expect((await stat(localFiles(folder).stack)).mode & 0o777).toBe(0o600);
    expect(description.pid).toBe(stack.pid);
    expect(description.tenants.map(({ tenantId }) => tenantId)).toStrictEqual([
      'tenant-aurora',
      'tenant-borealis',
    ]);
    expect(description.fixtures['tenant-aurora']?.mastery.banks[0]?.selectionPolicyId).toBeTruthy();
    const { masteryGateAttempt } = description.fixtures.sandbox;
    const synthetic = await fetch(`${description.sandboxUrl}/v1/attempt-reports/${masteryGateAttempt}`);
    expect(synthetic.status).toBe(200);
    for (const url of [description.docsUrl, description.problemsUrl]) {
      expect((await fetch(url)).status).toBe(200);
    }
  });

  it('prints each step before it takes time, then at most 20 lines', () => {
    const [steps = '', banner = ''] = shown().split(/^(?=\nmastery-reports is running)/m);
    expect(steps).toMatch(
      /^Reading the seed …\nBundling the functions and the explorer …\nStarting the emulators/,
    );
    expect(banner.split('\n').indexOf('Press Ctrl-C to stop. Requests are listed below.')).toBeLessThan(20);
  });

  it('prints example calls that work when pasted, and serves them', { timeout: 120_000 }, async () => {
    const printed = await run('local/start.ts', '--calls');
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    expect(await (await fetch(new URL('/calls', description.docsUrl))).text()).toBe(printed.stdout);
    const [, claims = ''] = /^TOKEN=\$\(npm run --silent token -- (.*)\)$/m.exec(printed.stdout) ?? [];
    const words = claims.split(' ').map((word) => word.replaceAll("'", ''));
    const { stdout: token } = await run('local/token.ts', ...words);
    const statusOf = async (command: string): Promise<string> => {
      const shell = spawn('sh', ['-c', command.replace('curl ', "curl -o /dev/null -w '%{http_code}' ")], {
        env: { PATH: process.env['PATH'], TOKEN: token.trim() },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return text(shell.stdout);
    };
    const statuses = new Map<string, string>();
    for (const [, command = ''] of printed.stdout.matchAll(/^(curl .*)$/gm))
      statuses.set(command, await statusOf(command));
    await control('reset');
    // Every route but those that continue a run, the sandbox's routes, and the fault that is armed.
    expect(statuses.size).toBe(routes.length - 5 + Object.keys(sandboxRoutes).length + 2);
    for (const [command, status] of statuses) expect(status, command).toMatch(/^20[01]$/);
  });

  it('publishes the routes of the gates of its start, and no other [RP-018]', async () => {
    const gated = await startIn(await mkdtemp(join(tmpdir(), 'start-gates-')), ['--gates', 'A,D']);
    try {
      const published = async (service: string): Promise<readonly string[]> => {
        const response = await fetch(`${gated.described.docsUrl}/openapi/${service}.json`);
        expect(response.status).toBe(200);
        const { paths } = (await response.json()) as { paths: Readonly<Record<string, object>> };
        return Object.keys(paths);
      };
      expect(await published('reports')).toStrictEqual([
        '/v1/classes/{classSourcedId}/cohort-report',
        '/v1/schools/{schoolSourcedId}/grades/{grade}/cohort-report',
        '/v1/forms/{qtiTestId}/equivalence',
      ]);
      expect(await published('mastery')).toHaveLength(6);
      // The sandbox has no gates.
      expect(await published('sandbox')).toContain('/v1/attempt-reports/{attemptId}');
    } finally {
      await end(gated.child);
    }
  });

  it('refuses to run twice and names the one that runs', async () => {
    const second = await run('local/start.ts', '--port', '0');
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(String(stack.pid)) as string });
    expect(existsSync(localFiles(folder).stack)).toBe(true);
    expect(existsSync(localFiles(folder).lock)).toBe(true);
  });
});

describe('npm run token', () => {
  it('prints a token alone on its last line, with the claims that were asked for, and warns of a scope that no route requires', async () => {
    const { code, stdout, stderr } = await run(
      'local/token.ts',
      ...['--tenant', 'tenant-borealis', '--scope', 'mastery:read report:read'],
      ...['--studentIds', 'a,b', '--expires-in', '60'],
    );
    const claims = decodeJwt(stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(claims).toMatchObject({
      tenantId: 'tenant-borealis',
      scope: 'mastery:read report:read',
      studentIds: ['a', 'b'],
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(60);
    expect([code, stderr]).toStrictEqual([
      0,
      'warning: no route requires the scope "report:read": the scopes are mastery:run, mastery:read, mastery:simulate, reports:read, reports:write\n',
    ]);
  });
});

it.each([
  ['token', ['--tenant', 'nobody'], /unknown tenant "nobody": expected tenant-aurora or tenant-borealis/],
  ['journey', ['--tenant', 'nobody'], /unknown tenant "nobody": expected tenant-aurora or/],
  ['journey', ['--bank', 'none'], /unknown bank "none": expected fraction-subtraction or /],
  ['journey', ['--learner', '9999'], /has learners 1 to \d+/],
  ['journey', ['--improve', '--administration', 'none'], /analyzeAdministration: 404/],
])('npm run %s names what is known instead of %j', async (name, argv, message) => {
  const ended = await run(`local/${name}.ts`, ...argv);
  expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) as string });
});

describe('npm run call', () => {
  const call = (...argv: string[]) => run('local/call.ts', ...argv);

  it('calls an operation with a token and example values of its own', async () => {
    const report = await call('readAttemptReport');
    expect(report).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/ 200\nx-request-id: /) as string,
    });
    expect(JSON.parse(report.stdout)).toMatchObject({ object: 'attempt_report', mastery: [] });
    const evidence = await call('readAttemptReport', '--view', 'evidence', '--tenant', 'tenant-borealis');
    expect(JSON.parse(evidence.stdout)).toMatchObject({ omitted: ['readiness'] });
    const given = await call('materializeAttemptReport', '--body', evidence.stdout);
    expect(given).toMatchObject({ code: 1, stderr: expect.stringContaining(' 400') as string });
  });

  it('has examples in its help that work in their order, and a filter that finds what it asks for', async () => {
    const { stdout } = await call('--help');
    const examples = [
      ...stdout.matchAll(/^  npm run (?:--silent )?call -- ([^|\n]+?)(?: \| jq \.(\w+))?$/gm),
    ];
    expect(examples.length).toBeGreaterThan(4);
    for (const [line, words = '', member] of examples) {
      const ran = await call(...words.trim().split(' '));
      expect(ran.code, `${line}\n${ran.stderr}`).toBe(0);
      if (member !== undefined)
        expect((JSON.parse(ran.stdout) as Record<string, unknown>)[member], line).toBeTypeOf('string');
    }
    await rm(localFiles(folder).run);
  });

  it('prints a curl command instead that works when pasted', async () => {
    const { stdout } = await call('startAdaptiveRun', '--curl');
    // npm would look for a stack in the project's folder.
    const command = stdout.replace('npm run --silent token --', `node ${projectFolder}/local/token.ts`);
    const shell = spawn('sh', ['-c', command], {
      cwd: folder,
      env: { PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(JSON.parse(await text(shell.stdout))).toMatchObject({ status: 'in_progress' });
  });

  it('continues the run and the analysis that it started last', async () => {
    expect(await call('advanceAdaptiveRun')).toMatchObject({
      code: 1,
      stderr:
        'no saved run of tenant-aurora: start one with npm run call -- startAdaptiveRun, or set --body\n',
    });
    expect(await call('startAdaptiveRun')).toMatchObject({ code: 0 });
    const answers: string[] = [];
    for (const how of ['--correct', '--wrong']) {
      const scored = await call('answer', how);
      expect(scored).toMatchObject({ code: 0, stderr: '' });
      answers.push(scored.stdout.split('\n')[0] ?? '');
      const advanced = await call('advanceAdaptiveRun');
      expect(advanced).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('answer --correct') as string,
      });
      expect(JSON.parse(advanced.stdout)).toMatchObject({ offeredItem: { sequence: answers.length + 1 } });
    }
    expect(answers).toStrictEqual(['QTI scored the item as correct.', 'QTI scored the item as wrong.']);
    expect((await stat(localFiles(folder).run)).mode & 0o777).toBe(0o600);
    expect(await call('analyzeAdministration')).toMatchObject({ code: 0 });
    const continued = [
      'inspectAdaptiveRun',
      'readImprovementRun',
      'readAlignmentReport',
      'listRevisionOrders',
    ];
    for (const name of continued) {
      const continuing = await call(name);
      expect(continuing, name).toMatchObject({ code: 0 });
      if (name === 'inspectAdaptiveRun')
        expect(continuing.stderr).toContain('npm run call -- advanceAdaptiveRun');
    }
  });

  it('exits with 1 and names title, detail and page of a problem', async () => {
    const hidden = await call('readAttemptReport', '--attemptId', 'no-such-attempt');
    expect(hidden.code).toBe(1);
    const { title, detail } = JSON.parse(hidden.stdout) as { title: string; detail: string };
    expect(hidden.stderr).toContain(`\n${title}\n${detail}\nSee ${description.problemsUrl}/not-found\n`);
    const stale = await call('advanceAdaptiveRun', '--if-match', '"old"');
    expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining('inspectAdaptiveRun') as string });
  });
});

describe('npm run journey', () => {
  it('takes a learner to the stop, one line per item, then shows the report of this attempt, which agrees with the engine', async () => {
    const { code, stdout, stderr } = await run('local/journey.ts', '--random-seed', '3', '--evidence');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('\u001b');
    const [engine = '', report = ''] = stdout.split(/^(?=attempt report )/m);
    expect(engine).toMatch(/^item 1 \S+ (in)?correct {2}settled \d+\/8 {2}scale [\d.]+ ± [\d.]+/m);
    expect(engine).toMatch(/^stop reason +(classifications_complete|precision_target_met|max_items)$/m);
    expect(engine).toMatch(/^event +urn:uuid:/m);
    expect(engine).toMatch(/^materialized: .* \(operation op_\S+\)$/m);
    const recordIn = (text: string): string | undefined => /^results record +(?!none)(\S+)$/m.exec(text)?.[1];
    expect(recordIn(engine)).toBeTruthy();
    expect(recordIn(report)).toBe(recordIn(engine));
    expect(report).toMatch(/^ {2}item +contribution +scored at +QTI outcome, results component$/m);
    expect(report).toMatch(/^the report agrees with the engine: \d+ facts, \d knowledge components/m);
  });

  it.each([
    [
      'the report cannot be read',
      { operation: 'oneroster.read_user', kind: 'status', status: 404, times: 100 },
      /^stop reason /m,
      /^there is no report: listCandidateReports: 404 not-found: /,
    ],
    [
      'the run cannot be taken',
      { operation: 'bank.read_adaptive_pool_manifest', kind: 'version_drift', times: 100 },
      / · /,
      /^the run ends early: startAdaptiveRun: (409|502) /,
    ],
    [
      'QTI rejects an answer',
      { operation: 'qti.score_item_attempt', kind: 'status', status: 422 },
      / · /,
      /QTI rejected the attempt with status 422/,
    ],
  ])(
    'exits with 1 and the problem when %s, after what there is to show',
    async (_, fault, shows, problem) => {
      await control('faults', fault);
      const { code, stdout, stderr } = await run('local/journey.ts');
      await control('reset');
      expect([code, stderr]).toStrictEqual([1, expect.stringMatching(problem)]);
      expect(stdout).toMatch(shows);
    },
  );

  it('analyzes an administration, then shows its alignments as bars and its orders with their reasons', async () => {
    const { code, stdout, stderr } = await run('local/journey.ts', '--improve');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^ {2}\S.* █+░+ {2}\d\d\.\d\d % {2}[\d.]+ of [\d.]+; \d+ of \d+ requirements are not met$/m,
    );
    expect(stdout).toMatch(
      /^ {4}predicted and actual results agree for [\d.]+ % of \d+: \d+ predicted to pass, \d+ passed$/m,
    );
    expect(stdout).toMatch(/^ {2}bank +rotate_item +accepted +\S+-item-1, 2 CASE items$/m);
    expect(stdout).toMatch(
      /^ {4}because difficulty_out_of_band: proportion_correct is 0.97 proportion, threshold gt 0.95$/m,
    );
    expect(stdout).toMatch(/^ +http:\S+\/receipts\/\S+$/m);
  });
});

describe('npm run gates', () => {
  const gates = (...argv: string[]) => run('ops/gates.ts', ...argv);

  it(
    'shows, closes and opens the gates of the running stack, whose key it knows',
    { timeout: 120_000 },
    async () => {
      const { manifest } = localFiles(folder);
      const whole = await gates('show');
      expect(whole).toMatchObject({ code: 0, stderr: '' });
      expect(whole.stdout).toMatch(/^A +open +1 +open$/m);
      expect(whole.stdout).toMatch(/^mastery_engine_production_learner +1 +proved$/m);
      expect(whole.stdout).toMatch(/^Deployed functions: the same .*\nEvery route is open\.$/m);
      expect(await gates('verify', manifest)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/is signed for local as a rehearsal[\s\S]*F +OK +s3:/) as string,
      });

      const claims = ['--tenant', 'tenant-aurora', '--scope', 'reports:read'];
      const { stdout: token } = await run('local/token.ts', ...claims);
      const form = description.fixtures['tenant-aurora']?.reports.forms.equivalent ?? '';
      const status = async (): Promise<number> => {
        const { status: found } = await fetch(
          `${description.reportsUrl}/v1/forms/${encodeURIComponent(form)}/equivalence`,
          { headers: { Authorization: `Bearer ${token.trim()}` } },
        );
        return found;
      };
      expect(await status()).toBe(200);
      expect(await gates('apply', '--stage', 'local', '--withdraw', 'A')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /^closed A of local: their routes return 503 within 30 s; npm start -- --gates LIST removes them$/m,
        ) as string,
      });
      await vi.waitFor(
        async () => {
          expect(await status()).toBe(503);
        },
        { timeout: 30_000, interval: 500 },
      );
      expect((await gates('show')).stdout).toMatch(/^Next: A would open readClassCohort, /m);

      expect(await gates('apply', manifest, '--stage', 'local')).toMatchObject({ code: 0 });
      expect((await gates('show')).stdout).toMatch(/^Every route is open\.$/m);
    },
  );
});

describe('the end', () => {
  it('removes description and lock in the middle of a call that a fault delays, and the commands then say how to start', async () => {
    const { tenantId = '', playerToken = '' } = description.tenants[0] ?? {};
    await control('faults', { operation: 'qti.score_item_attempt', kind: 'latency', milliseconds: 120_000 });
    const armed = async (): Promise<unknown> =>
      (await fetch(`${description.platformUrl}/_control/faults`)).json();
    const delayed = fetch(
      `${description.platformUrl}/tenants/${tenantId}/qti/delivery-sessions/none/attempts`,
      { method: 'POST', headers: { Authorization: `Bearer ${playerToken}` } },
    ).catch(() => 'cut off');
    await expect.poll(armed).toStrictEqual({ faults: [] });
    stack.kill('SIGTERM');
    await once(stack, 'close');
    expect(await delayed).toBe('cut off');
    expect(stack.exitCode).toBe(0);
    expect(existsSync(localFiles(folder).stack)).toBe(false);
    expect(existsSync(localFiles(folder).lock)).toBe(false);
    for (const program of ['local/token.ts', 'local/journey.ts']) {
      const ended = await run(program, '--tenant', 'tenant-aurora');
      expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('npm start') as string });
    }
  });

  it('refuses while another one is starting, and names it', async () => {
    // This process is alive, and nothing describes a stack of its own.
    await writeFile(localFiles(folder).lock, `${process.pid}\n`);
    const refused = await run('local/start.ts', '--port', '0');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`starting or stopping in this folder \\(process ${process.pid}\\): `),
      ) as string,
    });
    await rm(localFiles(folder).lock);
  });

  it('names what is wrong with a seed', async () => {
    await writeFile(join(folder, 'seed.json'), '{"name":"x"}');
    const ended = await run('local/start.ts', '--port', '0', '--seed', folder);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/seed\.json/);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });
});
