import * as z from 'zod';
import { sha256 } from '#shared/contract/reports/primitives.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';

/** Returns the folder of a stage's gate flags in SSM: `<folder>/<gate>` is `open` or `closed`. */
export function gatesPath(stage: string): string {
  return `/${stage}/gates`;
}

/**
 * The parameter next to the flags that the stack of the stores creates and no command writes. If it is missing, this is not the stage's account and
 * region, or the stores are not deployed.
 */
export const markerName = 'marker';

/** Returns the parameter that names a stage's applied manifest. It is not below `gatesPath`, where it would be a gate. */
export function manifestParameter(stage: string): string {
  return `/${stage}/gates-manifest`;
}

/** Returns the parameter by which the stack of the stores names the bucket of the manifests, which is that of the receipts. */
export function bucketParameter(stage: string): string {
  return `/${stage}/stores/receipts-bucket`;
}

const reference = z.strictObject({
  /** The digest of the bytes of the compact JWS. */
  sha256,
  location: z.string().regex(/^s3:\/\/[^/\s]+\/\S+$/),
});

/** The manifest applied to a stage, and its place. */
export type ManifestReference = Readonly<z.infer<typeof reference>>;

export function formatReference({ sha256, location }: ManifestReference): string {
  return JSON.stringify({ sha256, location });
}

/** Parses the text of the parameter; returns undefined for any other text. */
export function parseReference(text: string): ManifestReference | undefined {
  const json = parseStrictJson(text);
  const parsed = reference.safeParse(json.ok ? json.value : undefined);
  return parsed.success ? parsed.data : undefined;
}
