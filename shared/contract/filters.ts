import * as z from 'zod';

/**
 * One query filter of a list. Everything about a filter derives from this entry: the query's schema, the query to the owner, the admitted rows,
 * what a cursor is bound to, and the sandbox.
 */
export interface Filter {
  readonly schema: z.ZodType<string, string>;
  /**
   * Who selects the rows of a list by the filter. `owner`: the service sends the value to the owner under the filter's name, and refuses a response
   * with a row that the filter does not admit. `service`: the service selects among the rows that it reads.
   */
  readonly appliedBy: 'owner' | 'service';
  /** The fact of a row that decides: code that selects rows does not compile without it. */
  readonly fact: string;
  /** Returns whether a row with this fact is admitted; default: if fact and value are equal. */
  readonly admits?: (fact: string, value: string) => boolean;
  /** Returns the canonical spelling of a value that has several; default: the value as sent. */
  readonly canonical?: (value: string) => string;
}

export type Filters = Readonly<Record<string, Filter>>;

/** The filter values of a request; a filter without a value admits every row. */
export type FilterValues<F extends Filters> = {
  readonly [Name in keyof F]?: z.output<F[Name]['schema']> | undefined;
};

/** The facts that decide whether a row is admitted. A fact that a row lacks (null) equals no value. */
export type FactsOf<F extends Filters> = Readonly<Record<F[keyof F]['fact'], string | null>>;

type FilterShape<F extends Filters> = { readonly [Name in keyof F]: z.ZodOptional<F[Name]['schema']> };

/**
 * Returns the filters and the query schema of a list's row, to be spread into its request.
 * @param parameters the query parameters that select no rows: sort, limit and cursor
 */
export function filteredQuery<const F extends Filters, P extends z.ZodRawShape>(
  filters: F,
  parameters: P,
): { readonly filters: F; readonly query: z.ZodObject<FilterShape<F> & P, z.core.$strict> } {
  // SAFETY: one optional member per filter, under its name.
  const optional = Object.fromEntries(
    Object.entries(filters).map(([name, { schema }]) => [name, schema.optional()]),
  ) as FilterShape<F>;
  return { filters, query: z.strictObject({ ...optional, ...parameters }) };
}

export function isSelected<F extends Filters>(filters: F, values: FilterValues<F>, row: FactsOf<F>): boolean {
  return isSelectable(filters, values, row);
}

/** Returns whether no filter refuses a row of which only some facts are known yet. */
export function isSelectable<F extends Filters>(
  filters: F,
  values: FilterValues<F>,
  row: Partial<FactsOf<F>>,
): boolean {
  const facts: Readonly<Record<string, string | null | undefined>> = row;
  return Object.entries(filters).every(([name, { fact: factName, admits }]) => {
    const [value, fact] = [values[name], facts[factName]];
    if (value === undefined || fact === undefined) return true;
    return fact !== null && (admits?.(fact, value) ?? fact === value);
  });
}

/** Returns the values of the filters that the owner applies, under their names. */
export function ownerQuery<F extends Filters>(
  filters: F,
  values: FilterValues<F>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(filters).flatMap(([name, { appliedBy }]) => {
      const value = values[name];
      return value === undefined || appliedBy === 'service' ? [] : [[name, value]];
    }),
  );
}

/** Returns a query in canonical spelling: every parameter except the cursor, which is bound to exactly these. */
export function canonicalQuery(
  filters: Filters,
  query: Readonly<Record<string, string | number | undefined>>,
): Readonly<Record<string, string | number | undefined>> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => {
      if (name === 'cursor') return [];
      const canonical = filters[name]?.canonical;
      return [[name, typeof value === 'string' && canonical !== undefined ? canonical(value) : value]];
    }),
  );
}
