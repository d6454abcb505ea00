import { afterAll, beforeAll } from 'vitest';

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
    set: (_, name, value) => Reflect.set(members(), name, value),
    has: (_, name) => Reflect.has(members(), name),
    ownKeys: () => Reflect.ownKeys(members()),
    getOwnPropertyDescriptor: (_, name) => ({
      ...Reflect.getOwnPropertyDescriptor(members(), name),
      // Of a member that the empty object in between does not have.
      configurable: true,
    }),
  });
}

/** What runs for the tests of a file, or of one `describe`: it starts before them and closes after them. */
export function duringTests<T extends { close(): Promise<void> }>(start: () => Promise<T>): T {
  let running: T | undefined;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running?.close());
  return lazily(() => {
    if (running === undefined) throw new Error('this runs during tests and hooks only');
    return running;
  });
}
