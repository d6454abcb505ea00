import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { runProgram } from '#test/support/commands.ts';
import { startLeakyProxy } from '#test/support/leaky-proxy.ts';
import { localDescription, startTestStack, type TestStack } from '#test/support/stack.ts';
import { localProof, type LocalProof } from './local.ts';
import { masterySubjects } from './mastery-subjects.ts';
import { readProof } from './receipt.ts';
import { reportsSubjects } from './reports-subjects.ts';
import { openTarget } from './target.ts';
import { exampleTenantFile, type Tenant } from './tenant-file.ts';

// Whole runs of the suite, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

let stack: TestStack;
let proof: LocalProof;
const folder = await mkdtemp(join(tmpdir(), 'proof-'));
beforeAll(async () => {
  stack = await startTestStack({ bundled: true });
  const local = await provenBy();
  if (!local.ok) throw new Error(local.error);
  proof = local.value;
  await writeFile(join(folder, 'a.json'), fileOf(proof.a));
  await writeFile(join(folder, 'b.json'), fileOf(proof.b));
});
afterAll(() => stack.close());

function provenBy(...tenantIds: string[]): ReturnType<typeof localProof> {
  return localProof(
    'reports',
    localDescription(stack),
    tenantIds,
    ({ tenantId, scopes, ...claims }) => stack.tokenFor(tenantId, scopes, claims),
    Date.now(),
  );
}

it('takes the tenants of the local stack by their ids, two different ones', async () => {
  const turned = await provenBy(proof.b.tenantId, proof.a.tenantId);
  expect(turned.ok && [turned.value.a.tenantId, turned.value.b.tenantId]).toEqual([
    proof.b.tenantId,
    proof.a.tenantId,
  ]);
  for (const tenantIds of [[proof.a.tenantId, proof.a.tenantId], ['tenant-nowhere']]) {
    const refused = await provenBy(...tenantIds);
    expect(!refused.ok && refused.error).toMatch(/two different tenants of the local stack: tenant-/);
  }
});

function fileOf({ side, reports, mastery }: Tenant): string {
  return JSON.stringify({
    tenantFileVersion: 1,
    tokens: { full: { environment: `TOKEN_${side}` }, withoutClaims: { environment: `BARE_${side}` } },
    reports,
    mastery,
  });
}

/** Runs the command in the test's folder, with the tokens in its environment. */
async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const tokens = {
    TOKEN_A: proof.a.full,
    TOKEN_B: proof.b.full,
    BARE_A: proof.a.withoutClaims,
    BARE_B: proof.b.withoutClaims,
  };
  const ended = await runProgram('ops/proof.ts', args, { folder, env: { ...tokens, ...environment } });
  for (const token of Object.values(tokens)) expect(`${ended.stdout}${ended.stderr}`).not.toContain(token);
  return ended;
}
const against = (url: string, a = 'a.json', b = 'b.json'): readonly string[] =>
  Object.entries({ target: url, 'tenant-a': a, 'tenant-b': b }).flatMap(([name, of]) => [`--${name}`, of]);
const ofMastery = (url: string, ...more: readonly string[]) => [
  ...against(url),
  '--service',
  'mastery',
  ...more,
];

describe('npm run proof', () => {
  it('proves a deployment that keeps its tenants apart, and writes a receipt that a manifest can cite [RP-024, RP-032]', async () => {
    const args = [...against(stack.urls.reportsUrl), '--rehearsal', '--out', 'receipt.json'];
    const { code, stdout, stderr } = await run(args);
    expect([stderr, code]).toEqual(['', 0]);
    expect(stdout).not.toContain('✗');
    expect(stdout).toMatch(/\d+ checks passed\n/);
    const bytes = await readFile(join(folder, 'receipt.json'));
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      `rehearsal receipt receipt.json  sha256 ${sha256Hex(bytes)}`,
    );

    const receipt = readProof(bytes);
    if (!receipt.ok) throw new Error(receipt.error);
    const { routes, checks, rehearsal, marks, service, target } = receipt.value;
    expect([service, target, rehearsal]).toEqual(['reports', stack.urls.reportsUrl, true]);
    expect(marks).toHaveLength(4);
    expect(routes.map(({ operationId, open }) => [operationId, open])).toEqual(
      routesOf('reports').map(({ operationId }) => [operationId, true]),
    );
    expect(new Set(checks.map(({ result }) => result))).toEqual(new Set(['passed']));
    // Neither a token nor anything that names a learner.
    const text = bytes.toString();
    const { attempts, candidateSourcedId, classSourcedId } = proof.a.reports!;
    for (const word of [
      proof.a.full,
      proof.b.full,
      proof.a.tenantId,
      ...Object.values(attempts),
      candidateSourcedId!,
      classSourcedId!,
    ])
      expect(text).not.toContain(word);

    const again = await run(args);
    expect([again.code, again.stderr]).toEqual([
      1,
      'receipt.json already exists: a receipt never replaces a file, choose another with --out\n',
    ]);
  });

  it('writes none of a stack on this machine without --rehearsal, and says why [RP-032]', async () => {
    const { code, stdout, stderr } = await run(ofMastery(stack.urls.masteryUrl, '--out', 'refused.json'));
    expect(code).toBe(1);
    expect(stdout).toContain('run.advance-to-stop.A: the platform’s player cannot be reached');
    expect(stderr).toMatch(
      /^warning: the target is on the loopback interface, .*\nno receipt: .* it is on the loopback interface, .* --rehearsal writes a rehearsal receipt\n$/,
    );
    await expect(readFile(join(folder, 'refused.json'))).rejects.toThrow('ENOENT');
  });

  it('writes none when a check failed, and says which, what was asked and what was found', async () => {
    const proxy = await startLeakyProxy(stack.urls.masteryUrl);
    proxy.leak = async (request, pass) => {
      const answer = await pass(request);
      if (request.target.includes('selection-policies') && answer.status === 200)
        answer.headers.set('Cache-Control', 'public');
      return answer;
    };
    const { code, stdout, stderr } = await run(ofMastery(proxy.url, '--rehearsal', '--out', 'failed.json'));
    await proxy.close();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^no receipt: \d+ of \d+ checks failed\n$/)]);
    expect(stdout).toContain(
      [
        '✗ reads.readSelectionPolicy.A  the tenant’s own resource is returned as the contract describes it',
        '    requests: GET /v1/selection-policies/{policyId} by A for its own resource',
        '    a shared cache may store the response: Cache-Control is neither no-store nor private',
      ].join('\n'),
    );
    await expect(readFile(join(folder, 'failed.json'))).rejects.toThrow('ENOENT');
  });

  it('prints an example that is a tenant file', async () => {
    const { code, stdout } = await run(['--example']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(exampleTenantFile);
  });

  it('refuses what it cannot prove anything of in a line, before it asks for more', async () => {
    const closed = createServer();
    closed.listen(0, '127.0.0.1');
    await once(closed, 'listening');
    // SAFETY: a TCP server that listens has an address of this form.
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const { urls } = stack;
    for (const [args, exit, said] of [
      [
        [...against(urls.sandboxUrl), '--out', 'no-folder/receipt.json'],
        1,
        /^cannot write no-folder\/receipt\.json: its folder does not exist or is not writable\n$/,
      ],
      [['--target', urls.reportsUrl], 2, /^missing: --tenant-a, --tenant-b \(or --local\)\n$/],
      [['--local', '--target', urls.reportsUrl], 1, /^no local stack is running/],
      [['--local', '--rehearsal'], 1, /^no local stack is running/],
      [against(urls.reportsUrl, 'tenant-aurora', 'tenant-borealis'), 1, /tenant-aurora/],
      [against('reports.school.org'), 2, /^--target is not a URL\n$/],
      // A credential stays unsaid also where the rest is no URL.
      [against('https://user:secret@reports.school.org:99999999'), 2, /^--target is not a URL\n$/],
      [against('https://user:secret@reports.school.org'), 2, /^--target must not contain a credential\n$/],
      [against(`${urls.reportsUrl}/v1`), 2, /^--target must be the base URL, without \/v1\n$/],
      [
        against(urls.sandboxUrl),
        1,
        /is the sandbox, which ignores tokens: test a deployment of the reports service\n$/,
      ],
      [against(urls.platformUrl), 1, /is not the reports service \(unknown path: /],
      [against(`http://127.0.0.1:${port}`), 1, /^cannot reach \S+: ECONNREFUSED\n$/],
      [against(urls.reportsUrl, 'a.json', 'a.json'), 1, /^both tokens are of the same tenant/],
    ] as const) {
      const { code, stdout, stderr } = await run(args);
      expect([args, code, stdout]).toEqual([args, exit, '']);
      expect(stderr).toMatch(said);
    }
  });

  it('says that a token is refused, and what an open route lacks in a file [RP-226]', async () => {
    const forged = `${proof.b.full.slice(0, -8)}AAAAAAAA`;
    const refused = await run(against(stack.urls.reportsUrl), { TOKEN_B: forged });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'the target rejected /tokens/full of tenant B: 401 authentication-required\n',
    ]);
    const { classSourcedId, ...reports } = proof.b.reports!;
    expect(classSourcedId).toBeDefined();
    await writeFile(join(folder, 'short.json'), fileOf({ ...proof.b, reports }));
    const lacking = await run(against(stack.urls.reportsUrl, 'a.json', 'short.json'));
    expect([lacking.code, lacking.stderr]).toEqual([
      1,
      [
        'the tenant files must have a resource for every open route:',
        '  the file of tenant B has no /reports/classSourcedId, for GET /v1/classes/{classSourcedId}/cohort-report',
        '',
      ].join('\n'),
    ]);
  });
});

it('asks for something of every route that there is [RP-024, MA-021]', () => {
  const target = openTarget('http://127.0.0.1:1', () => undefined);
  for (const [service, subjects] of [
    ['reports', reportsSubjects(target)],
    ['mastery', masterySubjects(target)],
  ] as const)
    expect(new Set(subjects.map(({ route }) => route))).toEqual(new Set(routesOf(service)));
  target.close();
});
