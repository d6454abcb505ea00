import { pointer } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';

/** Where something stands in the file. */
export type Path = readonly PropertyKey[];

/** Something wrong, and where. */
export function defect(message: string, ...path: Path): Defect {
  return { pointer: pointer(...path), message };
}

/** Names that occur more than once. */
export function repeated(names: readonly string[], pathOf: (at: number) => Path): readonly Defect[] {
  const seen = new Set<string>();
  return names.flatMap((name, at) => {
    if (seen.has(name)) return [defect(`names "${name}" twice`, ...pathOf(at))];
    seen.add(name);
    return [];
  });
}

/** A name that has to be one of the known ones, when it is given. */
export function among(
  known: readonly { readonly name: string }[],
  name: string | null | undefined,
  what: string,
  ...path: Path
): readonly Defect[] {
  return name === null || name === undefined || known.some((entry) => entry.name === name)
    ? []
    : [defect(`"${name}" is no ${what} of this file`, ...path)];
}
