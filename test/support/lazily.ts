/**
 * An object that is made when it is first used: a test file opens at its top what can only be made once its stack runs.
 * @param make throws while the object cannot be made yet
 */
export function lazily<T extends object>(make: () => T): T {
  let made: T | undefined;
  const members = (): T => (made ??= make());
  // SAFETY: every access reaches the object that was made.
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(members(), name) as unknown,
    has: (_, name) => Reflect.has(members(), name),
    ownKeys: () => Reflect.ownKeys(members()),
    getOwnPropertyDescriptor: (_, name) => ({
      ...Reflect.getOwnPropertyDescriptor(members(), name),
      // Of a member that the empty object in between does not have.
      configurable: true,
    }),
  });
}
