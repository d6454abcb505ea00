import * as z from 'zod';

type Members = Readonly<Record<string, z.ZodType>>;

/** The values of members if other members have given values, and otherwise. */
interface Condition {
  readonly if: Members;
  readonly then?: Members;
  readonly else?: Members;
}

const conditions = new WeakMap<object, Condition>();

/** Returns a refinement that the OpenAPI documents show too. */
export function when(condition: Condition, said: Parameters<typeof z.refine>[1]): z.core.$ZodCheck<unknown> {
  const met = z.looseObject(condition.if);
  const [then, otherwise] = [z.looseObject(condition.then ?? {}), z.looseObject(condition.else ?? {})];
  const isKept = (value: unknown): boolean =>
    (met.safeParse(value).success ? then : otherwise).safeParse(value).success;
  const check = z.refine(isKept, said);
  conditions.set(check, condition);
  return check;
}

export function conditionsOf({ _zod: { def } }: z.core.$ZodType): readonly Condition[] {
  return (def.checks ?? []).flatMap((check) => conditions.get(check) ?? []);
}
