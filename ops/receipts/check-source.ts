import { deriveSourceOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import { exactSum, roundedRatio } from '#shared/kernel/decimal.ts';
import { differs, repeated, type Check } from './check.ts';
import { checkPolicy, compareDecisions, decisionDefects, groundsOf } from './decisions.ts';

/**
 * Returns what the receipt of a source proves by itself. This file computes sums and percentage from weights and flags, independently of the code that
 * created the bundle.
 * @param rowFailures contributions that violate the contract
 */
export function checkSource(receipt: SourceReceipt, rowFailures: readonly string[]): Check[] {
  const { contributions, analysisPolicy, comparison, omissions } = receipt;
  const full = contributions.filter(({ coverage, rigor }) => coverage === 1 && rigor === 1);
  const numerator = exactSum(full.map(({ weight }) => weight));
  const denominator = exactSum(contributions.map(({ weight }) => weight));
  const tampered =
    'The alignment does not follow from its contributions: do not rely on it, and report it to the operators of the service.';
  const metricOf = (trigger: number) => analysisPolicy.triggers[trigger]?.metric;
  const onAlignment = (trigger: number) => metricOf(trigger) === 'alignment';
  const isComparisonWithheld = receipt.withheld.some(
    ({ trigger }) => metricOf(trigger) === 'predicted_actual',
  );
  return [
    {
      name: 'contributions',
      holds: `each of ${contributions.length} is weight × coverage × rigor, with a reason if it does not count`,
      failures: rowFailures,
      remedy: tampered,
    },
    {
      name: 'requirements',
      holds: 'each counts once',
      failures: repeated(contributions.map(({ sourceRequirementId }) => sourceRequirementId)).map(
        (id) => `${id} counts more than once`,
      ),
      remedy: tampered,
    },
    {
      name: 'sums',
      holds: `${receipt.numerator} of ${receipt.denominator}, exactly`,
      failures: [
        ...differs('the numerator', receipt.numerator, numerator.toNumber()),
        ...differs('the denominator', receipt.denominator, denominator.toNumber()),
      ],
      remedy: tampered,
    },
    {
      name: 'percent',
      holds: `${receipt.alignmentPercent} %, rounded half up to six digits`,
      failures: differs(
        'the percentage',
        receipt.alignmentPercent,
        roundedRatio(numerator.times(100), denominator),
      ),
      remedy: tampered,
    },
    checkPolicy(receipt),
    {
      name: 'decisions',
      holds: `${receipt.decisions.length} orders by thresholds of the policy; those on the alignment follow from the alignment`,
      failures: [
        ...decisionDefects(receipt, receipt, (metric) => {
          if (metric === 'alignment') return receipt.crosswalk;
          return metric === 'predicted_actual' && typeof comparison === 'object'
            ? (comparison ?? undefined)
            : undefined;
        }),
        ...compareDecisions(
          {
            decisions: receipt.decisions.filter(({ trigger }) => onAlignment(trigger)),
            withheld: receipt.withheld.filter(({ trigger }) => onAlignment(trigger)),
          },
          deriveSourceOrders(groundsOf(receipt), {
            sourceKey: receipt.sourceKey,
            crosswalk: { ref: receipt.crosswalk.resourceId, sha256: receipt.crosswalk.sha256 },
            alignment: receipt,
          }),
        ),
      ],
      remedy:
        'The orders do not follow from the policy: do not act on them, and report it to the operators of the service.',
    },
    {
      name: 'omissions',
      holds: omissions.length === 0 ? 'none' : omissions.join(', '),
      failures: [
        ...(comparison === 'missing' && omissions.length === 0
          ? ['the comparison is missing but not among the omissions']
          : []),
        ...(isComparisonWithheld && omissions.length === 0
          ? ['decisions on the comparison were withheld, but it is not among the omissions']
          : []),
        ...((comparison === null || comparison === 'not_analyzed') && omissions.length > 0
          ? ['the omissions contain a comparison that was not due']
          : []),
      ],
      remedy: 'The receipt must list what is missing: report it to the operators of the service.',
    },
  ];
}
