import { createStore } from './store.ts';

/** One HTTP request to a service with what came back. */
export interface Exchange {
  readonly id: number;
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

/** The exchanges behind what is on the page, newest first. */
export const exchanges = createStore<readonly Exchange[]>([]);

let lastId = 0;

export const recordingFetch: typeof globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const startedAt = performance.now();
  lastId += 1;
  const started: Exchange = {
    id: lastId,
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
    exchanges.set(exchanges.get().map((known) => (known.id === started.id ? ended : known)));
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
