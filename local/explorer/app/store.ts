import { useEffect, useState } from 'preact/hooks';

/** A value that views follow. */
export interface Store<Value> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createStore<Value>(initial: Value): Store<Value> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(value) {
      current = value;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Returns the store's value; the component renders again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(store.get);
  useEffect(() => {
    const update = (): void => setValue(() => store.get());
    // It may have changed between the first rendering and this effect.
    update();
    return store.subscribe(update);
  }, [store]);
  return value;
}

/** What became of a promise. */
export type Loaded<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'done'; readonly value: Value }
  | { readonly state: 'failed'; readonly error: unknown; readonly retry: () => void };

const reloads = createStore(0);

/** Loads everything on the page again. */
export const reload = (): void => reloads.set(reloads.get() + 1);

/** Loads again when one of `inputs` changes, or on `reload`; an answer that comes too late is dropped, and its request is ended. */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' });
  const [retries, setRetries] = useState(0);
  const reloaded = useStore(reloads);
  useEffect(() => {
    const controller = new AbortController();
    setLoaded({ state: 'loading' });
    load(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setLoaded({ state: 'done', value });
      },
      (error: unknown) => {
        if (!controller.signal.aborted)
          setLoaded({ state: 'failed', error, retry: () => setRetries((count) => count + 1) });
      },
    );
    return () => controller.abort();
  }, [...inputs, retries, reloaded]);
  return loaded;
}
