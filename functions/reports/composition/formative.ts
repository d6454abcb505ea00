import { ok } from '#shared/kernel/result.ts';
import type { ReportKind } from './report-kind.ts';

/**
 * The evidence for every standard and nothing beyond: neither a gate, on which certification and readiness rest, nor a diagnostic
 * [RP-014, RP-015].
 */
export const formative: ReportKind = {
  gate: () => ok(null),
  diagnostic: () => ok(null),
};
