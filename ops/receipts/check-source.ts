import { deriveSourceOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import { exactSum, nearestNumber, roundedRatio } from '#shared/kernel/decimal.ts';
import type { Check } from './check.ts';
import { differs, repeated } from './check.ts';
import { checkPolicy, compareDecisions, decisionDefects, groundsOf } from './decisions.ts';

/**
 * What the receipt of a source proves by itself. Sums and percentage are counted here from weights and flags, not by the code that made
 * the bundle.
 * @param rowFailures what the contract says against single contributions
 */
export function checkSource(receipt: SourceReceipt, rowFailures: readonly string[]): Check[] {
  const { contributions, analysisPolicy, comparison, omissions } = receipt;
  const full = contributions.filter(({ coverage, rigor }) => coverage === 1 && rigor === 1);
  const numerator = exactSum(full.map(({ weight }) => weight));
  const denominator = exactSum(contributions.map(({ weight }) => weight));
  const tampered =
    'The alignment is not what its contributions say: do not rely on it, and tell who runs the service.';
  const metricOf = (trigger: number) => analysisPolicy.triggers[trigger]?.metric;
  const onAlignment = (trigger: number) => metricOf(trigger) === 'alignment';
  const isUnjudged =
    receipt.formatVersion === 2 &&
    receipt.withheld.some(({ trigger }) => metricOf(trigger) === 'predicted_actual');
  return [
    {
      name: 'contributions',
      holds: `each of ${contributions.length} is weight × coverage × rigor, with its reason where it does not count`,
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
        ...differs('the numerator', receipt.numerator, nearestNumber(numerator)),
        ...differs('the denominator', receipt.denominator, nearestNumber(denominator)),
      ],
      remedy: tampered,
    },
    {
      name: 'percent',
      holds: `${receipt.alignmentPercent} %, half up at the sixth digit`,
      failures: differs(
        'the percentage',
        receipt.alignmentPercent,
        roundedRatio(numerator, denominator, { factor: 100n, digits: 6 }),
      ),
      remedy: tampered,
    },
    checkPolicy(receipt),
    {
      name: 'decisions',
      holds: `${receipt.decisions.length} orders by thresholds of the policy; those on the alignment follow from it`,
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
        'The orders are not what the policy asks for: do not act on them, and tell who runs the service.',
    },
    {
      name: 'omissions',
      holds: omissions.length === 0 ? 'none' : omissions.join(', '),
      failures: [
        ...(comparison === 'missing' && omissions.length === 0
          ? ['the comparison is missing and not among the omissions']
          : []),
        ...(isUnjudged && omissions.length === 0
          ? ['decisions on the comparison were withheld, and it is not among the omissions']
          : []),
        ...(comparison === null && omissions.length > 0
          ? ['a comparison is omitted that was never due']
          : []),
      ],
      remedy: 'What is missing must be named: tell who runs the service.',
    },
  ];
}
