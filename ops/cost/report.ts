import { stages, type StageName } from '#shared/stage/stages.ts';
import { renderTable } from '#tools/terminal/table.ts';
import { billOf, type BillLine } from './bill.ts';
import type { PriceList, Recording } from './recorded.ts';
import { sharesOf, sumOf, type Traffic } from '#shared/scale/traffic.ts';
import { figure, ownersPerSecond, wallsOf, type Wall } from '#shared/scale/walls.ts';

/** A month of a stage: what it costs, and how near its limits are. */
export interface Forecast {
  readonly bill: readonly BillLine[];
  /** In the currency of the prices. */
  readonly total: number;
  readonly idle: number;
  /** In the busiest second. */
  readonly peak: { readonly requests: number; readonly ownersCalls: number };
  readonly walls: readonly Wall[];
}

/** Computes the forecast of a stage's traffic. */
export function forecastOf(
  traffic: Traffic,
  stage: StageName,
  recording: Recording,
  prices: PriceList,
): Forecast {
  const bill = billOf(traffic, recording, prices);
  const costOf = (lines: readonly BillLine[]): number => lines.reduce((sum, { cost }) => sum + cost, 0);
  return {
    bill,
    total: costOf(bill),
    idle: costOf(bill.filter(({ isIdle }) => isIdle)),
    peak: {
      requests: sumOf(sharesOf(traffic, recording), ({ peakPerSecond }) => peakPerSecond),
      ownersCalls: ownersPerSecond(traffic, recording),
    },
    walls: wallsOf(traffic, recording, stages[stage]),
  };
}

const money = (value: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Renders a forecast for a terminal. */
export function renderForecast(
  forecast: Forecast,
  traffic: Traffic,
  stage: StageName,
  prices: PriceList,
): string {
  const { bill, total, idle, peak, walls } = forecast;
  const { currency, region, asOf } = prices;
  return [
    `A month of ${stage}: ${figure(traffic.runs)} adaptive runs of ${traffic.itemsPerRun} items, ${figure(traffic.reports)} reports${Object.entries(
      traffic.others,
    )
      .map(([operation, calls]) => `, ${figure(calls)} × ${operation}`)
      .join('')}.`,
    `Prices of ${region} as of ${asOf}, in ${currency}: ${prices.source}.`,
    '',
    renderTable([
      ['Unit', 'Quantity', currency],
      ...bill
        .filter(({ quantity }) => quantity > 0)
        .map(({ unit, quantity, cost }) => [unit, figure(quantity), money(cost)]),
      ['Total', '', money(total)],
      ['of it without any traffic', '', money(idle)],
    ]),
    '',
    `In the busiest second: ${figure(peak.requests)} requests, with ${figure(peak.ownersCalls)} calls of owners, each taken to last ${traffic.ownerMs} ms.`,
    'How much of each limit that second uses, the nearest first:',
    '',
    renderTable([
      ['Limit', 'Used', 'There is', 'Share', 'What moves it'],
      ...walls.map(({ name, used, limit, unit, movedBy }) => [
        name,
        figure(used),
        `${figure(limit)} ${unit}`,
        `${figure((100 * used) / limit)} %`,
        movedBy.replaceAll('`', ''),
      ]),
    ]),
    '',
    'docs/scale.md explains each figure, and what is left out.',
  ].join('\n');
}
