import { createStore } from './store.ts';

/** One HTTP request to a service with what came back. */
export interface Exchange {
  /** Its number since the view was opened. */
  readonly number: number;
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: readonly (readonly [string, string])[];
  readonly requestBody: string | undefined;
  /** Undefined while it is under way; 0 when there was no answer. */
  readonly status: number | undefined;
  readonly responseHeaders: readonly (readonly [string, string])[];
  readonly responseBody: string;
  readonly milliseconds: number;
}

/** How many exchanges are remembered, the latest ones. */
const REMEMBERED = 60;
/** Characters of a response that are kept: the largest reports have millions. */
const KEPT_CHARACTERS = 200_000;

/** The exchanges behind the view that is shown, newest first. */
export const exchanges = createStore<readonly Exchange[]>([]);

/** What is shown: the view, and what it is of. The run of an improvement is what came of its own request. */
function shownAt(hash: string): string {
  const [view = '', query] = hash.split('?');
  const parameters = new URLSearchParams(query);
  parameters.delete('run');
  return JSON.stringify([view, ...parameters]);
}

let shown = shownAt(location.hash);
let count = 0;
// This listener is older than those of the components, so a view that is about to be rendered makes its requests under its own address.
addEventListener('hashchange', () => {
  if (shown === shownAt(location.hash)) return;
  shown = shownAt(location.hash);
  count = 0;
  exchanges.set([]);
});

/** Returns a `fetch` that records its exchanges as those of the view that is shown now, as long as it is shown. */
export function recorder(): typeof globalThis.fetch {
  const recorded = shown;
  return (input, init) => (recorded === shown ? recordingFetch(input, init) : fetch(input, init));
}

const recordingFetch: typeof globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const startedAt = performance.now();
  count += 1;
  const started: Exchange = {
    number: count,
    method: request.method,
    url: request.url,
    requestHeaders: [...request.headers],
    requestBody: typeof init?.body === 'string' ? init.body : undefined,
    status: undefined,
    responseHeaders: [],
    responseBody: '',
    milliseconds: 0,
  };
  exchanges.set([started, ...exchanges.get()].slice(0, REMEMBERED));
  const end = (outcome: Pick<Exchange, 'status' | 'responseHeaders' | 'responseBody'>): void => {
    const ended = { ...started, ...outcome, milliseconds: performance.now() - startedAt };
    exchanges.set(exchanges.get().map((known) => (known === started ? ended : known)));
  };
  try {
    const response = await fetch(request);
    void response
      .clone()
      .text()
      .catch(() => '')
      .then((text) =>
        end({
          status: response.status,
          responseHeaders: [...response.headers],
          responseBody: text.slice(0, KEPT_CHARACTERS),
        }),
      );
    return response;
  } catch (error) {
    end({ status: 0, responseHeaders: [], responseBody: String(error) });
    throw error;
  }
};
