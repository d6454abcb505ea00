import { err, ok, type Result } from '#shared/kernel/result.ts';

/** `readRuntimeVersions` as `read-runtime-versions`. */
export function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `readRuntimeVersions` as `read_runtime_versions`. */
export function snake(name: string): string {
  return kebab(name).replaceAll('-', '_');
}

/** With a capital at the beginning. */
export function capital(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** What an operation is about: `readRuntimeVersions` without its verb. */
export function subjectOf(operation: string): string {
  const noun = operation.replace(/^[a-z]+/, '');
  return `${noun.slice(0, 1).toLowerCase()}${noun.slice(1)}`;
}

/** The names between braces. */
export function parametersOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Reads an operation's name: a verb and a noun. */
export function operationName(text: string): Result<string, string> {
  return formed(text, /^[a-z]+(?:[A-Z][a-z0-9]+)+$/, 'a verb and a noun, as in readRuntimeVersions');
}

/** Reads a name in camel case. */
export function camelName(text: string): Result<string, string> {
  return formed(text, /^[a-z]+(?:[A-Z][a-z0-9]*)*$/, 'a name in camel case, as in modifiedSince');
}

export function formed(text: string, form: RegExp, what: string): Result<string, string> {
  return form.test(text) ? ok(text) : err(`Expected ${what}`);
}

/** Reads the path of a route of this project. */
export function routePath(text: string): Result<string, string> {
  return formed(
    text,
    /^\/v1(?:\/(?:[a-z0-9-]+|\{[a-zA-Z]+\}))+(?::[a-z-]+)?$/,
    'a path, as in /v1/forms/{qtiTestId}',
  );
}

/** Reads the path of an owner's operation. */
export function upstreamPath(text: string): Result<string, string> {
  return formed(
    text,
    /^(?:\/(?:[\w.:-]+|\{[a-zA-Z]+\}))+$/,
    'a path, as in /core/results/v1/attempts/{attemptId}',
  );
}

/** Reads the fields of a log code, as `name=kind`. */
export function fieldList(text: string): Result<readonly string[], string> {
  const fields = text.split(',');
  const form = /^[a-z][a-zA-Z0-9]*=(?:word|words|number|boolean)$/;
  return fields.every((field) => form.test(field))
    ? ok(fields)
    : err('Expected fields such as reason=word,count=number, of the kinds word, words, number and boolean');
}
