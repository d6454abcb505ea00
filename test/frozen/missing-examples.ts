import * as z from 'zod';

/**
 * The members of a stored form that none of its examples has: each option of a union, each value of an enumeration, and each optional member.
 * A reader is proved for what it was fed with, and for nothing else.
 * @param schema the form
 * @param examples values of the form, as its readers return them
 * @returns for each member its path and itself, such as `/eligibilityRules/exposure: progressive`
 */
export function missingExamples(schema: z.core.$ZodType, examples: readonly unknown[], path = ''): string[] {
  // SAFETY: the definition of every schema of zod is one of these.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const given: readonly unknown[] = examples.filter((value) => value !== undefined);
  const inside = (inner: z.core.$ZodType, values: readonly unknown[], name = ''): string[] =>
    missingExamples(inner, values, `${path}${name}`);
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape).flatMap(([key, member]) =>
        inside(
          member,
          given.map((value) => (value as Readonly<Record<string, unknown>>)[key]),
          `/${key}`,
        ),
      );
    case 'array':
      return inside(def.element, given.flat(), '/*');
    case 'tuple':
      return def.items.flatMap((item, at) =>
        inside(
          item,
          given.map((value) => (value as readonly unknown[])[at]),
          `/${at}`,
        ),
      );
    case 'record':
      return inside(
        def.valueType,
        given.flatMap((value) => Object.values(value as Readonly<Record<string, unknown>>)),
        '/*',
      );
    case 'enum':
    case 'literal': {
      const members: readonly unknown[] = def.type === 'enum' ? Object.values(def.entries) : def.values;
      return members
        .filter((member) => !given.includes(member))
        .map((member) => `${path}: ${String(member)}`);
    }
    case 'union':
      return def.options.flatMap((option, at) => {
        const fitting = given.filter((value) => z.core.safeParse(option, value).success);
        return fitting.length === 0 ? [`${path}: ${nameOf(def, at)}`] : inside(option, fitting);
      });
    case 'nullable':
      return inside(
        def.innerType,
        given.filter((value) => value !== null),
      );
    case 'optional':
      return given.length === 0 ? [`${path}: present`] : inside(def.innerType, given);
    case 'readonly':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'catch':
      return inside(def.innerType, given);
    case 'pipe':
      return inside(def.out._zod.def.type === 'transform' ? def.in : def.out, given);
    case 'lazy':
      return inside(def.getter(), given);
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'custom':
      return [];
    default:
      throw new TypeError(`${path}: no examples can be demanded of a schema of the type ${def.type}`);
  }
}

/** An option of a union by its value of the discriminator, or else by itself. */
function nameOf(
  { options, discriminator }: z.core.$ZodUnionDef & { discriminator?: string },
  at: number,
): string {
  const { def } = (options[at] as z.core.$ZodTypes)._zod;
  const told = def.type === 'object' ? def.shape[discriminator ?? '']?._zod.def : def;
  return told?.type === 'literal'
    ? (told as z.core.$ZodLiteralDef<z.core.util.Literal>).values.join()
    : `${def.type} ${at}`;
}

/** Of candidates in their order those that have a member of the form which none before them has. */
export function covering<T>(schema: z.core.$ZodType, candidates: readonly T[]): readonly T[] {
  const chosen: T[] = [];
  let missing = missingExamples(schema, chosen);
  for (const candidate of candidates) {
    const left = missingExamples(schema, [...chosen, candidate]);
    if (missing.every((member) => left.includes(member))) continue;
    chosen.push(candidate);
    missing = left;
  }
  return chosen;
}
