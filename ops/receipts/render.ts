import type { ReceiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import type { Paint } from '#tools/terminal/paint.ts';
import { plainText } from '#tools/terminal/plain-text.ts';
import type { Check } from './check.ts';

const BAR = 40;
/** Failures of one check that are shown; a bundle of 10,000 rows may have as many. */
const SHOWN = 10;

/** Returns the summary of a bundle, with its alignment as a bar. */
export function renderReceipt(receipt: ReceiptBundle, paint: Paint): readonly string[] {
  const run = plainText(receipt.improvementRunId);
  const blueprint = plainText(`blueprint ${receipt.contentTestSpecId} ${receipt.contentTestSpecVersion}`);
  if (receipt.object === 'source_receipt') {
    const { sourceAssessment, sourceVersion, alignmentPercent, numerator, denominator, contributions } =
      receipt;
    return [
      `Receipt of the source ${receipt.sourceKey} in ${run}`,
      `${plainText(`${sourceAssessment} (${sourceVersion})`)}, ${blueprint}`,
      '',
      `alignment  ${bar(alignmentPercent, paint)}  ${alignmentPercent} %`,
      `           ${numerator} of ${denominator}, ${contributions.length} requirements`,
      '',
    ];
  }
  const statuses = Object.entries(Object.groupBy(receipt.orders, ({ status }) => status));
  const orders = statuses.map(([status, some]) => `${some.length} ${status}`).join(', ');
  return [
    `Receipt of ${run}`,
    `administration ${plainText(receipt.administrationId)}, ${blueprint}`,
    '',
    `sources  ${receipt.sources.map(({ sourceKey }) => sourceKey).join(', ') || 'none'}`,
    `orders   ${orders || 'none'}`,
    '',
  ];
}

/** Returns one line per check; below a failed one, what to do. */
export function renderChecks(checks: readonly Check[], paint: Paint): readonly string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.flatMap((check) => {
    const { name, holds, failures, remedy, skipped } = check;
    const line = (verdict: string, text: string) => `${verdict}  ${name.padEnd(width)}  ${plainText(text)}`;
    if (skipped !== undefined) return [line(paint('yellow', '-     '), skipped)];
    if (failures.length === 0) return [line(paint('green', 'OK    '), holds)];
    const [first = '', ...others] = failures.slice(0, SHOWN);
    const more = failures.length - SHOWN;
    const indent = ' '.repeat(width + 10);
    return [
      line(paint('red', 'FAILED'), first),
      ...others.map((failure) => `${indent}${plainText(failure)}`),
      ...(more > 0 ? [`${indent}and ${more} more`] : []),
      `${indent}→ ${remedy}`,
    ];
  });
}

/** Returns a percentage as a bar; only 100 fills it, only 0 leaves it empty. */
function bar(percent: number, paint: Paint): string {
  const nearest = Math.round((percent / 100) * BAR);
  const filled = percent <= 0 ? 0 : percent >= 100 ? BAR : Math.min(BAR - 1, Math.max(1, nearest));
  return `${paint('green', '█'.repeat(filled))}${'░'.repeat(BAR - filled)}`;
}
