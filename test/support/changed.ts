import { expect } from 'vitest';
import type * as z from 'zod';

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

/** Other members by their paths. */
export type Change = Readonly<Record<string, unknown>>;

/** A value with other members. */
export function but<T>(value: T, change: Change): T {
  return Object.entries(change).reduce((to, [path, member]) => changed(to, path, member) as T, value);
}

/** What a schema says of a value with other members. */
export function issuesOf(schema: z.ZodType, value: unknown, change: Change): readonly z.core.$ZodIssue[] {
  return schema.safeParse(but(value, change)).error?.issues ?? [];
}

/** What may be otherwise than in the sample. */
interface Freedom {
  /** Names of members that may be null. */
  readonly nullable: readonly string[];
  /** Names of members that may be absent. */
  readonly optional?: readonly string[];
  /** Ends of the places that do not take just any name: they have one of a few values, or a form of their own. */
  readonly closed: readonly string[];
  /** Names of the members, or of the lists, that have free text: white space and all. */
  readonly texts: readonly string[];
  /** The most characters of those texts, by the same names, where they are not 255. */
  readonly longest: Readonly<Record<string, number>>;
}

/** A value with another text, number or truth value at one of its places, for each of them. */
export function withOthers<T>(value: T): readonly (readonly [place: string, other: T])[] {
  return [...placesOf(value)].flatMap(([place, member]) => {
    if (typeof member === 'object') return [];
    const other =
      typeof member === 'boolean'
        ? !member
        : typeof member === 'number'
          ? member + 1
          : `${JSON.stringify(member)}x`;
    return [[place, changed(value, place, other) as T] as const];
  });
}

/** Every place of a JSON value; of a list its first row alone. */
export function* placesOf(value: unknown, place = ''): Generator<readonly [place: string, value: unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value).slice(0, Array.isArray(value) ? 1 : undefined)) {
    yield [`${place}${name}`, member];
    yield* placesOf(member, `${place}${name}/`);
  }
}

/**
 * Holds a schema to the form of a sound value, in every place of it: it takes neither an undeclared member nor one that is absent, null, of
 * another type, empty, longer than it may be, or a value of its own where there are only a few.
 */
export function expectForm(schema: z.ZodType, sound: unknown, free: Freedom): void {
  expect(issuesOf(schema, sound, {})).toEqual([]);
  const takes = (change: Change): boolean => issuesOf(schema, sound, change).length === 0;
  const nulls = new Set<string>();
  const absent = new Set<string>();
  expect(takes({ undeclared: 1 })).toBe(false);
  for (const [place, value] of placesOf(sound)) {
    const name = place.split('/').at(-1) ?? '';
    const others: unknown[] = [];
    if (typeof value === 'string') others.push(7, '', 'x'.repeat(2_100));
    else if (typeof value === 'number') others.push(String(value), Infinity);
    else if (Array.isArray(value)) others.push({});
    else if (typeof value === 'object' && value !== null) others.push([], { ...value, undeclared: 1 });
    if (free.closed.some((end) => `/${place}`.endsWith(`/${end}`))) others.push('of-its-own');
    if (typeof value === 'string') {
      const isNamed = (text: string): boolean => `/${place}`.replace(/\/\d+$/, '').endsWith(`/${text}`);
      const isText = free.texts.some(isNamed);
      expect([place, takes({ [place]: 'of its own' })]).toEqual([place, isText]);
      const most = free.longest[Object.keys(free.longest).find(isNamed) ?? ''] ?? 255;
      if (isText) expect([place, takes({ [place]: 'x'.repeat(most) })]).toEqual([place, true]);
      if (isText) others.push('x'.repeat(most + 1));
    }
    expect([place, ...others.filter((other) => takes({ [place]: other }))]).toEqual([place]);
    if (/^\d+$/.test(name)) continue;
    if (takes({ [place]: undefined })) absent.add(name);
    if (value !== null && takes({ [place]: null })) nulls.add(name);
  }
  expect([[...nulls].sort(), [...absent].sort()]).toEqual([
    [...free.nullable].sort(),
    [...(free.optional ?? [])].sort(),
  ]);
}
