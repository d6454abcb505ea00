import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import * as z from 'zod';
import { createMasteryClient, createReportsClient, ProblemError } from '#client/index.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { projectRoot } from '../../checks/checks.ts';
import { buildFolder, pythonTool, runTool } from '../python.ts';

/** A request as the drivers read it. */
export interface Call {
  readonly key: string;
  readonly operationID: string;
  readonly service: 'mastery' | 'reports';
  readonly tag: string;
  readonly url: string;
  readonly token: string;
  /** Values of the path's parameters, in their order. */
  readonly path: readonly string[];
  /** The values of path, query and headers, by their names. */
  readonly named: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const madeOfCall = z.object({
  key: z.string(),
  status: z.int().optional(),
  /** What the client decoded, encoded again. */
  answer: z.unknown().optional(),
  error: z.string().optional(),
});
export type Made = z.infer<typeof madeOfCall>;

type MakeCalls = (calls: readonly Call[]) => Promise<readonly Made[]>;

/** Makes a client ready. Fails with a sentence if its generator cannot be had. */
type Driver = () => Promise<Result<MakeCalls, string>>;

const sources = import.meta.dirname;
export const folder = join(buildFolder, 'clients');
const documents = join(projectRoot, 'docs/openapi');
const tolerant = (service: string): string => join(documents, `${service}.tolerant.json`);
const services = ['mastery', 'reports'] as const;
const SECONDS = 600;

/** Every client by the name of its language or generator. */
export const drivers: Readonly<Record<string, Driver>> = {
  typescript: () => Promise.resolve(ok((calls) => inTurn(calls, callOwn))),
  'hey-api': heyApi,
  python,
  go,
  java,
};

async function python(): Promise<Result<MakeCalls, string>> {
  const tool = await pythonTool('openapi-python-client');
  if (!tool.ok) return tool;
  const package_ = join(folder, 'python');
  const interpreter = join(tool.value, '../python');
  const source = join(projectRoot, 'client-python');
  const path = `PYTHONPATH=${package_}`;
  const setup = ['setup.py', '-q', 'egg_info', '--egg-base', folder, 'build', '--build-base', folder];
  await succeed('env', ['-C', source, interpreter, ...setup, '--build-lib', package_]);
  await succeed('env', [
    '-C',
    source,
    path,
    interpreter,
    '-B',
    '-m',
    'pytest',
    '-q',
    '-p',
    'no:cacheprovider',
  ]);
  return ok((calls) =>
    callsOfProgram('python', calls, 'env', [path, interpreter, '-B', join(sources, 'driver.py')]),
  );
}

async function go(): Promise<Result<MakeCalls, string>> {
  if (!isInstalled('go')) return err('go is not installed');
  const module = join(folder, 'go');
  const inModule = ['-C', module, `GOPATH=${join(buildFolder, 'go')}`, 'GOFLAGS=-modcacherw', 'go'];
  cpSync(join(sources, 'go'), module, { recursive: true });
  for (const service of services) {
    mkdirSync(join(module, service));
    const options = ['-generate', 'types,client', '-package', service, '-o', `${service}/client.go`];
    await succeed('env', [...inModule, 'tool', 'oapi-codegen', ...options, tolerant(service)]);
  }
  await succeed('env', [...inModule, 'build', '-o', 'driver', '.']);
  return ok((calls) => callsOfProgram('go', calls, join(module, 'driver'), []));
}

async function java(): Promise<Result<MakeCalls, string>> {
  if (!isInstalled('mvn')) return err('Maven is not installed');
  const output = join(folder, 'java');
  const pom = join(sources, 'java/pom.xml');
  const settings = [`-Dmaven.repo.local=${join(buildFolder, 'maven')}`, `-Ddocuments=${documents}`];
  const maven = ['-q', '-B', '-f', pom, ...settings, `-Doutput=${output}`];
  await succeed('mvn', [...maven, 'compile']);
  return ok((calls) =>
    callsOfProgram('java', calls, 'mvn', [...maven, 'exec:java'], (files) => [
      `-Dexec.args=${files.join(' ')}`,
    ]),
  );
}

async function heyApi(): Promise<Result<MakeCalls, string>> {
  const generator = join(projectRoot, 'tools/openapi-checkers/node_modules/@hey-api/openapi-ts/bin/run.js');
  if (!existsSync(generator))
    return err('@hey-api/openapi-ts is not installed: run npm ci --prefix tools/openapi-checkers');
  const of = new Map<string, Record<string, (options: object) => Promise<HeyAnswer>>>();
  for (const service of services) {
    const source = join(folder, 'hey-api', service);
    const options = ['--silent', '--no-log-file', '--input', tolerant(service), '--output', source];
    await succeed(process.execPath, [generator, ...options]);
    const outfile = `${source}.mjs`;
    await build({
      entryPoints: [join(source, 'index.ts')],
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile,
    });
    // SAFETY: the functions that the generator makes of the operations.
    of.set(service, (await import(pathToFileURL(outfile).href)) as never);
  }
  return ok((calls) =>
    inTurn(calls, async ({ operationID, service, url, token, named, body }) => {
      const operation = of.get(service)?.[operationID];
      if (operation === undefined) throw new Error(`no function ${operationID}`);
      const headers = { ...named, Authorization: `Bearer ${token}` };
      const { data, error, response } = await operation({
        baseUrl: url,
        path: named,
        query: queryOf(named),
        headers,
        body,
      });
      return { status: response.status, answer: data ?? error };
    }),
  );
}

interface HeyAnswer {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: { readonly status: number };
}

/** The one parameter of a query that the calls have. */
const queryOf = ({ view }: Call['named']): object => (view === undefined ? {} : { view });

async function callOwn({ operationID, service, url, token, named, body }: Call): Promise<Omit<Made, 'key'>> {
  const client = service === 'mastery' ? createMasteryClient : createReportsClient;
  const methods = client({ baseUrl: url, token }) as unknown as Record<
    string,
    (input: object, options: object) => Promise<{ readonly status: number; readonly data: unknown }>
  >;
  const { 'Idempotency-Key': idempotencyKey, 'If-Match': ifMatch, ...others } = named;
  try {
    const input = { ...others, ...(body as object | undefined), ...(ifMatch !== undefined && { ifMatch }) };
    const answer = await methods[operationID]?.(input, { idempotencyKey });
    return { status: answer?.status, answer: answer?.data };
  } catch (error) {
    if (error instanceof ProblemError) return { status: error.status, answer: error.problem };
    throw error;
  }
}

async function inTurn(
  calls: readonly Call[],
  make: (call: Call) => Promise<Omit<Made, 'key'>>,
): Promise<readonly Made[]> {
  const made: Made[] = [];
  for (const call of calls) {
    const one = await make(call).catch((error: unknown) => ({ error: String(error), status: undefined }));
    made.push({ key: call.key, ...one });
  }
  return made;
}

/** Makes the calls in another program, which reads them from a file and writes one line per call to another. */
async function callsOfProgram(
  name: string,
  calls: readonly Call[],
  file: string,
  args: readonly string[],
  withFiles = (files: readonly string[]): readonly string[] => files,
): Promise<readonly Made[]> {
  const [from, to] = [join(folder, `${name}.calls.json`), join(folder, `${name}.made.jsonl`)];
  writeFileSync(from, JSON.stringify(calls), { mode: 0o600 });
  rmSync(to, { force: true });
  await succeed(file, [...args, ...withFiles([from, to])]);
  const lines = readFileSync(to, 'utf8').trim().split('\n');
  return lines.map((line) => madeOfCall.parse(JSON.parse(line)));
}

function isInstalled(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((each) => existsSync(join(each, name)));
}

async function succeed(file: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runTool(file, args, SECONDS);
  if (code !== 0) throw new Error(`${[file, ...args].join(' ')} failed:\n${stdout}${stderr}`);
}
