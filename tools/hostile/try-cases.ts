import * as z from 'zod';
import type { Base, Case } from './cases.ts';
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

/**
 * Sends every case to a route, eight at a time, and after each group the sound request again: it must have the status that it had before. Rejects if the
 * address does not answer.
 */
export async function tryCases(address: URL, base: Base, cases: readonly Case[]): Promise<readonly Tried[]> {
  const sound = async (): Promise<number> => (await sendBytes(address, [wire(base)])).status ?? 0;
  const calm = await sound();
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
        const reply = await sendBytes(address, next.bytes);
        const status = reply.status ?? 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const found = differenceOf(next.one, reply, calm);
        if (found !== undefined) differences.push(`${base.operationId}: ${next.one.name}: ${found}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    const afterwards = count === 0 ? calm : await sound();
    if (afterwards !== calm)
      differences.push(
        `${base.operationId}: after group ${group} the sound request has ${afterwards} instead of ${calm}`,
      );
    if (count > 0) tried.push({ operationId: base.operationId, group, cases: count, statuses, differences });
  }
  return tried;
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
