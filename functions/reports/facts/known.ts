/**
 * An owner's value as it stands, where the answer has a name for it; else `unknown`, so that what an owner adds tomorrow neither breaks an
 * answer nor passes for something that it is not.
 */
export function known<Name extends string>(names: readonly Name[], value: string): Name | 'unknown' {
  return names.find((name) => name === value) ?? 'unknown';
}
