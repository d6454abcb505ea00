import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { Requirements } from './reports-file.ts';
import { defined } from './tenant.ts';

const slots = ['compute', 'apply', 'model'] as const;

/**
 * This many requirements, which map to the competencies by turns. In two hundred, one has no mapping, one is ambiguous, one stale and one
 * without a slot; one in `lowerOnceIn` is mapped to a lower depth of knowledge.
 */
export function generatedRequirements(
  codes: readonly string[],
  requirements: number,
  lowerOnceIn: number,
): Requirements {
  return Array.from({ length: requirements }, (_, index) => {
    const place = index % 200;
    const isLower = index % lowerOnceIn === 3;
    const dok = isLower ? 2 + (index % 3) : 1 + (index % 4);
    const mapping = {
      code: defined(codes[index % codes.length]),
      slot: place === 150 ? null : defined(slots[index % slots.length]),
      dok: isLower ? dok - 1 : dok,
      status: place === 100 ? ('stale' as const) : ('current' as const),
    };
    const other = { ...mapping, code: defined(codes[(index + 1) % codes.length]) };
    return {
      id: `R${index + 1}`,
      weight: ((index % 25) + 1) / 10,
      dok,
      mappings: place === 0 ? [] : place === 50 ? [mapping, other] : [mapping],
    };
  });
}

/** Returns what a metric measured of one of many items; every hundredth or so has a value that asks for a revision. */
export function generatedMeasures(metric: RunMetric, index: number): Record<string, number> {
  switch (metric) {
    case 'item_difficulty':
      return {
        proportion_correct: index % 50 === 0 ? 0.97 : (40 + (index % 50)) / 100,
        difficulty_difference: ((index % 11) - 5) / 100,
      };
    case 'item_discrimination':
      return {
        discrimination_index:
          index % 500 === 1 ? -0.08 : index % 100 === 1 ? 0.12 : (25 + (index % 40)) / 100,
      };
    case 'distractor_distribution':
      return {
        lowest_distractor_share: index % 100 === 2 ? 0.01 : (5 + (index % 10)) / 100,
        distractor_over_key: -0.3,
        untagged_distractors: index % 200 === 3 ? 2 : 0,
      };
    case 'form_summary':
      throw new Error('a form as a whole is one row, and written out');
  }
}
