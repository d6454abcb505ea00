/** An owner's entities of one kind, by id; a Map is one. */
export interface EntityStore<T> {
  get(id: string): T | undefined;
  set(id: string, entity: T): unknown;
  readonly size: number;
  entries(): Iterable<readonly [string, T]>;
}

/** Entities that are made at the first request for them, by id. */
export type Generated<T> = ReadonlyMap<string, () => T>;

/**
 * Returns the entities at hand, and behind them the generated ones: these are found by their ids, but neither counted nor listed until a caller has
 * replaced one. So bulk costs nothing at a start and does not swell the listing of the control API.
 */
export function openStore<T>(
  entities: readonly T[],
  idOf: (entity: T) => string,
  generated: Generated<T> = new Map(),
): EntityStore<T> {
  const held = new Map(entities.map((entity) => [idOf(entity), entity]));
  return {
    get: (id) => held.get(id) ?? generated.get(id)?.(),
    set: (id, entity) => held.set(id, entity),
    get size() {
      return held.size;
    },
    entries: () => held.entries(),
  };
}

/** Returns the value of a function that is called once, when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
