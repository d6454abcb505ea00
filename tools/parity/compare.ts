import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { parsedJson } from '#local/parsed-json.ts';
import { parityRows, type ParityRow } from './rows.ts';
import type { ServiceName } from '#shared/contract/route.ts';

const SECONDS_PER_REQUEST = 60;
const problem = z.object({ type: z.string() });

/** A server to compare: its base URL, without a slash at the end, and a token that it accepts. */
export interface ParityTarget {
  readonly url: string;
  readonly token: string | undefined;
}

/**
 * Sends one request as it is written: no client on the way resolves dots or encodes anything.
 * @returns the status and the last segment of the problem's type, or why there is no response
 */
export async function answerOf(
  { url, token }: ParityTarget,
  { method, target, headers, body, withToken }: ParityRow,
): Promise<string> {
  const { protocol, hostname, port, pathname } = new URL(url);
  const send = protocol === 'https:' ? httpsRequest : httpRequest;
  const sent = send({
    ...{ hostname, port, method, path: `${pathname.replace(/\/$/, '')}${target}` },
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
      ...(withToken && token !== undefined ? { Authorization: `Bearer ${token}` } : {}),
    },
    signal: AbortSignal.timeout(SECONDS_PER_REQUEST * 1000),
  });
  sent.end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const parsed = problem.safeParse(parsedJson(await text(response)));
    const type = parsed.success ? ` ${parsed.data.type.split('/').at(-1) ?? ''}` : '';
    return `${response.statusCode ?? 0}${type}`;
  } catch (error) {
    return `no response (${error instanceof Error && 'code' in error ? String(error.code) : String(error)})`;
  }
}

/** Sends the odd requests of a service to two servers. Returns how many were sent to each, and a line per difference, also from what is documented. */
export async function compareServers(
  service: ServiceName,
  target: ParityTarget,
  local: ParityTarget,
): Promise<{ readonly sent: number; readonly differences: readonly string[] }> {
  const rows = parityRows(service).filter(({ withToken }) => !withToken || target.token !== undefined);
  const differences: string[] = [];
  for (const row of rows) {
    const [there, here] = [await answerOf(target, row), await answerOf(local, row)];
    const { real, realStatus: status = '' } = row;
    if (there !== here)
      differences.push(
        `${row.what}: the target returns ${there}, the local gateway ${here} (known: ${real})`,
      );
    if (!there.startsWith(status))
      differences.push(`${row.what}: the target returns ${there}, and ${status} was expected (${real})`);
  }
  return { sent: rows.length, differences };
}
