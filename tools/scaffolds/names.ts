import { err, ok, type Result } from '#shared/kernel/result.ts';

/** Returns `readRuntimeVersions` as `read-runtime-versions`. */
export function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns `readRuntimeVersions` as `read_runtime_versions`. */
export function snake(name: string): string {
  return kebab(name).replaceAll('-', '_');
}

/** Capitalizes the first letter. */
export function capital(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** Returns the noun of an operation: `runtimeVersions` of `readRuntimeVersions`. */
export function subjectOf(operation: string): string {
  const noun = operation.replace(/^[a-z]+/, '');
  return `${noun.slice(0, 1).toLowerCase()}${noun.slice(1)}`;
}

/** Returns the names between braces. */
export function parametersOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Makes a reader of texts of one form. @param what the form, after "Expected" */
export function form(pattern: RegExp, what: string): (text: string) => Result<string, string> {
  return (text) => (pattern.test(text) ? ok(text) : err(`Expected ${what}`));
}

export const operationName = form(
  /^[a-z]+(?:[A-Z][a-z0-9]+)+$/,
  'a verb and a noun, as in readRuntimeVersions',
);

export const camelName = form(/^[a-z]+(?:[A-Z][a-z0-9]*)*$/, 'a name in camel case, as in modifiedSince');

/** Reads the path of a route of this project. */
export const routePath = form(
  /^\/v1(?:\/(?:[a-z0-9-]+|\{[a-zA-Z]+\}))+(?::[a-z-]+)?$/,
  'a path, as in /v1/forms/{qtiTestId}',
);

/** Reads the path of an owner's operation. */
export const upstreamPath = form(
  /^(?:\/(?:[\w.:-]+|\{[a-zA-Z]+\}))+$/,
  'a path, as in /core/results/v1/attempts/{attemptId}',
);

/** Reads the fields of a log code, as `name=kind`. */
export function fieldList(text: string): Result<readonly string[], string> {
  const fields = text.split(',');
  const field = /^[a-z][a-zA-Z0-9]*=(?:word|words|number|boolean)$/;
  return fields.every((text) => field.test(text))
    ? ok(fields)
    : err('Expected fields such as reason=word,count=number, of the kinds word, words, number and boolean');
}
