import { useEffect, useState } from 'preact/hooks';

/** The parts of an address: `#/report?tenant=…&id=…`. */
export interface Place {
  readonly view: string;
  readonly parameters: Readonly<Record<string, string>>;
}

function placeOf(hash: string): Place {
  const [path = '', query] = hash.replace(/^#\/?/, '').split('?');
  return { view: path, parameters: Object.fromEntries(new URLSearchParams(query)) };
}

/** Returns the address of a place; parameters that are undefined are left out. */
export function hrefOf(view: string, parameters: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
      value === undefined || value === '' ? [] : [[name, value]],
    ),
  ).toString();
  return `#/${view}${query === '' ? '' : `?${query}`}`;
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const update = (): void => setPlace(placeOf(location.hash));
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return place;
}

/** Changes parameters of the present place, without a step in the history for each choice. */
export function choose(changes: Readonly<Record<string, string>>): void {
  const { view, parameters } = placeOf(location.hash);
  location.replace(hrefOf(view, { ...parameters, ...changes }));
}
