type Neighbours = (id: string) => readonly string[];

/** Returns everything that can be reached from the roots, and each id after its neighbours unless they form a circle with it. */
function afterNeighbours(roots: readonly string[], neighboursOf: Neighbours): readonly string[] {
  const placed = new Set<string>();
  const entered = new Set<string>();
  // A stack of its own: a chain may be as long as a report.
  for (const root of roots) {
    const path = [root];
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const isEntered = entered.has(at);
      entered.add(at);
      if (isEntered) placed.add(path.pop() ?? at);
      else
        path.push(
          ...neighboursOf(at)
            .filter((one) => !entered.has(one))
            .toReversed(),
        );
    }
  }
  return [...placed];
}

function neighbours(pairs: readonly (readonly [from: string, to: string])[]): Neighbours {
  const known = Map.groupBy(pairs, ([from]) => from);
  return (id) => (known.get(id) ?? []).map(([, to]) => to);
}

interface Order {
  /** As they come, but none before one that precedes it. */
  readonly ids: readonly string[];
  /** Returns those of the ids that come last before this one, in their order. */
  readonly before: Neighbours;
}

/**
 * Returns the ids in the order of what builds on what, also through what is not among them. Ids on a circle have no order among each other.
 */
export function orderOf(
  ids: readonly string[],
  precedes: readonly (readonly [before: string, after: string])[],
): Order {
  const predecessors = neighbours(precedes.map(([before, after]) => [after, before] as const));
  const successors = neighbours(precedes);
  const related = afterNeighbours(ids, predecessors);
  // Kosaraju: against the order of the first search, the second one reaches exactly the ids of one circle.
  const circles = new Map<string, readonly string[]>();
  const isLeft = new Set(related);
  for (const id of related.toReversed()) {
    if (!isLeft.has(id)) continue;
    const circle = afterNeighbours([id], (one) => successors(one).filter((other) => isLeft.has(other)));
    for (const one of circle) {
      circles.set(one, circle);
      isLeft.delete(one);
    }
  }
  const earlier: Neighbours = (id) => {
    const circle = circles.get(id) ?? [id];
    return circle
      .flatMap(predecessors)
      .flatMap((one) => (circles.get(one) === circle ? [] : (circles.get(one) ?? [one])));
  };
  const wanted = new Set(ids);
  const ordered = afterNeighbours(ids, earlier).filter((id) => wanted.has(id));
  return {
    ids: ordered,
    before(id) {
      const reached = new Set(
        afterNeighbours([id], (one) => (one !== id && wanted.has(one) ? [] : earlier(one))),
      );
      return reached.size === 1 ? [] : ordered.filter((one) => one !== id && reached.has(one));
    },
  };
}
