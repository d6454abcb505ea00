/** The value with another one at a path of its members; undefined removes the member. */
export function changed(value: unknown, path: string, to: unknown): unknown {
  const copy: unknown = structuredClone(value);
  const steps = path.split('/');
  const last = steps.pop() ?? '';
  const parent = steps.reduce<Record<string, unknown>>(
    (at, step) => at[step] as Record<string, unknown>,
    copy as Record<string, unknown>,
  );
  if (to === undefined) Reflect.deleteProperty(parent, last);
  else parent[last] = to;
  return copy;
}
