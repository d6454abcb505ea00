import { forecastOf } from '#ops/cost/report.ts';
import { memoryOf, readPrices, readRecording } from '#ops/cost/recorded.ts';
import { callOf } from '#shared/scale/recorded.ts';
import { trafficOf } from '#shared/scale/traffic.ts';
import { figure } from '#shared/scale/walls.ts';

/** Renders the table of `docs/cost.md`: what one warm call of each route uses. */
export function renderCalls(): string {
  const recording = readRecording();
  const rows = Object.keys(recording.calls).map((operation) => {
    const call = callOf(recording, operation);
    const cells = [
      memoryOf(operation),
      `${call.owners} (${call.ownersInSequence})`,
      call.reads,
      call.writes,
      call.kms,
      call.s3Gets,
      call.s3Puts,
      call.sqs,
      figure(call.logBytes / 1_000),
    ];
    return `| \`${operation}\` | ${cells.join(' | ')} |`;
  });
  const head = [
    'Operation',
    'Memory, MB',
    'Calls of owners (in sequence)',
    'DynamoDB reads',
    'writes',
    'KMS',
    'S3 reads',
    'writes',
    'SQS',
    'Log, KB',
  ];
  return [`| ${head.join(' | ')} |`, `| --- |${' ---: |'.repeat(head.length - 1)}`, ...rows].join('\n');
}

/** Learners of the rows of `docs/scale.md`: one district to a country. */
const sizes = [10_000, 100_000, 1_000_000, 10_000_000];

/** Renders the tables of `docs/scale.md`: the bill by number of learners, and how much of each limit the busiest second uses. */
export function renderScale(): string {
  const [recording, prices] = [readRecording(), readPrices()];
  const forecasts = sizes.map((learners) => forecastOf(trafficOf(learners), 'prod', recording, prices));
  const row = (name: string, value: (forecast: (typeof forecasts)[number]) => string): string =>
    `| ${name} | ${forecasts.map(value).join(' | ')} |`;
  const first = forecasts[0];
  const shareOf = (forecast: (typeof forecasts)[number], wall: string): string => {
    const found = forecast.walls.find(({ name }) => name === wall);
    if (found === undefined) throw new TypeError(`no limit ${wall}`);
    const share = found.used / found.limit;
    const text = `${figure(100 * share)} %`;
    return share > 1 ? `**${text}**` : text;
  };
  return [
    `| Learners | ${sizes.map((size) => figure(size)).join(' | ')} |`,
    `| --- |${' ---: |'.repeat(sizes.length)}`,
    row(`${prices.currency} per month (${prices.region}, prices of ${prices.asOf})`, ({ total }) =>
      figure(total),
    ),
    row('of it without traffic', ({ idle }) => figure(idle)),
    row('Requests in the busiest second', ({ peak }) => figure(peak.requests)),
    row('Calls of owners in that second', ({ peak }) => figure(peak.ownersCalls)),
    '',
    `| Limit | There is by default | What moves it | ${sizes.map((size) => figure(size)).join(' | ')} |`,
    `| --- | ---: | --- |${' ---: |'.repeat(sizes.length)}`,
    ...(first?.walls ?? []).map(({ name, limit, unit, movedBy }) =>
      row([name, `${figure(limit)} ${unit}`, movedBy].join(' | '), (forecast) => shareOf(forecast, name)),
    ),
  ].join('\n');
}
