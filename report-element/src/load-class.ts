import type { ClassData, Fetched } from './data.ts';

const AT_ONCE = 4;

interface Loading {
  readonly signal: AbortSignal;
  /** The learners to ask for. */
  readonly learners: readonly string[];
  readonly onFetched: (learner: string, fetched: Fetched) => void;
}

/** Fetches one report per learner, four at a time. What fails is reported for its learner, and the others go on. */
export async function loadClass(
  { reportOf }: Pick<ClassData, 'reportOf'>,
  { signal, learners, onFetched }: Loading,
): Promise<void> {
  const queue = new Set(learners).values();
  const work = async (): Promise<void> => {
    // The workers share the iterator: each learner is taken once.
    for (const learner of queue) {
      if (signal.aborted) return;
      await fetchOne(learner);
    }
  };
  const settle = (learner: string, fetched: Fetched): void => {
    if (!signal.aborted) onFetched(learner, fetched);
  };
  const fetchOne = async (learner: string): Promise<void> => {
    try {
      settle(learner, { state: 'done', report: await reportOf(learner, signal) });
    } catch (error) {
      settle(learner, { state: 'failed', error });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
