import { describe, expect, it } from 'vitest';
import { descriptions } from '#shared/contract/descriptions/descriptions.ts';
import { allOpen } from '#shared/release/release-state.ts';
import { renderSandboxOpenApi } from '#tools/docs/sandbox.ts';
import { extensible } from './describe.ts';
import { renderOpenApi } from './openapi.ts';

const documents = {
  mastery: renderOpenApi('mastery', allOpen),
  reports: renderOpenApi('reports', allOpen),
  sandbox: renderSandboxOpenApi(),
} as const;

type Json = Readonly<Record<string, unknown>>;

/** A value that a client reads or sends: its place in the document, and its schema or parameter. */
type Field = readonly [place: string, described: Json];

/** Every component, field, parameter and header of a document, however deep. */
function fieldsOf(value: unknown, place = ''): Field[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]): Field[] => {
    const path = `${place}/${name}`;
    if (name === 'example' || name === 'examples') return [];
    // Conditions and narrower forms of a schema speak of the fields that it has already.
    if (/^(?:if|then|else|not)$/.test(name)) return [];
    if (name === 'allOf')
      return fieldsOf(
        (member as Json[]).filter((part) => !('properties' in part)),
        path,
      );
    const found = fieldsOf(member, path);
    if (name === 'parameters' && Array.isArray(member))
      return [...(member as Json[]).map((one): Field => [`${path}/${String(one['name'])}`, one]), ...found];
    if (name === 'properties' || ((name === 'headers' || name === 'schemas') && place === '/components'))
      return [
        ...Object.entries(member as Json).map(([key, one]): Field => [`${path}/${key}`, one as Json]),
        ...found,
      ];
    return found;
  });
}

/** The values of an enumeration that stands in a field itself, and not in a component. */
function valuesOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { enum: values, anyOf, items, schema: ofParameter } = schema as Json;
  if (Array.isArray(values)) return values.filter((value) => typeof value === 'string');
  return [anyOf ?? [], items, ofParameter].flat().flatMap(valuesOf);
}

describe.each(Object.entries(documents))('the document of %s', (_, document) => {
  const fields = fieldsOf(document);

  it('describes every component, field, parameter and header', () => {
    expect(fields.length).toBeGreaterThan(50);
    const bare = fields.filter(([, { description }]) => !/^[A-Z`].{8,}\.(?:\n|$)/.test(String(description)));
    expect(bare.map(([place]) => place)).toEqual([]);
  });

  it('describes every value of an enumeration, and which enumerations may gain values', () => {
    for (const [place, field] of fields) {
      const description = String(field['description']);
      for (const value of valuesOf(field))
        expect([place, description]).toEqual([place, expect.stringContaining(`- \`${value}\`: `)]);
      if (valuesOf(field).length > 0)
        expect([place, description.endsWith('may add values.')]).toEqual([
          place,
          JSON.stringify(field).includes(extensible),
        ]);
    }
  });
});

it.each([
  ['mastery', [documents.mastery]],
  ['reports', [documents.reports, documents.sandbox]],
] as const)('every text of a component of %s describes something', (service, rendered) => {
  const places = new Set(
    rendered.flatMap((document) =>
      fieldsOf(document).map(([place]) =>
        place.replace('/components/schemas/', '').replace('/properties/', '.'),
      ),
    ),
  );
  const texts = Object.entries(descriptions[service].components).flatMap(([id, { text }]) => [
    id,
    ...(typeof text === 'object' && 'fields' in text
      ? Object.keys(text.fields).map((name) => `${id}.${name}`)
      : []),
  ]);
  expect(texts.filter((text) => !places.has(text))).toEqual([]);
});
