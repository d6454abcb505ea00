/** Creates a value when first asked for and caches it; a failure is not cached. */
export function once<T>(make: () => T | Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    if (made !== undefined) return made;
    const making = (async () => make())();
    making.catch(() => (made = undefined));
    made = making;
    return making;
  };
}
