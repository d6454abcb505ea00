/**
 * Returns an owner's value unchanged if the response has a name for it, else `unknown`: a value that an owner adds later neither breaks a response
 * nor is taken for another value.
 */
export function nameOrUnknown<Name extends string>(names: readonly Name[], value: string): Name | 'unknown' {
  return names.find((name) => name === value) ?? 'unknown';
}
