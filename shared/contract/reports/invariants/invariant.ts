import type { SourceService } from '../problem.ts';

/** A contradiction that a response must not contain. */
export interface Statement {
  /** The owner whose fact is wrong, or is to be asked first. */
  readonly owner: SourceService;
  /** What is wrong with a response that violates it. A constant sentence, without values. */
  readonly broken: string;
  /** The truthful case nearest to a violation, which it permits. */
  readonly allows: string;
  /** Default: two facts that cannot both be true. `unusable`: one fact that breaks its own bounds. */
  readonly reason?: 'unusable';
}

/** A statement about the members of one response: a response that violates it cannot be true. */
export interface Invariant<T> extends Statement {
  readonly holds: (value: T) => boolean;
}

export type Invariants<T> = Readonly<Record<string, Invariant<T>>>;

type Stated<S extends Statement> = Omit<S, 'owner'> & Partial<Pick<S, 'owner'>>;
/** The rows of a table as they are written (`ownedBy`). */
export type InvariantRows<T> = Readonly<Record<string, Stated<Invariant<T>>>>;

/** Completes a table whose rows have this owner, unless a row names another one. */
export function ownedBy<const Rows extends Readonly<Record<string, Stated<Statement>>>>(
  owner: SourceService,
  rows: Rows,
): { readonly [Id in keyof Rows]: Rows[Id] & Pick<Statement, 'owner'> } {
  // SAFETY: each row has an owner.
  return Object.fromEntries(Object.entries(rows).map(([id, row]) => [id, { owner, ...row }])) as ReturnType<
    typeof ownedBy<Rows>
  >;
}

export type Broken = Pick<Statement, 'owner' | 'broken' | 'reason'> & { readonly id: string };

/** Returns the first invariant of a table, in its order, that a value violates. */
export function firstBroken<T>(table: Invariants<T>, value: T): Broken | undefined {
  for (const [id, { owner, broken, reason, holds }] of Object.entries(table))
    if (!holds(value)) return { id, owner, broken, ...(reason === undefined ? {} : { reason }) };
  return undefined;
}

/** What identifies a row in a list. Null is one value. */
export interface ListKey<Row> {
  readonly key: (row: Row) => string | readonly (string | null)[];
}

type HasLists<T> = T extends readonly unknown[]
  ? true
  : T extends object
    ? { [Name in keyof T]-?: HasLists<NonNullable<T[Name]>> }[keyof T]
    : false;

/** The key of each list of a response, at any depth, or why its rows have none; a list without either does not compile. `rows`: lists in rows. */
export type ListKeys<T> = T extends readonly (infer Row)[]
  ? (ListKey<Row> | { readonly noKey: string }) &
      (true extends HasLists<Row> ? { readonly rows: ListKeys<Row> } : unknown)
  : {
      readonly [Name in keyof T as true extends HasLists<NonNullable<T[Name]>> ? Name : never]-?: ListKeys<
        NonNullable<T[Name]>
      >;
    };

/** Returns whether no two rows of a list have the same key. */
export function areDistinct<Row>(rows: readonly Row[], list: ListKey<Row>): boolean {
  return new Set(rows.map((row) => JSON.stringify(list.key(row)))).size === rows.length;
}
