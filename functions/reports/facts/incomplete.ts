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

/** Why an attempt has no report. One that only needs time or a release has a reason under which a page counts it; anything else has none. */
export type Shortfall = Problem & { readonly withheld?: WithheldReason };

/** As `incomplete`, of an attempt that cannot be a report yet although its owners contradict nobody. */
export function notYet(withheld: WithheldReason, dependency: SourceService, detail: string): Shortfall {
  return { ...incomplete(dependency, detail), withheld };
}

/** The problem of the first required source that is not current, in the order of the receipts [RP-087]. */
export function requireCurrent(receipts: readonly SourceRef[]): Problem | undefined {
  const outdated = receipts.find(({ status }) => status !== 'current');
  return outdated === undefined
    ? undefined
    : incomplete(outdated.service, 'A source that the answer needs is not current at its owner.');
}

/** An attempt that QTI has not scored is no report [RP-063]. */
export function checkScored({ evidence }: Pick<AttemptFacts, 'evidence'>): Problem | undefined {
  return evidence.value.status === 'scored'
    ? undefined
    : incomplete('qti', 'QTI has not scored the attempt.');
}
