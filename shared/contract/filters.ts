import * as z from 'zod';

/**
 * Who selects the rows of a list by a filter. `owner`: the value is sent to the owner under the filter's name, and an answer with a row that the
 * filter does not admit is refused. `service`: the service selects among the rows that it reads.
 */
export type AppliedBy = 'owner' | 'service';

/**
 * One query filter of a list. Everything that knows a filter derives from this entry: the query's schema, the query to the owner, the rows that
 * are admitted, what a cursor is bound to, and the sandbox.
 */
export interface Filter {
  readonly schema: z.ZodType<string, string>;
  readonly appliedBy: AppliedBy;
  /** The fact of a row that decides: whoever selects rows does not compile without it. */
  readonly fact: string;
  /** Whether a row with this fact is admitted; default: when fact and value are equal. */
  readonly admits?: (fact: string, value: string) => boolean;
  /** The one spelling of a value that has many; default: as it was sent. */
  readonly canonical?: (value: string) => string;
}

/** The filters of a list by the names of their query parameters. */
export type Filters = Readonly<Record<string, Filter>>;

/** What a request filters by; a filter that it does not name admits every row. */
export type FilterValues<F extends Filters> = {
  readonly [Name in keyof F]?: z.output<F[Name]['schema']> | undefined;
};

/** The facts that decide whether a row is admitted. One that a row does not have (null) is equal to no value. */
export type FactsOf<F extends Filters> = Readonly<Record<F[keyof F]['fact'], string | null>>;

type FilterShape<F extends Filters> = { readonly [Name in keyof F]: z.ZodOptional<F[Name]['schema']> };

/**
 * The filters and the query schema of a list's row, to be spread into its request.
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

/** Whether every filter admits a row. */
export function isSelected<F extends Filters>(filters: F, values: FilterValues<F>, row: FactsOf<F>): boolean {
  return isSelectable(filters, values, row);
}

/** Whether no filter refuses a row of which only some facts are known yet. */
export function isSelectable<F extends Filters>(
  filters: F,
  values: FilterValues<F>,
  row: Partial<FactsOf<F>>,
): boolean {
  const facts: Readonly<Record<string, string | null | undefined>> = row;
  return Object.entries(filters).every(([name, filter]) => {
    const [value, fact] = [values[name], facts[filter.fact]];
    return value === undefined || fact === undefined || isAdmitted(filter, fact, value);
  });
}

/** Whether a filter admits a fact; one that a row does not have is admitted by no value. */
function isAdmitted({ admits }: Filter, fact: string | null, value: string): boolean {
  return fact !== null && (admits?.(fact, value) ?? fact === value);
}

/** The values of the filters that the owner applies, under their names. */
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

/** What a query asks for in its one spelling: every parameter but the cursor, which is bound to exactly these. */
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
