import { adaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import {
  ABSOLUTE_LIFETIME_MS,
  LIFETIME_MS as CONTINUATION_MS,
} from '#functions/mastery/continuation/continuation.ts';
import { LIFETIME_MS as CURSOR_MS } from '#functions/reports/cursor/cursor.ts';
import { LIFETIME_SECONDS as LINK_SECONDS } from '#functions/reports/receipts/link.ts';
import { controlLifetimeMs, controlRecord } from '#shared/idempotency/control-record.ts';
import { orderRecord, runPins, runRecord } from '#shared/improvement/records.ts';
import { LIFETIME as PROFILE_MS } from '#shared/platform/service-profiles.ts';
import { stages } from '#shared/stage/stages.ts';
import { queueDays } from '#shared/stores/tables.ts';

const HOUR_MS = 60 * 60_000;
const hours = (ms: number): string => `${ms / HOUR_MS} hours`;
const minutes = (ms: number): string => `${ms / 60_000} minutes`;
const members = (schema: { readonly shape: object }): string =>
  Object.keys(schema.shape)
    .map((name) => `\`${name}\``)
    .join(', ');

/** Renders the tables of `docs/data-protection.md`: how long what is kept, and the exact members of what is stored or sealed. */
export function renderStored(): string {
  const lifetimes = [
    [
      'idempotency record',
      `valid for ${hours(controlLifetimeMs)}, then never read; DynamoDB deletes it within a few days`,
    ],
    [
      'continuation token of a run',
      `valid for ${hours(CONTINUATION_MS)} after each renewal, at most ${ABSOLUTE_LIFETIME_MS / HOUR_MS / 24} days after the start`,
    ],
    ['cursor of a list', `valid for ${minutes(CURSOR_MS)}`],
    ['link to a receipt bundle', `valid for ${minutes(LINK_SECONDS * 1000)}`],
    ['service profile in a container', minutes(PROFILE_MS)],
    ['message of the queue', `${queueDays.runs} days; as a dead letter ${queueDays.deadLetters} days`],
  ];
  const settings = Object.entries(stages).map(
    ([name, { logRetentionDays, receiptRetention }]) =>
      `| \`${name}\` | ${logRetentionDays} | ${receiptRetention.years} |`,
  );
  const shapes = [
    ['idempotency record', controlRecord],
    ['continuation token', adaptiveRunState],
    ['improvement run', runRecord],
    ['its pinned inputs', runPins],
    ['revision order', orderRecord],
  ] as const;
  return [
    '| What | How long |\n| --- | --- |',
    ...lifetimes.map((row) => `| ${row.join(' | ')} |`),
    '\n| Stage | Logs, days (`logRetentionDays`) | Receipts, years (`receiptRetention`) |\n| --- | --- | --- |',
    ...settings,
    '\n| Record | Its members; the table adds its keys, counts, and digests of receipts |\n| --- | --- |',
    ...shapes.map(([name, schema]) => `| ${name} | ${members(schema)} |`),
  ].join('\n');
}
