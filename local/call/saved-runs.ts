import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { parsedJson } from '#local/parsed-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { readIfThere } from '#tools/terminal/file-failure.ts';

const adaptiveRun = z.object({
  continuationToken: z.string(),
  etag: z.string(),
  /** The offered item's delivery session; null when nothing is offered. */
  deliverySessionId: z.string().nullable(),
});

const savedRuns = z.object({
  /** The tenant of the runs. */
  tenantId: z.string(),
  adaptive: adaptiveRun.optional(),
  improvement: z.object({ improvementRunId: z.string() }).optional(),
});

/** The latest runs that `npm run call` has started, so that the next call can continue them. */
export type SavedRuns = Partial<z.infer<typeof savedRuns>>;

/** The members of a successful answer about a run. */
const runAnswer = z.object({
  continuationToken: z.string(),
  offeredItem: z.object({ deliverySessionId: z.string() }).nullable(),
});
const improvementAnswer = z.object({ object: z.literal('improvement_run'), improvementRunId: z.string() });

/** Reads the saved runs; none if there is no file. A sentence for what cannot be read: the next call would overwrite it, and lose the run. */
export async function readSavedRuns(file: string): Promise<Result<SavedRuns, string>> {
  const text = await readIfThere(file);
  if (!text.ok) return text;
  if (text.value === undefined) return ok({});
  const saved = savedRuns.safeParse(parsedJson(text.value));
  return saved.success
    ? ok(saved.data)
    : err(`${file} has no saved runs of this version: delete it, and start a run again`);
}

/** Writes the saved runs, readable by their owner only: a continuation token is a credential. */
export async function writeSavedRuns(file: string, runs: SavedRuns): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(runs, null, 2)}\n`, { mode: 0o600 });
}

/** Returns the saved runs after an answer: with the run that it describes, or unchanged. */
export function withAnswer(
  runs: SavedRuns,
  tenantId: string,
  answer: unknown,
  etag: string | null,
): SavedRuns {
  const own = runs.tenantId === tenantId ? runs : {};
  const run = runAnswer.safeParse(answer);
  if (run.success && etag !== null) {
    const { continuationToken, offeredItem } = run.data;
    const deliverySessionId = offeredItem?.deliverySessionId ?? null;
    return { ...own, tenantId, adaptive: { continuationToken, etag, deliverySessionId } };
  }
  const improvement = improvementAnswer.safeParse(answer);
  if (!improvement.success) return runs;
  return { ...own, tenantId, improvement: { improvementRunId: improvement.data.improvementRunId } };
}
