import * as z from 'zod';
import { serviceNames, type Route, type ServiceName } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { FetchAnswer } from '#shared/network/http-client.ts';
import { closed, isReleased, type ReleaseState } from '#shared/release/release-state.ts';
import {
  SANDBOX_HOST_OUTPUT,
  SANDBOX_URL_OUTPUT,
  stackName,
  type StackId,
} from '#shared/stage/stack-names.ts';
import { failure, good, type Check, type Finding, type Subject } from './finding.ts';
import { releaseOf } from './release.ts';

/** An API waits for its functions for 29 seconds. */
const PROBE_MS = 30_000;

/** One address and what a call without credentials returns there. */
interface Probe {
  readonly name: string;
  readonly url: string;
  readonly status: number;
  /** The suffix of the problem's `type`; undefined for a page. */
  readonly problem?: string;
}

export const health: Check = async (subject) => {
  const { stage } = subject;
  const deployed = await subject.stacks();
  if (deployed.size === 0) return [];
  const read = await releaseOf(subject);
  const state = read.ok ? read.value.release : closed;
  const output = (id: StackId, name: string): string | undefined =>
    deployed.get(stackName(stage.name, id))?.outputs.get(name);
  const direct = output('sandbox', SANDBOX_HOST_OUTPUT);
  const probes = [
    ...serviceNames.map((service) => serviceProbe(service, output(service, 'BaseUrl'), state)),
    probe('receipts', output('reports', 'ReceiptsUrl'), `/${'0'.repeat(64)}`, 404, 'not-found'),
    probe('sandbox', output('documentation', SANDBOX_URL_OUTPUT), '/v1/doctor', 404, 'not-found'),
    // A caller who could avoid the distribution would have no limit per address.
    probe('sandbox', direct && `https://${direct}/${stage.name}`, '/v1/doctor', 400, 'validation'),
    probe('documentation', output('documentation', 'SiteUrl'), '/docs/index.html', 200),
  ].filter((each) => each !== undefined);
  return Promise.all(probes.map((each) => visit(each, subject)));
};

/** A released route demands a token; where none is released, any path is unknown. */
function serviceProbe(
  service: ServiceName,
  base: string | undefined,
  state: ReleaseState,
): Probe | undefined {
  const route = routes.find(
    (row: Route) => row.service === service && row.method === 'GET' && isReleased(row, state),
  );
  return route === undefined
    ? probe(service, base, '/v1/doctor', 404, service === 'mastery' ? 'resource-not-found' : 'not-found')
    : probe(service, base, route.path.replaceAll(/\{\w+\}/g, 'doctor'), 401, 'authentication-required');
}

function probe(
  name: string,
  base: string | undefined,
  path: string,
  status: number,
  problem?: string,
): Probe | undefined {
  return base === undefined
    ? undefined
    : { name, url: `${base}${path}`, status, ...(problem === undefined ? {} : { problem }) };
}

async function visit(
  { name, url, status, problem }: Probe,
  { stage, fetch: get }: Subject,
): Promise<Finding> {
  const type = problem === undefined ? undefined : `${stage.config.problemsUrl}/${problem}`;
  const expected = type === undefined ? String(status) : `${status} ${problem ?? ''}`;
  const wrong = (found: string): Finding =>
    failure(
      'no-sound-answer',
      `${name}: ${url} ${found}; expected ${expected}`,
      'docs/runbook.md; a deployment of an API takes up to a minute to be served',
      url,
    );
  try {
    // oxlint-disable-next-line no-restricted-properties -- an address that hangs is waited for in real time, for any time at which the stage is looked at
    const signal = AbortSignal.timeout(PROBE_MS);
    const response = await get(url, { method: 'GET', headers: {}, signal });
    const text = await textOf(response.body);
    if (response.status !== status) return wrong(`returned ${response.status}`);
    const found = type === undefined ? undefined : typeOf(text);
    return found === undefined || (found.ok && found.value === type)
      ? good(`${name}: ${url} returns ${expected}`)
      : wrong(`returned ${found.ok ? `the type ${found.value}` : found.error}`);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'no response within 30 s';
    return wrong(`cannot be reached (${reason})`);
  }
}

async function textOf(body: FetchAnswer['body']): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function typeOf(text: string): Result<string, string> {
  const json = parseStrictJson(text);
  if (!json.ok) return err('a body that is not JSON');
  const problem = z.object({ type: z.string() }).safeParse(json.value);
  return problem.success ? ok(problem.data.type) : err('a body without the type of a problem');
}
