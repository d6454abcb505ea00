import { adaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import {
  ABSOLUTE_LIFETIME_MS,
  LIFETIME_MS as CONTINUATION_MS,
} from '#functions/mastery/continuation/continuation.ts';
import { LIFETIME_MS as CURSOR_MS } from '#functions/reports/cursor/cursor.ts';
import { LIFETIME_SECONDS as LINK_SECONDS } from '#functions/reports/receipts/link.ts';
import { controlLifetimeMs, controlRecord } from '#shared/idempotency/control-record.ts';
import {
  evidenceRecord,
  openRun,
  orderRecord,
  runPins,
  runRecord,
  runSummary,
} from '#shared/improvement/records.ts';
import { FRESH_MS as PROFILE_MS, STALE_MS as LAST_PROFILE_MS } from '#shared/platform/service-profiles.ts';
import { stages } from '#shared/stage/stages.ts';
import { ackColumns, formerColumns, headColumns, receiptColumns } from '#shared/stores/improvement-items.ts';
import { queueDays, tables } from '#shared/stores/tables.ts';

const HOUR_MS = 60 * 60_000;
const hours = (ms: number): string => `${ms / HOUR_MS} hours`;
const minutes = (ms: number): string => (ms === 60_000 ? '1 minute' : `${ms / 60_000} minutes`);
const membersOf = (...schemas: readonly { readonly shape: object }[]): readonly string[] =>
  schemas.flatMap(({ shape }) => Object.keys(shape));

const [, control] = tables;

/** Renders the tables of `docs/data-protection.md`: how long what is kept, and the members of what is stored or sealed. */
export function renderStored(): string {
  const lifetimes = [
    [
      'idempotency record',
      `valid for ${hours(controlLifetimeMs)}, then never used; DynamoDB deletes it within a few days`,
    ],
    [
      'continuation token of a run',
      `valid for ${hours(CONTINUATION_MS)} after the start and each advance, at most ${ABSOLUTE_LIFETIME_MS / HOUR_MS / 24} days after the start`,
    ],
    ['cursor of a list', `valid for ${minutes(CURSOR_MS)}`],
    ['link to a receipt bundle', `valid for ${minutes(LINK_SECONDS * 1000)}`],
    [
      'service profile in a container',
      `${minutes(PROFILE_MS)}; while \`settings\` or KMS cannot be read, ${hours(LAST_PROFILE_MS)}, and never longer than its credential is valid`,
    ],
    ['message of the queue', `${queueDays.runs} days; as a dead letter ${queueDays.deadLetters} days`],
  ];
  const settings = Object.entries(stages).map(
    ([name, { logRetentionDays, receiptRetention }]) =>
      `| \`${name}\` | ${logRetentionDays} | ${receiptRetention.years} |`,
  );
  const shapes = [
    ['idempotency record', [...membersOf(controlRecord), control.ttl]],
    ['continuation token', membersOf(adaptiveRunState)],
    ['improvement run', membersOf(runRecord, runSummary, receiptColumns)],
    ['its pinned inputs', membersOf(runPins)],
    ['its entry in the list of open runs', membersOf(openRun)],
    ['evaluated evidence', membersOf(evidenceRecord, receiptColumns)],
    ['revision order', membersOf(orderRecord, formerColumns, ackColumns)],
    ['current order of a lineage', membersOf(headColumns)],
    ['former order of a lineage', membersOf(formerColumns)],
  ] as const;
  return [
    '| What | How long |\n| --- | --- |',
    ...lifetimes.map((row) => `| ${row.join(' | ')} |`),
    '\n| Stage | Logs, days (`logRetentionDays`) | Receipts, years (`receiptRetention`) |\n| --- | --- | --- |',
    ...settings,
    '\n| Record | Its members; the table adds its keys and counts |\n| --- | --- |',
    ...shapes.map(
      ([name, members]) =>
        `| ${name} | ${[...new Set(members)].map((member) => `\`${member}\``).join(', ')} |`,
    ),
    '\n`attemptId` of an idempotency record is a random id of who holds its lease, not of the attempt of a learner.',
  ].join('\n');
}
