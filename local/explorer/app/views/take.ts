import { runAdaptive } from '#client/index.ts';
import type { AdaptiveRun, MasteryClient, OfferedItem, SavedRun } from '#client/index.ts';
import { pausing } from '../pauses.ts';
import { answerItem, informationOf, type Answered, type Bank } from '../session.ts';
import { createStore, type Store } from '../store.ts';
import { PlainError, waitOf } from '../words.ts';

/** One state of the run, and the answer that led to it. */
export interface Step {
  readonly run: AdaptiveRun;
  /** Absent for the start. */
  readonly answered?: Answered;
  /** Expected information of the offered item in bits; absent without an offer. */
  readonly bits?: number;
}

export interface Taking {
  readonly bank: Bank;
  /** Every state so far, the start first. */
  readonly steps: readonly Step[];
  /** The item that waits for an answer; undefined while the service is asked. */
  readonly waiting: OfferedItem | undefined;
  /** Why the last answer to it was refused. */
  readonly refusal: string | undefined;
  readonly failure: unknown;
}

/** What survives a reload of the page: the run, and its states so far. */
interface Kept {
  readonly saved: SavedRun | undefined;
  readonly steps: readonly Step[];
  /** The answer that was handed in last, until a state shows what it has led to. */
  readonly pending: (Answered & { readonly deliverySessionId: string }) | undefined;
}

export interface Session {
  readonly taking: Store<Taking>;
  /** Hands in an answer to the waiting item. */
  readonly answer: (response: string | boolean) => void;
  /** Ends the page’s part of it; the run itself stays as it is. */
  readonly leave: () => void;
  /** Goes on after a failure. */
  readonly resume: () => void;
}

interface TakeOptions {
  readonly tenantId: string;
  readonly bank: Bank;
  readonly mastery: MasteryClient;
  readonly resultsStudentId: string;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
}

const keyOf = (tenantId: string, bank: string): string => `run ${JSON.stringify([tenantId, bank])}`;

/** Returns whether this tab holds a run of this bank, under way or finished. */
export function isKept(storage: Pick<Storage, 'getItem'>, tenantId: string, bank: string): boolean {
  return storage.getItem(keyOf(tenantId, bank)) !== null;
}

/** Forgets the run of this bank, so that the next one starts anew. */
export function forget(storage: Pick<Storage, 'removeItem'>, tenantId: string, bank: string): void {
  storage.removeItem(keyOf(tenantId, bank));
}

/** Starts a learner’s run, or continues the one that this tab holds; a person answers it item by item. */
export function takeTest({ tenantId, bank, mastery, resultsStudentId, storage }: TakeOptions): Session {
  const key = keyOf(tenantId, bank.name);
  const text = storage.getItem(key);
  // SAFETY: only this module writes the key, and a tab’s storage ends with the tab.
  let kept: Kept =
    text === null ? { saved: undefined, steps: [], pending: undefined } : (JSON.parse(text) as Kept);
  const taking = createStore<Taking>({
    bank,
    steps: kept.steps,
    waiting: undefined,
    refusal: undefined,
    failure: undefined,
  });
  const change = (changes: Partial<Taking>): void => taking.set({ ...taking.get(), ...changes });
  const keep = (changes: Partial<Kept>): void => {
    kept = { ...kept, ...changes };
    storage.setItem(key, JSON.stringify(kept));
  };
  const controller = new AbortController();
  let hand: ((response: string | boolean) => void) | undefined;

  /** Adds a state; one that shows nothing new, as after a reload, takes the place of the last. */
  const show = async (data: AdaptiveRun): Promise<void> => {
    const { pending, steps } = kept;
    const isConsumed =
      pending !== undefined && data.offeredItem?.deliverySessionId !== pending.deliverySessionId;
    const answered = isConsumed
      ? { artifactVersionId: pending.artifactVersionId, correct: pending.correct }
      : undefined;
    const given = steps.flatMap((step) => step.answered ?? []).concat(answered ?? []);
    const bits =
      data.offeredItem === null
        ? undefined
        : await informationOf(tenantId, bank.name, given, data.offeredItem.artifactVersionId);
    const earlier = answered === undefined ? steps.slice(0, -1) : steps;
    const before = answered ?? steps.at(-1)?.answered;
    const step: Step = {
      run: data,
      ...(before && { answered: before }),
      ...(bits !== undefined && { bits }),
    };
    keep({ steps: [...earlier, step], ...(isConsumed && { pending: undefined }) });
    change({ steps: kept.steps });
  };

  const run = async (): Promise<void> => {
    change({ failure: undefined });
    // Without an owner that is named, the run waits for the score.
    let why = waitOf({ service: 'qti' });
    await runAdaptive(mastery, {
      start: { ...bank.start, runMode: 'production_learner', resultsStudentId },
      signal: controller.signal,
      store: {
        load: () => kept.saved,
        save: (saved) => keep({ saved }),
      },
      onState: ({ data }) => show(data),
      onWait: (owed) => {
        why = waitOf(owed);
      },
      sleep: pausing(() => why),
      async play(item) {
        const { deliverySessionId, artifactVersionId } = item;
        for (let refusal: string | undefined; ;) {
          const response = await new Promise<string | boolean>((resolve) => {
            hand = resolve;
            change({ waiting: item, refusal });
          });
          const answer = { tenantId, bank: bank.name, deliverySessionId, artifactVersionId, response };
          const played = await answerItem(answer);
          if ('unreadable' in played) {
            refusal = played.unreadable;
            continue;
          }
          change({ waiting: undefined });
          // QTI may have scored the answer even if its response was lost: the next state shows whether it has.
          keep({ pending: { deliverySessionId, artifactVersionId, correct: played.correct } });
          if (played.failure !== undefined) throw new PlainError(played.failure);
          return;
        }
      },
    });
  };
  const resume = (): void => {
    run().catch((failure: unknown) => {
      if (!controller.signal.aborted) change({ failure, waiting: undefined });
    });
  };
  resume();
  return {
    taking,
    answer: (response) => {
      hand?.(response);
      hand = undefined;
    },
    leave: () => controller.abort(),
    resume,
  };
}
