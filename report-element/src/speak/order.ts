/**
 * Returns the ids in the order of what builds on what: as they come, but none before one that precedes it. Pairs that form a circle have no
 * order: what is on it stays as it came.
 * @param precedes pairs; those that speak of other ids are ignored
 */
export function inOrder(
  ids: readonly string[],
  precedes: readonly (readonly [before: string, after: string])[],
): readonly string[] {
  const wanted = new Set(ids);
  const before = new Map<string, string[]>();
  for (const [first, then] of precedes) {
    if (wanted.has(first) && wanted.has(then)) before.set(then, [...(before.get(then) ?? []), first]);
  }
  const placed = new Set<string>();
  const entered = new Set<string>();
  // A stack of its own: a chain may be as long as a report.
  for (const id of ids) {
    const path = [id];
    while (path.length > 0) {
      const at = path.at(-1) ?? id;
      const next = entered.has(at)
        ? undefined
        : (before.get(at) ?? []).filter((one) => !entered.has(one) && !placed.has(one));
      entered.add(at);
      if (next === undefined || next.length === 0) {
        placed.add(at);
        path.pop();
      } else path.push(...next.toReversed());
    }
  }
  return [...placed];
}
