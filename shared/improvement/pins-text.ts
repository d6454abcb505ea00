import * as z from 'zod';
import { metricStatus } from '#shared/contract/reports/improvement-run.ts';
import type { RunPins } from './records.ts';

const pin = z.strictObject({ ref: z.string(), sha256: z.string() });

const runPins: z.ZodType<RunPins> = z.strictObject({
  contentTestSpecId: z.string(),
  contentTestSpecVersion: z.string(),
  analysisPolicy: z.strictObject({
    owner: z.enum(['tenant', 'system']),
    id: z.string(),
    version: z.string(),
    checksum: z.string(),
  }),
  formulaVersion: z.string(),
  rules: z.literal('2').exactOptional(),
  sourceSet: pin,
  metrics: z.array(
    z.strictObject({
      metric: metricStatus.shape.metric,
      status: metricStatus.shape.status,
      reasonCode: metricStatus.shape.reasonCode,
      artifact: pin.nullable(),
      judged: z.enum(['all', 'some']).exactOptional(),
    }),
  ),
  sources: z.array(
    z.strictObject({
      sourceKey: z.string(),
      crosswalk: pin,
      comparison: z.union([pin, z.literal('missing'), z.null()]),
    }),
  ),
});

/** The JSON text of a run's pins; a member that pins do not have throws, so that nothing else is ever stored with them. */
export function writePins(pins: RunPins): string {
  return JSON.stringify(runPins.parse(pins));
}

/** The pins of such a text. Throws on any other one: only this file writes them. */
export function parsePins(text: string): RunPins {
  return runPins.parse(JSON.parse(text));
}
