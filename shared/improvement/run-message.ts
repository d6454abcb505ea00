import * as z from 'zod';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { RunKey } from './records.ts';

const message = z.strictObject({
  tenantId: z.string().min(1),
  improvementRunId: z.string().min(1),
});

/** Writes the body of a message that names a run, in ASCII: a queue rejects some characters that a tenant's id may contain. */
export function writeRunMessage({ tenantId, improvementRunId }: RunKey): string {
  return JSON.stringify({ tenantId, improvementRunId }).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns the run that a message names; undefined for any body except `{"tenantId","improvementRunId"}`. */
export function parseRunMessage(body: string): RunKey | undefined {
  const json = parseStrictJson(body);
  const parsed = json.ok ? message.safeParse(json.value) : undefined;
  return parsed?.success === true ? parsed.data : undefined;
}

/** The queue of improvement runs. A message names a run and nothing else; it may arrive twice, late and out of order. */
export interface RunQueue {
  send(run: RunKey): Promise<void>;
}
