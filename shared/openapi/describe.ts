import * as z from 'zod';
import type { createDocument } from 'zod-openapi';
import type { Component, Descriptions, ObjectText, Text } from '#shared/contract/descriptions/text.ts';

/** The extension for an enumeration that later versions may extend. It lists the known values, as `enum` does. */
export const extensible = 'x-extensible-enum';

interface Described {
  description?: string;
}

interface Schema extends Described {
  properties?: Record<string, Schema>;
}

/** Gives schemas the names under which documents list them. A schema without a name is repeated in each place that uses it. */
export function nameComponents(components: Readonly<Record<string, Component>>): void {
  for (const [id, { schema }] of Object.entries(components))
    z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id });
}

/**
 * Adds the descriptions of components, fields and parameters to a rendered document.
 * @param document changed in place
 */
export function describeDocument(
  document: ReturnType<typeof createDocument>,
  { components, parameters }: Descriptions,
): void {
  for (const [id, schema] of Object.entries(document.components?.schemas ?? {})) {
    // A schema whose responses differ from its requests becomes two components.
    const { text } = components[id] ?? components[id.replace(/Output$/, '')] ?? {};
    if (text !== undefined) describeSchema(schema as Schema, text);
  }
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(item as Record<string, Operation>)) {
      for (const parameter of operation.parameters ?? []) {
        const text = parameters[operation.operationId]?.[parameter.name];
        if (text !== undefined) parameter.description = markdown(text, parameter);
      }
    }
  }
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly (Described & { readonly name: string })[];
}

function describeSchema(schema: Schema, text: Text | ObjectText): void {
  if (typeof text === 'string' || !('fields' in text)) {
    schema.description = markdown(text, schema);
    return;
  }
  schema.description = text.about;
  const fields: Readonly<Record<string, Text>> = text.fields;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const ofField = fields[name];
    if (ofField !== undefined) property.description = markdown(ofField, property);
  }
}

function markdown(text: Text, described: object): string {
  if (typeof text === 'string') return text;
  const values = Object.entries(text.values).map(([value, meaning]) => `- \`${value}\`: ${meaning}`);
  const grows = JSON.stringify(described).includes(`"${extensible}"`);
  return [text.text, values.join('\n'), ...(grows ? ['Later versions may add values.'] : [])].join('\n\n');
}
