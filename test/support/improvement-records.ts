import { paginateScan, type AttributeValue, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localTableName } from '#shared/stage/local-stage.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { ImprovementStore } from '#shared/improvement/records.ts';
import { clientsOf, type TestStack } from './stack.ts';

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

/** What items may hold, and the form of it: ids, versions, digests, states, times and counts. */
const attributes: readonly (readonly [names: readonly string[], Check])[] = [
  [
    ['pk', 'sk', 'tenantId', 'improvementRunId', 'administrationId', 'classSourcedId', 'schoolSourcedId'],
    reference,
  ],
  [['key', 'evidence', 'revisionOrderId', 'supersedes', 'receiptId', 'receiptVersion'], reference],
  [['holders'], ({ L: values }) => values?.every(reference) === true],
  [['lineage', 'receiptSha256'], ({ S: text }) => /^[0-9a-f]{64}$/.test(text ?? '')],
  [
    ['state', 'status', 'targetModule', 'receiptMediaType'],
    ({ S: text }) => /^[a-z_/]{1,32}$/.test(text ?? ''),
  ],
  [['createdAt', 'touchedAt', 'completedAt', 'parkedAt', 'evaluatedAt', 'observedAt'], isTime],
  [['updatedAt', 'blockedAt', 'runCreatedAt'], isTime],
  [['sweeps', 'tries', 'recorded', 'pinsParts', 'version'], ({ N: text }) => /^\d{1,9}$/.test(text ?? '')],
  [['comparisonOmitted'], ({ BOOL: value }) => value !== undefined],
  // A part of the pins, of which no other form is written or read: shared/improvement/records.ts.
  [['pins'], ({ B: bytes }) => bytes !== undefined],
];
const checks = new Map(attributes.flatMap(([names, check]) => names.map((name) => [name, check])));

function isTime({ N: text }: AttributeValue): boolean {
  return /^\d{1,15}$/.test(text ?? '');
}

/**
 * What the improvement table holds and may not, as `<kind>.<attribute>`: everything that is no workflow record of ids,
 * references, versions, digests, states, times and counts. Empty when all is well.
 */
export function undeclaredIn(items: readonly Item[]): readonly string[] {
  const found = new Set<string>();
  for (const item of items) {
    const kind = kindOf(item);
    for (const [name, value] of Object.entries(item))
      if (kind === 'stray' || checks.get(name)?.(value) !== true) found.add(`${kind}.${name}`);
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
