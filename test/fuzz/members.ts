// The members of an answer by their paths, with `*` in the place of a position in a list: the state of a mastery row is `mastery/*/state`.

import type * as z from 'zod';

type Row = Readonly<Record<string, unknown>>;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Where two answers differ. A list of values is one member, and so are a map, and a list of rows of which there are more or fewer. */
export function differing(one: unknown, other: unknown, path: readonly string[] = []): string[] {
  if (JSON.stringify(one) === JSON.stringify(other)) return [];
  if (isRow(one) && isRow(other) && path.at(-1) !== 'sampleSizes') {
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    return names.flatMap((name) => differing(one[name], other[name], [...path, name]));
  }
  const isSameList = isList(one) && isList(other) && one.length === other.length;
  return isSameList && [...one, ...other].every(isRow)
    ? one.flatMap((row, at) => differing(row, other[at], [...path, '*']))
    : [path.join('/')];
}

/** The value; whoever reads a member of it is heard. */
export function listening<T>(value: T, onRead: (member: string) => void, path: readonly string[] = []): T {
  if (!isRow(value) && !Array.isArray(value)) return value;
  return new Proxy(value, {
    get(of, name, itself) {
      const member: unknown = Reflect.get(of, name, itself);
      if (typeof name === 'symbol' || typeof member === 'function') return member;
      if (Array.isArray(of) && name === 'length') return member;
      const place = [...path, Array.isArray(of) ? '*' : name];
      onRead(place.join('/'));
      return listening(member, onRead, place);
    },
    ownKeys(of) {
      onRead(path.join('/'));
      return Reflect.ownKeys(of);
    },
  });
}

/** Every member of the answers of a schema. */
export function membersOf(schema: z.core.$ZodType, path: readonly string[] = []): string[] {
  // SAFETY: every schema is one of zod's own.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'nullable' || def.type === 'optional') return membersOf(def.innerType, path);
  if (def.type === 'array') return [path.join('/'), ...membersOf(def.element, [...path, '*'])];
  const members = def.type === 'object' ? Object.entries(def.shape) : [];
  return [path.join('/'), ...members.flatMap(([name, of]) => membersOf(of, [...path, name]))];
}
