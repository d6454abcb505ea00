import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, createMasteryClient, createReportsClient } from '#client/index.ts';
import { MasteryReportsError, runAdaptive, UnexpectedAnswerError } from '#client/index.ts';
import { chooseLearner, findBank, startRequest } from '#local/journey/bank.ts';
import { createPlayer } from '#local/journey/player.ts';
import { showReport } from '#local/journey/show-report.ts';
import { listen } from '#local/loopback.ts';
import { localTenant, localTenantIds } from '#local/seeds/tenants.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import type { Stack } from '#local/stack/stack.ts';
import type { Scope } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { startProduct } from './stack.ts';
import type { Part, Tried } from './part.ts';
import { buildFolder, runTool } from './python.ts';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const folder = join(buildFolder, 'proxies');
const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];

export const proxies: Part = {
  about: 'the client through nginx with gzip, over HTTP/1.1 and over HTTP/2 with TLS',
  async run() {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'temporary'), { recursive: true });
    const runs = (file: string, ...args: readonly string[]): Promise<boolean> =>
      runTool(file, args, 20)
        .then(({ code }) => code === 0)
        .catch(() => false);
    // Debian has it where only the superuser looks.
    const program = (await runs('nginx', '-v')) ? 'nginx' : '/usr/sbin/nginx';
    if (!(await runs(program, '-v'))) return err('nginx is not installed');
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost';
    const files = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate];
    const made = await runs('openssl', ...request.split(' '), ...files);
    if (!made) return err('openssl, which makes the certificate of nginx, is not installed');
    const stack = await startProduct();
    try {
      return ok(await tryProxies(program, stack));
    } finally {
      await stack.close();
    }
  },
};

/** A configuration with nothing in it but what the part is for, so that every limit is nginx's own. */
function configurationOf(gatewayUrl: string, plain: number, encrypted: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, 'temporary', kind)};`,
  );
  const location = `location / { proxy_pass ${gatewayUrl}; proxy_http_version 1.1; }`;
  return `
daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
error_log ${join(folder, 'error.log')};
events {}
http {
  access_log ${join(folder, 'access.log')};
  ${temporary.join('\n  ')}
  gzip on;
  gzip_types application/json application/problem+json;
  server { listen 127.0.0.1:${plain}; ${location} }
  server {
    listen 127.0.0.1:${encrypted} ssl http2;
    ssl_certificate ${certificate};
    ssl_certificate_key ${key};
    ${location}
  }
}`;
}

async function tryProxies(program: string, stack: Stack): Promise<Tried> {
  const [plain, encrypted] = [await freePort(), await freePort()];
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configurationOf(new URL(stack.urls.masteryUrl).origin, plain, encrypted));
  const nginx = spawn(program, ['-p', folder, '-c', file, '-e', join(folder, 'error.log')], {
    stdio: 'ignore',
  });
  try {
    await isServing(nginx, `http://127.0.0.1:${plain}/.well-known/jwks.json`);
    const dispatcher = http2Dispatcher();
    const ways = [
      ['HTTP/1.1', `http://127.0.0.1:${plain}`, (url, init) => fetch(url, init)],
      ['HTTP/2', `https://127.0.0.1:${encrypted}`, (url, init) => fetch(url, { ...init, dispatcher })],
    ] as const satisfies readonly (readonly [string, string, Fetch])[];
    const differences: string[] = [];
    let requests = 0;
    for (const [way, origin, send] of ways) {
      let [compressed, weakened] = [0, 0];
      const observed: Fetch = async (url, init) => {
        requests += 1;
        const response = await send(url, init);
        if (response.headers.get('content-encoding') === 'gzip') compressed += 1;
        if (response.headers.get('etag')?.startsWith('W/') === true) weakened += 1;
        return response;
      };
      const found = [
        ...(await takeJourney(stack, origin, observed)),
        ...(await exceed(stack, origin, observed)),
      ];
      if (compressed === 0 || weakened === 0) found.push('nginx compressed nothing: the part proves nothing');
      differences.push(...found.map((difference) => `${way}: ${difference}`));
    }
    await dispatcher.destroy();
    return { tried: `${requests} requests`, differences };
  } finally {
    if (nginx.exitCode === null && nginx.kill()) await once(nginx, 'exit');
  }
}

/** Where a service is behind the proxy. */
const behind = (origin: string, url: string): string => `${origin}${new URL(url).pathname}`;

/** A learner takes a test and reads the report, with nothing but the client. Returns what went wrong. */
async function takeJourney(stack: Stack, origin: string, send: Fetch): Promise<readonly string[]> {
  const [tenantId] = localTenantIds;
  const seed = await loadSeed(DEFAULT_SEED_DIRECTORY);
  if (!seed.ok) throw new Error('the default seed has defects');
  const bank = findBank(seed.value, tenantId, undefined);
  const learner = bank.ok ? chooseLearner(bank.value, undefined, 1) : bank;
  if (!bank.ok || !learner.ok) throw new Error('the default seed has no learner');
  const studentId = bank.value.resultsStudentId;
  const { playerToken } = localTenant(tenantId).credentials;
  const play = createPlayer({
    platformUrl: stack.urls.platformUrl,
    tenantId,
    playerToken,
    learner: learner.value,
    fetch,
  });
  const client = (url: string, claims: Parameters<Stack['tokenFor']>[2] = {}) => ({
    baseUrl: behind(origin, url),
    token: ({ scope }: { readonly scope: string | undefined }) =>
      stack.tokenFor(tenantId, [scope as Scope], claims),
    fetch: send,
  });
  try {
    const mastery = createMasteryClient(client(stack.urls.masteryUrl));
    let answered = 0;
    const taken = await runAdaptive(mastery, {
      start: startRequest(bank.value, 'production_learner'),
      play: async (item) => {
        await play(item);
        answered += 1;
      },
    });
    const report = await showReport(
      { run: taken.data, studentId, answered },
      {
        connect: (administrationIds = []) =>
          createReportsClient(client(stack.urls.reportsUrl, { studentIds: [studentId], administrationIds })),
        names: bank.value.reportNames,
        space: { width: 160, paint: (_, text) => text },
        withEvidence: false,
        write: () => undefined,
      },
    );
    return report.ok ? [] : [report.error];
  } catch (error) {
    if (error instanceof MasteryReportsError) return [`the journey ends early: ${error.message}`];
    throw error;
  }
}

/** Exceeds what nginx takes: the client must report that something other than the service responded. */
async function exceed(stack: Stack, origin: string, send: Fetch): Promise<readonly string[]> {
  const differences: string[] = [];
  const tries = {
    'a body above 1 MiB': ['t', 'x'.repeat(2 ** 20)],
    'a token above 8 KiB, also compressed': ['t'.repeat(20_000), 'x'],
  } as const;
  for (const [what, [token, continuationToken]] of Object.entries(tries)) {
    const baseUrl = behind(origin, stack.urls.masteryUrl);
    const mastery = createMasteryClient({ baseUrl, token, fetch: send, maxRetries: 0 });
    const outcome: unknown = await mastery
      .inspectAdaptiveRun({ continuationToken })
      .catch((error: unknown) => error);
    // nginx ends a connection over HTTP/2 without a response.
    if (!(outcome instanceof UnexpectedAnswerError || outcome instanceof ConnectionError))
      differences.push(
        `${what}: ${outcome instanceof Error ? `${outcome.name}: ${outcome.message}` : 'accepted'}`,
      );
  }
  return differences;
}

/** What Node's own `fetch` needs to use HTTP/2 where the server offers it. Node exports no constructor of it. */
function http2Dispatcher(): NonNullable<RequestInit['dispatcher']> {
  // SAFETY: the one that `fetch` uses is there since the first call, of a class that takes these options.
  const { constructor: Agent } = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1')) as {
    readonly constructor: new (options: object) => NonNullable<RequestInit['dispatcher']>;
  };
  return new Agent({ allowH2: true, connect: { ca: readFileSync(certificate) } });
}

async function freePort(): Promise<number> {
  const server = createServer();
  const { port } = new URL(await listen(server, 0));
  server.close();
  return Number(port);
}

/** Resolves once nginx passes requests on. Rejects if it ends. */
async function isServing(nginx: ChildProcess, url: string): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    if (nginx.exitCode !== null)
      throw new Error(`nginx ended: ${readFileSync(join(folder, 'error.log'), 'utf8').trim()}`);
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok === true) return;
    await sleep(50);
  }
  throw new Error('nginx serves nothing');
}
