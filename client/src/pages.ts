import { MasteryReportsError } from './errors.ts';
import type { Reply, RequestOptions } from './operations.ts';

interface Page {
  readonly data: readonly unknown[];
  readonly nextCursor: string | null;
}

/**
 * Iterates over the pages of a list, for callers that need more of a page than its rows. It ends with the page without a `nextCursor`.
 * @param input as the method takes it; with a `cursor`, the iteration continues from there (a cursor is valid for one hour)
 * @example
 * for await (const { data: page } of pages(reports.listCandidateReports, { candidateSourcedId })) console.log(page.withheld);
 */
export async function* pages<Input extends object, Data extends Page>(
  list: (input: Input, options?: RequestOptions) => Promise<Reply<Data>>,
  input: Input,
  options?: RequestOptions,
): AsyncGenerator<Reply<Data>, void, undefined> {
  for (let next = input; ;) {
    const reply = await list(next, options);
    yield reply;
    // SAFETY: a response is what the service sends, not what its type promises.
    const cursor = reply.data.nextCursor as unknown;
    if (cursor === null) return;
    // Without one, the first page would come again without end.
    if (typeof cursor !== 'string')
      throw new MasteryReportsError(
        'the page has neither a next cursor nor null: something between the client and the service changed it',
      );
    next = { ...input, cursor };
  }
}
