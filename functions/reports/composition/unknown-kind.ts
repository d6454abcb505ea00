import { ok } from '#shared/kernel/result.ts';
import type { ReportKind } from './report-kind.ts';

/** A test kind that the owners know and this service does not: score and mastery as they are settled, no section that a kind gives a meaning. */
export const unknownKind: ReportKind = {
  gate: () => ok(null),
  diagnostic: () => ok(null),
};
