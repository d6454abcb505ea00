import * as z from 'zod';
import type { Aim, Case } from './cases.ts';
import { CANARY, wire } from './cases.ts';
import { sendBytes, type Reply } from './send.ts';

/** What the cases of a group came to under a route. */
export interface Tried {
  readonly operationId: string;
  readonly group: string;
  readonly cases: number;
  /** How often each status came back; 0 is a connection that was closed. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly differences: readonly string[];
}

const problem = z.object({ type: z.string(), status: z.int() });

/** How a route is tried. */
interface Manner {
  /** How many cases are sent at once. */
  readonly atOnce: number;
  /** Whether the sound request must be served, and not only answered. */
  readonly isServed: boolean;
}

/** How often a case is sent again that the rate of requests refused. */
const REPEATS = 10;

/**
 * Sends every case to a route, and after each group the sound request again: it must have the status that it had before. Rejects if the
 * address does not answer.
 */
export async function tryCases(
  { address, base }: Aim,
  cases: readonly Case[],
  { atOnce, isServed }: Manner,
): Promise<readonly Tried[]> {
  const sound = async (): Promise<number> => (await sendPatiently(address, [wire(base)])).status ?? 0;
  const calm = await sound();
  if (calm === 0 || calm >= (isServed ? 300 : 500))
    throw new Error(`the sound request has ${calm || 'no answer'}`);
  const tried: Tried[] = [];
  for (const [group, ofGroup] of Map.groupBy(cases, (each) => each.group)) {
    const statuses = new Map<number, number>();
    const differences: string[] = [];
    const waiting = ofGroup.flatMap((one) => {
      const bytes = one.bytes(base);
      return bytes === undefined ? [] : [{ one, bytes }];
    });
    const count = waiting.length;
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const reply = await sendPatiently(address, next.bytes);
        const status = reply.status ?? 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const found = differenceOf(next.one, reply, calm);
        if (found !== undefined) differences.push(`${base.operationId}: ${next.one.name}: ${found}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    const afterwards = count === 0 ? calm : await sound();
    if (afterwards !== calm)
      differences.push(
        `${base.operationId}: after group ${group} the sound request has ${afterwards} instead of ${calm}`,
      );
    if (count > 0) tried.push({ operationId: base.operationId, group, cases: count, statuses, differences });
  }
  return tried;
}

/** Sends bytes, and again as long as the service answers that there are too many requests. */
async function sendPatiently(address: URL, bytes: readonly Buffer[]): Promise<Reply> {
  let reply = await sendBytes(address, bytes);
  for (let repeat = 0; reply.status === 429 && repeat < REPEATS; repeat++) {
    await new Promise((resolve) =>
      setTimeout(resolve, 1000 * Math.max(1, Number(reply.headers.get('retry-after') ?? 1))),
    );
    reply = await sendBytes(address, bytes);
  }
  return reply;
}

/** Returns what is wrong with a reply, in a sentence; undefined if nothing is. */
export function differenceOf(
  { expected, isOfTransport = false }: Case,
  reply: Reply,
  calm: number,
): string | undefined {
  const { status, headers, body, raw, isSilent } = reply;
  if (raw.includes(CANARY)) return 'the response repeats what was sent';
  if (isSilent)
    return status === undefined ? 'no answer, and an open connection' : 'an answer that does not end';
  const is = expected.map((one) => (one === 'calm' ? calm : one === 'closed' ? undefined : one));
  if (!is.includes(status)) return `${status ?? 'closed'} instead of ${expected.join(', ')}`;
  if (status === undefined || status < 400 || status === calm) return undefined;
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json') === true;
  if (!isProblem) return isOfTransport ? undefined : `${status} without a problem document`;
  const parsed = problem.safeParse(jsonOf(body));
  if (!parsed.success) return `${status} with a malformed problem document`;
  return parsed.data.status === status
    ? undefined
    : `${status} with a problem of status ${parsed.data.status}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
