/** Changes of single facts in owners' answers, found by walking an owner's own schema beside what it answers. */
import * as z from 'zod';
import { operations } from '#shared/platform/all-operations.ts';
import type { OperationName } from '#test/support/scripted-owners.ts';
import { subjects, type Answers } from './subjects.ts';

type Schema = z.core.$ZodTypes;
type Path = readonly (string | number)[];

/** A member of an owner's answer. */
interface Place {
  readonly operation: OperationName;
  readonly path: Path;
  readonly schema: Schema;
  readonly value: unknown;
}

/** A change of one fact. `everywhere`: wherever the owners say it. An undefined value deletes the member. */
export interface Change {
  readonly operation: OperationName;
  readonly path: Path;
  readonly value: unknown;
  readonly everywhere: boolean;
}

/** Numbers that choose a change among those that there are. */
export type Choice = readonly [place: number, instance: number, value: number, everywhere: boolean];

/** The change that numbers choose. Every member has the same chance, however many rows it occurs in; null is an answer that is not held. */
export function chooseChange(answers: Answers, [at, instance, which, everywhere]: Choice): Change {
  const places = placesIn(answers);
  const byMember = Map.groupBy(places, memberOf);
  const instances = pick([...byMember.values()], at);
  const place = pick(instances, instance);
  const { operation, path, value } = place;
  const values = valuesOf(place, instances, places);
  // What an owner's schema does not take is refused before anything is composed: that is tried now and then.
  const taken = values.filter((other) => z.safeParse(place.schema, other).success);
  const changed = pick(
    which % 8 === 0 || taken.length === 0 ? [...values, value] : taken,
    Math.floor(which / 8),
  );
  const isFact = ['string', 'number'].includes(typeof value) && typeof changed === typeof value;
  return { operation, path, value: changed, everywhere: everywhere && isFact };
}

/** The answers with a change. */
export function applyChange(answers: Answers, { operation, path, value, everywhere }: Change): Answers {
  if (path.length === 0) return { ...answers, [operation]: value };
  const before = valueAt(answers[operation], path);
  const changed = everywhere
    ? replaced(answers, before, value, path.at(-1))
    : { ...answers, [operation]: withValue(answers[operation], path, value) };
  // SAFETY: a change keeps the operations of the answers.
  return changed as Answers;
}

function pick<T>(list: readonly T[], at: number): T {
  const chosen = list[at % list.length];
  if (chosen === undefined && list.length === 0) throw new Error('nothing to choose from');
  return chosen as T;
}

const memberOf = ({ operation, path }: Place): string =>
  [operation, ...path.map((part) => (typeof part === 'number' ? '*' : part))].join('/');

/** Every member that a schema knows of what the owners answer, the ones that they leave out too. */
function placesIn(answers: Answers): Place[] {
  const places: Place[] = [];
  for (const [name, value] of Object.entries(answers)) {
    if (value === null) continue;
    // SAFETY: answers are by the names of operations.
    const operation = name as OperationName;
    const row = operations[operation];
    walk(operation, 'wholeAnswer' in row ? row.wholeAnswer : row.answer, value, [], places);
  }
  // The tenant in an answer is the transport's to judge.
  return places.filter(({ path }) => path[0] !== 'tenantId');
}

function walk(
  operation: OperationName,
  schema: z.core.$ZodType,
  value: unknown,
  path: Path,
  places: Place[],
): void {
  // SAFETY: every schema is one of zod's own.
  const own = schema as Schema;
  places.push({ operation, path, schema: own, value });
  const inner = unwrapped(own);
  const { def } = inner._zod;
  if (def.type === 'array' && Array.isArray(value))
    value.forEach((element, at) => walk(operation, def.element, element, [...path, at], places));
  else if (typeof value !== 'object' || value === null) return;
  else if (def.type === 'object')
    for (const [name, member] of Object.entries(def.shape))
      walk(operation, member, (value as Record<string, unknown>)[name], [...path, name], places);
  else if (def.type === 'record')
    for (const [name, member] of Object.entries(value))
      walk(operation, def.valueType, member, [...path, name], places);
}

/** The schema of what is there, where it is there. Of alternatives the first one: a change to another is a change of its tag. */
function unwrapped(schema: Schema): Schema {
  const { def } = schema._zod;
  if (def.type === 'nullable' || def.type === 'optional') return unwrapped(def.innerType as Schema);
  return def.type === 'union' ? unwrapped(def.options[0] as Schema) : schema;
}

/** The words of the contract, by the member that has them. */
const vocabulary = new Map<string, string[]>([['statisticKind', ['difference', 'ratio']]]);
for (const { response } of Object.values(subjects)) collectWords('', response);

function collectWords(name: string, schema: z.core.$ZodType): void {
  const { def } = unwrapped(schema as Schema)._zod;
  if (def.type === 'enum')
    vocabulary.set(name, [...(vocabulary.get(name) ?? []), ...Object.values(def.entries).map(String)]);
  if (def.type === 'array') collectWords(name, def.element);
  if (def.type === 'object') for (const [member, of] of Object.entries(def.shape)) collectWords(member, of);
}

const instants = [
  ...['1970-01-01T00:00:00Z', '2026-03-03T10:15:30.413Z', '2999-12-31T23:59:59.999Z', '2026-02-30T00:00:00Z'],
  '2026-03-02T10:15:30+00:00',
];
const links = [
  ...[
    'http://a.example/1',
    'https://127.0.0.1/1',
    'https://a.example/1?sig=2',
    'https://u:p@a.example',
    'no link',
  ],
  'https://a.example/2',
];

/** What a member is changed to: other facts of its kind, what its schema allows, and a little that it does not. */
function valuesOf(place: Place, alike: readonly Place[], all: readonly Place[]): unknown[] {
  const { schema, value, path } = place;
  const name = String(path.at(-1) ?? '');
  const inner = unwrapped(schema);
  const isNamed = path.length > 0 && typeof path.at(-1) === 'string';
  const others = alike.map((other) => other.value);
  const sameName = all.flatMap((other) => (other.path.at(-1) === name ? [other.value] : []));
  const wide = [
    ...(path.length === 0 ? [null] : []),
    ...(schema._zod.def.type === 'nullable' ? [null] : []),
    ...(isNamed ? [undefined] : []),
    ...(value === null || value === undefined ? [drawn(inner, name)] : []),
  ];
  const changed = ((): unknown[] => {
    switch (typeof value) {
      case 'string':
        return [
          ...others,
          ...sameName,
          ...(inner._zod.def.type === 'enum'
            ? Object.values(inner._zod.def.entries).map(String)
            : wordsOf(name)),
          ...(/^\d{4}-\d\d-\d\dT/.test(value)
            ? [...instants, value.replace(/Z$/, '0Z').replace(/(:\d\d)0Z$/, '$1.0Z')]
            : []),
          ...(value.startsWith('http') ? links : []),
          ...['another', value.toUpperCase(), value.normalize('NFD'), `${value}x`, '', 'x'.repeat(256)],
        ];
      case 'number':
        return [
          ...others,
          ...siblings(place, all),
          ...[0, 1, -1, 0.5, 2, value + 1, value - 1, -value, value * 2, Math.round(value)],
          ...[1e308, -1e308, 5e-324, 2_147_483_648],
        ];
      case 'boolean':
        return [!value];
      default:
        return Array.isArray(value) ? listsOf(value, place, others, all) : recordsOf(value, inner);
    }
  })();
  // What JSON does not have, no owner sends.
  return [...wide, ...changed].filter(
    (other) => !Object.is(other, value) && (typeof other !== 'number' || Number.isFinite(other)),
  );
}

/** The words that the contract has for a member. */
export function wordsOf(name: string): readonly string[] {
  return vocabulary.get(name) ?? [];
}

/** The other numbers of the same object. */
function siblings({ operation, path }: Place, all: readonly Place[]): unknown[] {
  const parent = JSON.stringify(path.slice(0, -1));
  return all.flatMap((other) =>
    other.operation === operation &&
    typeof other.value === 'number' &&
    JSON.stringify(other.path.slice(0, -1)) === parent
      ? [other.value]
      : [],
  );
}

/** A list with a member repeated, missing, in another place, or foreign. */
function listsOf(
  list: readonly unknown[],
  { schema }: Place,
  others: readonly unknown[],
  all: readonly Place[],
): unknown[] {
  const { def } = unwrapped(schema)._zod;
  const isOfIds = def.type === 'array' && unwrapped(def.element as Schema)._zod.def.type === 'string';
  const ids = all.flatMap(({ path, value }) =>
    /guid|identifier|Ids?$/i.test(String(path.at(-1))) && typeof value === 'string' ? [value] : [],
  );
  return [
    [],
    [...list, ...list.slice(0, 1)],
    [...list, ...list.slice(-1)],
    list.slice(1),
    list.slice(0, -1),
    list.toReversed(),
    ...others,
    ...(isOfIds ? [...new Set(ids)].map((id) => [...list, id]) : []),
    ...(def.type === 'array' ? [[...list, drawn(def.element as Schema, '')]] : []),
  ];
}

/** A map with an entry missing, and with one more. */
function recordsOf(value: unknown, { _zod: { def } }: Schema): unknown[] {
  if (def.type !== 'record' || typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  return [{}, Object.fromEntries(entries.slice(1)), Object.fromEntries([...entries, ['another', 1]])];
}

/** Something that a schema allows. */
function drawn(schema: Schema, name: string): unknown {
  const { def } = unwrapped(schema)._zod;
  switch (def.type) {
    case 'string':
      return vocabulary.get(name)?.[0] ?? 'drawn';
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'enum':
      return Object.values(def.entries)[0];
    case 'array':
      return [];
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape).map(([key, member]) => [key, drawn(member as Schema, key)]),
      );
    default:
      return 'drawn';
  }
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((of, part) => (of as Readonly<Record<string | number, unknown>>)[part], value);
}

function withValue(of: unknown, [part, ...rest]: Path, value: unknown): unknown {
  if (part === undefined) return value;
  if (Array.isArray(of)) return of.with(Number(part), withValue(of[Number(part)], rest, value));
  const entries = Object.entries(of as object).filter(([name]) => name !== part);
  const member = withValue((of as Readonly<Record<string, unknown>>)[part], rest, value);
  return Object.fromEntries(member === undefined ? entries : [...entries, [part, member]]);
}

/** A text is replaced wherever it stands, as a key too; a number where it has the same name. */
function replaced(
  of: unknown,
  before: unknown,
  after: unknown,
  name: string | number | undefined,
  under?: string,
): unknown {
  if (of === before && (typeof before === 'string' || under === name)) return after;
  if (Array.isArray(of)) return of.map((element) => replaced(element, before, after, name, under));
  if (typeof of !== 'object' || of === null) return of;
  return Object.fromEntries(
    Object.entries(of).map(([key, member]) => [
      key === before ? String(after) : key,
      replaced(member, before, after, name, key),
    ]),
  );
}
