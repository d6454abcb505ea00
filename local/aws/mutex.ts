/** Runs pieces of work one after the other, in the order in which they were given. */
type Mutex = <T>(work: () => Promise<T>) => Promise<T>;

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next;
    return next;
  };
}
