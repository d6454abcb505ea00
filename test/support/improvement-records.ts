import { paginateScan } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localTableName } from '#shared/stage/local-stage.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { ImprovementStore } from '#shared/improvement/records.ts';
import { clientsOf } from './stack.ts';
import type { TestStack } from './stack.ts';

type Item = Readonly<Record<string, AttributeValue>>;

/** The table `improvement` of a stack, as its functions see it. */
export interface ImprovementRecords {
  readonly store: ImprovementStore;
  /** Every item, as DynamoDB holds it. */
  readonly items: () => Promise<readonly Item[]>;
}

/** Opens the improvement table of a stack. */
export function openImprovementRecords(stack: Pick<TestStack, 'urls' | 'defer'>): ImprovementRecords {
  const { dynamo } = clientsOf(stack);
  return {
    store: createImprovementTable(dynamo, localTableName('improvement'), processRuntime()),
    items: () => scanImprovement(dynamo),
  };
}

/** Every item of the improvement table. */
export async function scanImprovement(client: DynamoDBClient): Promise<readonly Item[]> {
  const pages = paginateScan({ client }, { TableName: localTableName('improvement') });
  return (await Array.fromAsync(pages)).flatMap(({ Items }) => Items ?? []);
}

type Check = (value: AttributeValue) => boolean;

const reference: Check = ({ S: text }) => text !== undefined;
const digest: Check = ({ S: text }) => /^[0-9a-f]{64}$/.test(text ?? '');
const time: Check = ({ N: text }) => /^\d{1,15}$/.test(text ?? '');
const count: Check = ({ N: text }) => /^\d{1,4}$/.test(text ?? '');
const tally: Check = ({ N: text }) => /^\d{1,9}$/.test(text ?? '');
const word: Check = ({ S: text }) => /^[a-z_/]{1,32}$/.test(text ?? '');
const flag: Check = ({ BOOL: value }) => value !== undefined;
const references: Check = ({ L: values }) => values?.every(reference) === true;
/** A part of the pins, of which no other form is written or read: shared/improvement/records.ts. */
const packed: Check = ({ B: bytes }) => bytes !== undefined;

const keys = { pk: reference, sk: reference };
const run = { tenantId: reference, improvementRunId: reference, administrationId: reference };
const bundle = { receiptSha256: digest, receiptMediaType: word };

/** What the items of each kind may hold, and the form of it: ids, versions, digests, states, times, counts. */
const attributes: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  run: {
    ...keys,
    ...run,
    ...bundle,
    classSourcedId: reference,
    schoolSourcedId: reference,
    state: word,
    createdAt: time,
    touchedAt: time,
    completedAt: time,
    parkedAt: time,
    sweeps: count,
    tries: count,
    recorded: tally,
    pinsParts: count,
  },
  pins: { ...keys, pins: packed },
  evidence: { ...keys, ...bundle, key: reference, evaluatedAt: time, comparisonOmitted: flag },
  order: {
    ...keys,
    revisionOrderId: reference,
    evidence: reference,
    targetModule: word,
    lineage: digest,
    status: word,
    supersedes: reference,
    receiptId: reference,
    receiptVersion: reference,
    observedAt: time,
    createdAt: time,
    updatedAt: time,
    blockedAt: time,
  },
  open: { ...keys, ...run },
  head: {
    ...keys,
    revisionOrderId: reference,
    supersedes: reference,
    improvementRunId: reference,
    runCreatedAt: time,
    holders: references,
    version: count,
  },
  former: { ...keys, revisionOrderId: reference, supersedes: reference },
};

/**
 * What the improvement table holds and may not, as `<kind>.<attribute>`: everything that is no workflow record of ids,
 * references, versions, digests, states, times and counts. Empty when all is well.
 */
export function undeclaredIn(items: readonly Item[]): readonly string[] {
  const found = new Set<string>();
  for (const item of items) {
    const kind = kindOf(item);
    const known = attributes[kind] ?? {};
    for (const [name, value] of Object.entries(item)) {
      if (!Object.hasOwn(known, name) || known[name]?.(value) !== true) found.add(`${kind}.${name}`);
    }
  }
  return [...found].toSorted();
}

function kindOf(item: Item): string {
  const pk = item['pk']?.S ?? '';
  const sk = item['sk']?.S ?? '';
  if (pk === 'open') return 'open';
  if (pk.startsWith('lineage#')) return /^(head$|former(?=#))/.exec(sk)?.[0] ?? 'stray';
  if (!pk.startsWith('run#')) return 'stray';
  return /^\d-(run$|pins(?=#)|evidence(?=#)|order(?=#))/.exec(sk)?.[1] ?? 'stray';
}
