import type { DiagnosticDetail, GateDecision } from '#shared/contract/reports/attempt-report.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { RecordHeader } from '#shared/platform/owners/results.ts';
import type { Released } from '../facts/facts.ts';
import type { Shortfall } from '../facts/incomplete.ts';

/** What is known of an attempt without its mastery rows: all that a summary shows. */
export interface HeaderFacts {
  readonly record: RecordHeader;
  readonly criteria: ReportCriteria;
  /** As QTI counted them. */
  readonly administeredItemCount: number;
}

/** What a test kind can support. A section that it cannot is null, whatever an owner holds [RP-009]. */
export interface ReportKind {
  readonly gate: (facts: HeaderFacts) => Result<GateDecision | null, Shortfall>;
  readonly diagnostic: (facts: HeaderFacts & Released) => Result<DiagnosticDetail | null, Shortfall>;
}
