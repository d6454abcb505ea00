import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';

/** A readable prefix and twelve hexadecimal characters that follow from the parts. */
export function opaque(prefix: string, ...parts: readonly string[]): string {
  return `${prefix}-${deterministicUuid(prefix, ...parts).slice(-12)}`;
}
