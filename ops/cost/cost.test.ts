import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stages } from '#shared/stage/stages.ts';
import { billOf } from './bill.ts';
import { callOf } from '#shared/scale/recorded.ts';
import { memoryOf, readPrices, readRecording, type PriceList } from './recorded.ts';
import { forecastOf, renderForecast } from './report.ts';
import { OWN_MS, SCHOOL_SECONDS, sharesOf, trafficOf } from '#shared/scale/traffic.ts';
import { figure, wallsOf } from '#shared/scale/walls.ts';

const recording = readRecording();
const prices = readPrices();
const none = { ...trafficOf(0) };
const costs = (traffic: typeof none, list: PriceList = prices) =>
  Object.fromEntries(billOf(traffic, recording, list).map(({ unit, quantity }) => [unit, quantity]));

describe('the bill', () => {
  it('of a stage without traffic is that of its resources', () => {
    const bill = billOf(none, recording, prices);
    expect(bill.filter(({ isIdle }) => !isIdle).every(({ cost }) => cost === 0)).toBe(true);
    expect(bill.filter(({ isIdle }) => isIdle).map(({ unit, quantity }) => [unit, quantity])).toStrictEqual(
      Object.entries(recording.resources),
    );
  });

  it('multiplies what was recorded: one start, and an inspect and an advance per item', () => {
    const found = costs({ ...none, runs: 10, itemsPerRun: 15, reports: 7 });
    expect(found['API Gateway request']).toBe(10 + 2 * 150 + 7);
    const writes = (operation: string) => callOf(recording, operation).writes;
    expect(found['DynamoDB write unit']).toBe(
      10 * writes('startAdaptiveRun') +
        150 * (writes('inspectAdaptiveRun') + writes('advanceAdaptiveRun')) +
        7 * writes('readAttemptReport'),
    );
  });

  it('counts the memory of a function for as long as its owners take, one after another', () => {
    const { ownersInSequence } = callOf(recording, 'readAttemptReport');
    expect(costs({ ...none, reports: 1_000, ownerMs: 40 })['Lambda GB-second (arm64)']).toBeCloseTo(
      (OWN_MS + 40 * ownersInSequence) * (memoryOf('readAttemptReport') / 1_024),
      9,
    );
  });

  it('takes the prices that it is given', () => {
    const double = Object.fromEntries(
      Object.entries(prices.perUnit).map(([unit, price]) => [unit, 2 * price]),
    ) as PriceList['perUnit'];
    const total = (list: PriceList) => forecastOf(trafficOf(1_000), 'prod', recording, list).total;
    expect(total({ ...prices, perUnit: double })).toBeCloseTo(2 * total(prices), 9);
  });

  it.each([
    ['no price of a unit', (list: PriceList) => ({ ...list, perUnit: { 'S3 GET': 1 } }), /WAF request/],
    [
      'a unit that there is not',
      (list: PriceList) => ({ ...list, perUnit: { ...list.perUnit, tea: 1 } }),
      /tea/,
    ],
    [
      'a text as a price',
      (list: PriceList) => ({ ...list, perUnit: { ...list.perUnit, 'S3 GET': 'x' } }),
      /S3 GET/,
    ],
  ])('refuses a price list with %s, in a sentence', (_, spoil, sentence) => {
    const file = join(mkdtempSync(join(tmpdir(), 'prices-')), 'prices.json');
    writeFileSync(file, `\uFEFF${JSON.stringify(prices)}`);
    expect(readPrices(file)).toStrictEqual(prices);
    writeFileSync(file, JSON.stringify(spoil(prices)));
    expect(() => readPrices(file)).toThrow(sentence);
  });
});

describe('the limits', () => {
  it('are in the order in which growing traffic meets them', () => {
    const walls = wallsOf(trafficOf(1_000_000), recording, stages.prod);
    const shares = walls.map(({ used, limit }) => used / limit);
    expect(shares).toStrictEqual(shares.toSorted((a, b) => b - a));
  });

  it('see as many functions at once as requests come and last', () => {
    const traffic = { ...none, others: { readReadiness: SCHOOL_SECONDS * 10 }, peak: 3 };
    const [share] = sharesOf(traffic, recording);
    expect(share?.peakPerSecond).toBe(30);
    const wall = wallsOf(traffic, recording, stages.prod).find(({ unit }) => unit === 'executions');
    expect(wall?.used).toBeCloseTo((30 * (share?.milliseconds ?? NaN)) / 1_000, 9);
  });

  it('follow the settings of the stage and the quotas of the account', () => {
    const limits = (config: Parameters<typeof wallsOf>[2], account?: Parameters<typeof wallsOf>[3]) =>
      Object.fromEntries(wallsOf(none, recording, config, account).map(({ name, limit }) => [name, limit]));
    const throttle = { ratePerSecond: 7, burst: 9 };
    const warmThroughput = {
      control: { reads: 14_000, writes: 9_000 },
      settings: { reads: 15_000, writes: 4_000 },
    };
    const account = { concurrentExecutions: 10, apiRequestsPerSecond: 20 };
    expect(limits({ throttle, warmThroughput }, account)).toMatchObject({
      'throttle of the busiest route': 7,
      'requests to all APIs': 20,
      'functions at once': 10,
      'writes of a new table `control`': 9_000,
      'reads of a new table `control`': 14_000,
      'reads of a new table `settings`': 15_000,
    });
  });
});

it('rounds figures to what an estimate can bear', () => {
  expect([0.123456, 3.14159, 99.95, 1234.5, 0].map(figure)).toStrictEqual([
    '0.12',
    '3.1',
    '100',
    '1,235',
    '0',
  ]);
});

it('prints where the prices are from and how old they are', () => {
  const traffic = trafficOf(50_000);
  const text = renderForecast(forecastOf(traffic, 'prod', recording, prices), traffic, 'prod', prices);
  expect(text).toContain(`Prices of ${prices.region} as of ${prices.asOf}`);
  expect(text).toMatch(/^Total +[\d,.]+$/m);
});
