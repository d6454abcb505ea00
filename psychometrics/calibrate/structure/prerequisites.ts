/** Hierarchies of KCs (Leighton, Gierl and Hunka, 2004, J. of Educational Measurement 41, 205-237): which KCs a KC requires, directly or through others. */
import { err, ok, type Result } from '#shared/kernel/result.ts';

/** For each KC the bits of all KCs that it requires, those of its prerequisites included. */
export type Prerequisites = readonly number[];

/** A KC that another one requires. */
export type Edge = readonly [required: number, by: number];

/** Returns the transitive closure of edges; an error names a KC that would require itself. */
export function closure(kcCount: number, edges: readonly Edge[]): Result<Prerequisites, number> {
  const required = Array.from({ length: kcCount }, () => 0);
  for (const [from, to] of edges) required[to] = (required[to] ?? 0) | (1 << from);
  for (let middle = 0; middle < kcCount; middle += 1) {
    for (let k = 0; k < kcCount; k += 1) {
      if (((required[k] ?? 0) >>> middle) & 1) required[k] = (required[k] ?? 0) | (required[middle] ?? 0);
    }
  }
  const cyclic = required.findIndex((bits, k) => (bits >>> k) & 1);
  return cyclic < 0 ? ok(required) : err(cyclic);
}

/** Returns the edges that follow from no others: the transitive reduction. */
export function directEdges(required: Prerequisites): Edge[] {
  return required.flatMap((bits, by) =>
    required.flatMap((_, k): Edge[] => {
      const isThrough = required.some((further, l) => (bits >>> l) & 1 && (further >>> k) & 1);
      return (bits >>> k) & 1 && !isThrough ? [[k, by]] : [];
    }),
  );
}

/** Returns the patterns, ascending, that contain the prerequisites of each of their KCs. */
export function closedPatterns(required: Prerequisites): Int32Array {
  return Int32Array.from({ length: 2 ** required.length }, (_, pattern) => pattern).filter((pattern) =>
    required.every((bits, k) => !((pattern >>> k) & 1) || (pattern & bits) === bits),
  );
}

/** Returns a hierarchy as text, joined into chains where one edge continues another: `A → B → C, A → D`. */
export function hierarchyText(required: Prerequisites, kcs: readonly string[]): string {
  const rest = directEdges(required);
  const chains: number[][] = [];
  while (rest.length > 0) {
    const begins = rest.findIndex(([from]) => !rest.some(([, to]) => to === from));
    const [edge] = rest.splice(Math.max(0, begins), 1);
    const chain = edge === undefined ? [] : [...edge];
    for (;;) {
      const next = rest.findIndex(([from]) => from === chain.at(-1));
      if (next < 0) break;
      chain.push(...rest.splice(next, 1).map(([, to]) => to));
    }
    chains.push(chain);
  }
  return chains.map((chain) => chain.map((k) => kcs[k] ?? '').join(' → ')).join(', ');
}

/**
 * Reads a hierarchy: `A>B>C` for chains, separated by commas or line breaks; the KC on the left is required by the one on the right. The error
 * names what is unknown, or a KC that would require itself.
 */
export function readHierarchy(text: string, kcs: readonly string[]): Result<Prerequisites, string> {
  const edges: Edge[] = [];
  for (const chain of text.split(/[,\n]/).map((part) => part.trim())) {
    if (chain === '') continue;
    const names = chain.split('>').map((name) => name.trim());
    if (names.length < 2) return err(`"${chain}" is no prerequisite: write A>B where B requires A`);
    const unknown = names.find((name) => !kcs.includes(name));
    if (unknown !== undefined) {
      return err(`"${unknown}" is not a knowledge component of the Q-matrix: expected ${kcs.join(', ')}`);
    }
    names.slice(1).forEach((name, n) => edges.push([kcs.indexOf(names[n] ?? ''), kcs.indexOf(name)]));
  }
  if (edges.length === 0) return err('it contains no prerequisite: write A>B where B requires A');
  const closed = closure(kcs.length, edges);
  return closed.ok
    ? closed
    : err(
        `"${kcs[closed.error] ?? ''}" requires itself through others: remove one prerequisite of the cycle`,
      );
}
