import { createRequire } from 'node:module';
import { err, ok } from '#shared/kernel/result.ts';
import { type AwsAnswer, notCovered } from './wire.ts';

/**
 * The bridge to dynalite's own modules. They are no public API (hence the exact pin of dynalite in package.json), but they allow what
 * its HTTP server does not: several operations in one critical section, in the same process.
 */

/** An attribute value in DynamoDB's JSON: one member, named for the type. */
export type AttributeValue = Readonly<Record<string, unknown>>;
export type Item = Readonly<Record<string, AttributeValue>>;

export interface TableSchema {
  readonly KeySchema: readonly { readonly AttributeName: string }[];
  readonly TableStatus: string;
}

type Callback<T> = (error: unknown, value?: T) => void;

export interface Store {
  getTable(name: string, checkStatus: boolean, callback: Callback<TableSchema>): void;
  readonly db: { close(): Promise<void> };
}

/** A request as dynalite's validation leaves it: with the parsed condition in it. */
export type Checked = Readonly<Record<string, unknown>>;

interface Validation {
  readonly types: Readonly<Record<string, unknown>>;
  readonly custom?: unknown;
}

interface Validations {
  checkTypes(data: object, types: object): Checked;
  checkValidations(data: Checked, types: object, custom: unknown, store: Store): void;
}

interface Database {
  create(options: { createTableMs: number; deleteTableMs: number; updateTableMs: number }): Store;
  checkConditional(data: Checked, existing: Item | undefined): DynaliteError | null | undefined;
  itemSize(item: Item): number;
}

interface DynaliteError {
  readonly statusCode: number;
  readonly body: { readonly __type: string; readonly message?: string; readonly Message?: string };
}

// SAFETY: the shapes above are what dynalite 4.0.0 exports; the conformance tests fail when a version changes them.
const require = createRequire(import.meta.url);
const database = require('dynalite/db') as Database;
const validations = require('dynalite/validations') as Validations;

/** What dynalite 4.0.0 implements. */
export const dynaliteOperations = [
  'BatchGetItem',
  'BatchWriteItem',
  'CreateTable',
  'DeleteItem',
  'DeleteTable',
  'DescribeTable',
  'GetItem',
  'ListTables',
  'PutItem',
  'Query',
  'Scan',
  'UpdateItem',
  'UpdateTable',
] as const;
export type DynaliteOperation = (typeof dynaliteOperations)[number];

interface Module {
  readonly validation: Validation;
  readonly action: (store: Store, data: Checked, callback: Callback<object>) => void;
}

const modules = Object.fromEntries(
  dynaliteOperations.map((operation): [DynaliteOperation, Module] => {
    const file = operation.charAt(0).toLowerCase() + operation.slice(1);
    return [
      operation,
      {
        validation: require(`dynalite/validations/${file}`) as Validation,
        action: require(`dynalite/actions/${file}`) as Module['action'],
      },
    ];
  }),
) as Record<DynaliteOperation, Module>;

export function createStore(): Store {
  return database.create({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
}

/** Validates a request as DynamoDB would; a member that dynalite would drop without a word is refused. */
export function check(
  store: Store,
  operation: DynaliteOperation,
  input: Readonly<Record<string, unknown>>,
): { readonly ok: true; readonly value: Checked } | Extract<AwsAnswer, { ok: false }> {
  const { types, custom } = modules[operation].validation;
  const unknown = Object.keys(input).find((member) => !(member in types));
  if (unknown !== undefined) return notCovered(`DynamoDB ${operation} with ${unknown}`);
  try {
    const checked = validations.checkTypes(structuredClone(input), types);
    validations.checkValidations(checked, types, custom, store);
    return ok(checked);
  } catch (thrown) {
    return asAnswer(thrown);
  }
}

export async function run(
  store: Store,
  operation: DynaliteOperation,
  input: Readonly<Record<string, unknown>>,
): Promise<AwsAnswer> {
  const checked = check(store, operation, input);
  if (!checked.ok) return checked;
  return new Promise<AwsAnswer>((resolve, reject) => {
    modules[operation].action(store, checked.value, (thrown, value) => {
      if (thrown === undefined || thrown === null) {
        resolve(ok(value ?? {}));
        return;
      }
      try {
        resolve(asAnswer(thrown));
      } catch (defect) {
        reject(defect instanceof Error ? defect : new Error(String(defect)));
      }
    });
  });
}

/** Bytes of an item as DynamoDB counts them: names and values. */
export function itemSize(item: Item): number {
  return database.itemSize(item);
}

/** Whether a checked request's condition holds for the item (undefined: there is none). */
export function conditionHolds(checked: Checked, existing: Item | undefined): boolean {
  const refusal = database.checkConditional(checked, existing);
  return refusal === null || refusal === undefined;
}

export function keyAttributes(store: Store, table: string): Promise<readonly string[] | undefined> {
  return new Promise((resolve) => {
    store.getTable(table, false, (thrown, schema) => {
      const missing = thrown !== undefined && thrown !== null;
      resolve(missing ? undefined : schema?.KeySchema.map((key) => key.AttributeName));
    });
  });
}

function asAnswer(thrown: unknown): Extract<AwsAnswer, { ok: false }> {
  if (!isDynaliteError(thrown)) throw thrown;
  const { __type, message, Message, ...extra } = thrown.body;
  return err({ status: thrown.statusCode, type: __type, message: message ?? Message ?? '', extra });
}

function isDynaliteError(thrown: unknown): thrown is DynaliteError {
  return typeof thrown === 'object' && thrown !== null && 'statusCode' in thrown && 'body' in thrown;
}
