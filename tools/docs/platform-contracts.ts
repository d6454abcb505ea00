import * as z from 'zod';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import { faultsByAnswer } from '#local/platform/faults.ts';
import { allOperations } from '#shared/platform/all-operations.ts';
import { answerKinds, repetitions, verdicts } from '#shared/platform/verdicts.ts';
import type { Use } from '#shared/platform/verdicts.ts';

/** The part of docs/platform-contracts.md that comes from the operations' rows: an overview, then rule and shapes one by one. */
export function renderContracts(): string {
  return [
    '| Operation | Method and path | Status | Repetition | Success |',
    '| --- | --- | --- | --- | --- |',
    ...allOperations.map(
      (row) =>
        `| ${row.id} | ${row.method} \`${pathOf(row)}\` | ${statusOf(row)} | ${row.method === 'GET' ? 'safe-read' : 'idempotent-write'} | ${row.success.join(', ')} |`,
    ),
    '',
    ...answers(),
    ...allOperations.flatMap(section),
  ].join('\n');
}

/** The address as an RFC 6570 template: the names in `{?a,b}` or `{&a,b}` may be left out. */
function pathOf({ path, query, optionalQuery = [] }: UpstreamOperation): string {
  const demanded = query.length === 0 ? '' : `?${query.map((name) => `${name}={${name}}`).join('&')}`;
  const optional =
    optionalQuery.length === 0 ? '' : `{${query.length === 0 ? '?' : '&'}${optionalQuery.join(',')}}`;
  return `${path}${demanded}${optional}`;
}

function statusOf(row: UpstreamOperation): string {
  if (row.status === 'gap') return 'gap: assumed until the owner publishes it';
  return row.assumed === undefined ? 'bound' : 'bound, with an assumption';
}

/** What a kind of answer means for each use, how it is repeated, and which fault of the emulator gives it. */
function answers(): readonly string[] {
  const uses = Object.keys(verdicts) as Use[];
  const rows = answerKinds.map((kind) => {
    const faults = faultsByAnswer[kind].map((fault) =>
      typeof fault === 'number' ? `\`status\` ${fault}` : `\`${fault}\``,
    );
    const cells = uses.map((use) => verdicts[use][kind]);
    return `| ${[kind, repetitions[kind], ...cells, faults.join(', ')].join(' | ')} |`;
  });
  return [
    '## What an answer means',
    '',
    `| ${['Answer', 'Repeated', ...uses, 'Faults of the emulator'].join(' | ')} |`,
    `|${' --- |'.repeat(uses.length + 3)}`,
    ...rows,
    '',
  ];
}

function section(row: UpstreamOperation): readonly string[] {
  const shape = (title: string, schema: z.ZodType): readonly string[] => [
    `${title}:`,
    '',
    '```ts',
    typeOf(inlined(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })), ''),
    '```',
    '',
  ];
  const isEmpty = row.answer.safeParse(undefined).success;
  return [
    `## ${row.method} ${pathOf(row)}`,
    '',
    `${row.id}. ${row.rule} The answer is at most ${row.maxAnswerBytes / 1024} KiB${row.tenantInAnswer ? ' and names its tenant' : ''}.`,
    '',
    `Used for: ${row.uses.join(', ')}.${echoOf(row)}`,
    '',
    ...(row.assumed === undefined ? [] : [`Assumed until the owner publishes it: ${row.assumed}`, '']),
    ...(row.body === undefined ? [] : shape('Body', row.body)),
    ...(isEmpty ? ['The answer’s body is not read.', ''] : shape('Answer', row.wholeAnswer ?? row.answer)),
  ];
}

function echoOf({ echo }: UpstreamOperation): string {
  const members = Object.keys(echo).map((member) => `\`${member}\``);
  return members.length === 0 ? '' : ` The answer repeats what was asked for in ${members.join(', ')}.`;
}

type Schema = z.core.JSONSchema._JSONSchema;

/** The schema with its named parts in their places, under their names: the page shows every shape whole. */
function inlined({ $defs: parts = {}, ...schema }: z.core.JSONSchema.JSONSchema): Schema {
  const text = JSON.stringify(schema, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
    const name = String(value.$ref).replace('#/$defs/', '');
    return { ...parts[name], id: name };
  });
  return JSON.parse(text) as Schema;
}

/** A JSON Schema in the notation of a TypeScript type, with what the type cannot express as a comment. */
function typeOf(schema: Schema, indent: string): string {
  if (typeof schema === 'boolean') return 'unknown';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options.map((option) => typeOf(option, indent)).join(' | ');
  if (schema.type === 'array') {
    const { items, minItems } = schema;
    const element = items === undefined || Array.isArray(items) ? 'unknown' : typeOf(items, indent);
    return `${/^[^{]*\|/.test(element) ? `(${element})` : element}[]${minItems === undefined ? '' : ` /* at least ${minItems} */`}`;
  }
  if (schema.type !== 'object') return scalar(schema);
  if (schema.properties === undefined) {
    return `{ [name: string]: ${typeOf(schema.additionalProperties ?? true, indent)} }`;
  }
  const inner = `${indent}  `;
  const members = Object.entries(schema.properties).map(([name, member]) => {
    const mark = schema.required?.includes(name) === true ? '' : '?';
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${inner}${key}${mark}: ${typeOf(member, inner)};`;
  });
  const rest = schema.additionalProperties === false ? [] : [`${inner}// further members are tolerated`];
  return ['{', ...members, ...rest, `${indent}}`].join('\n');
}

function scalar(schema: Exclude<Schema, boolean>): string {
  // The reference of the API explains what has a name.
  const pattern = schema.id === undefined ? schema.pattern : undefined;
  const limits = [
    schema.id ?? '',
    pattern === undefined ? '' : `matches ${pattern}`,
    schema.format === undefined || pattern !== undefined ? '' : schema.format,
    schema.minimum === undefined ? '' : `at least ${schema.minimum}`,
    schema.maximum === undefined || schema.maximum === Number.MAX_SAFE_INTEGER
      ? ''
      : `at most ${schema.maximum}`,
  ].filter((limit) => limit !== '');
  const types = [schema.type ?? 'unknown'].flat();
  const type = types.map((name) => (name === 'integer' ? 'number' : name)).join(' | ');
  const whole = types.includes('integer') ? ['whole', ...limits] : limits;
  return whole.length === 0 ? type : `${type} /* ${whole.join(', ')} */`;
}
