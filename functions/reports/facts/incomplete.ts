import type { WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { AttemptFacts } from './facts.ts';

/**
 * An owner answered, and what it answered does not hold a fact that the answer needs, or contradicts itself: nothing is made up in its place.
 * @param detail a constant sentence that says which fact is missing
 */
export function incomplete(dependency: SourceService, detail: string): Problem {
  return problem('reports', 'dependency-incomplete', 503, { dependency, detail });
}

/**
 * Why facts make no report of an attempt. `unsettled`: it is not scored or settled, or lacks a settled fact that its summary needs. `stale`: a
 * source is not current. `unreleased`: the release does not prove reports of its kind. `missing`: an owner lacks evidence beyond the summary.
 * `unusable`: a fact breaks its own bounds, or a limit of the answer. `contradiction`: two facts that cannot both be true.
 */
type Reason = WithheldReason | 'missing' | 'unusable' | 'contradiction';

/** The problem of facts that make no report, and why they make none: a page and readiness do not fail with each of them. */
export interface Shortfall extends Problem {
  readonly reason: Reason;
}

/** As `incomplete`, of facts that make no report of an attempt. */
export function shortfall(reason: Reason, dependency: SourceService, detail: string): Shortfall {
  return { ...incomplete(dependency, detail), reason };
}

/** The problem of the first required source that is not current, in the order of the receipts [RP-087]. */
export function requireCurrent(
  receipts: readonly Pick<SourceRef, 'service' | 'status'>[],
): Shortfall | undefined {
  const outdated = receipts.find(({ status }) => status !== 'current');
  return outdated === undefined
    ? undefined
    : shortfall('stale', outdated.service, 'A source that the answer needs is not current at its owner.');
}

/** An attempt that QTI has not scored is no report [RP-063]. */
export function checkScored({ evidence }: Pick<AttemptFacts, 'evidence'>): Shortfall | undefined {
  return evidence.value.status === 'scored'
    ? undefined
    : shortfall('unsettled', 'qti', 'QTI has not scored the attempt.');
}
