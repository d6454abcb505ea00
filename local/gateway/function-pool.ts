import { startEnvironment } from './environment.ts';
import type { Environment, FunctionDefinition, Outcome, StartEnvironment } from './environment.ts';

/** Runs functions as Lambda does: a warm free environment first, a new one up to the limit, and else the request waits its turn. */
export interface FunctionPool {
  /**
   * @returns as soon as the answer is there, or a stream has begun; the environment is free for the next request when the stream is through
   * @param caller aborted once the outcome is not needed any more: a request that still waits its turn then never runs. One that runs goes
   *   on, as in Lambda.
   */
  readonly invoke: (name: string, event: unknown, requestId: string, caller: AbortSignal) => Promise<Outcome>;
  /**
   * Ends environments at any point of their work, of one function or of all; the next request gets a fresh one.
   * @returns how many of them were serving a request
   */
  readonly kill: (name?: string) => Promise<number>;
  readonly close: () => Promise<void>;
}

interface FunctionState {
  readonly definition: FunctionDefinition;
  readonly environments: Set<Environment>;
  /** Wakes the requests that wait, the longest first. */
  readonly waiting: Set<() => void>;
}

/**
 * @param maxEnvironments most environments of one function at a time
 * @param openOutput called for each new environment; gets what its function writes, as it writes it
 * @param start how environments are started; default: on worker threads
 * @param idleMs how long an environment stays without a request. Lambda publishes no number
 */
export function createFunctionPool(
  definitions: readonly FunctionDefinition[],
  maxEnvironments: number,
  openOutput: (functionName: string) => (text: string) => void,
  start: StartEnvironment = startEnvironment,
  idleMs = 120_000,
): FunctionPool {
  const functions = new Map<string, FunctionState>(
    definitions.map((definition) => [
      definition.name,
      { definition, environments: new Set(), waiting: new Set() },
    ]),
  );
  const idle = new WeakMap<Environment, NodeJS.Timeout>();
  let closed = false;

  /** The environment used last is the warmest. */
  function acquire(state: FunctionState): Environment | undefined {
    for (const environment of state.environments) {
      if (!environment.alive) state.environments.delete(environment);
    }
    const free = [...state.environments].filter(({ busy }) => !busy).at(-1);
    if (free !== undefined) return free;
    if (state.environments.size >= maxEnvironments) return undefined;
    const { definition } = state;
    const started = start(definition, openOutput(definition.name));
    state.environments.add(started);
    return started;
  }

  /** Ends an environment that stays idle, so that its memory is free again. */
  function endWhenIdle({ environments }: FunctionState, environment: Environment): void {
    clearTimeout(idle.get(environment));
    const timer = setTimeout(() => {
      if (environment.busy || !environments.delete(environment)) return;
      void environment.kill();
    }, idleMs).unref();
    idle.set(environment, timer);
  }

  function wakeNext({ waiting }: FunctionState): void {
    const [wake] = waiting;
    wake?.();
  }

  /** Whether the request's turn came before its caller went. */
  async function itsTurn(state: FunctionState, caller: AbortSignal): Promise<boolean> {
    const { waiting } = state;
    const turned = await new Promise<boolean>((resolve) => {
      const end = (turn: boolean): void => {
        waiting.delete(wake);
        caller.removeEventListener('abort', leave);
        resolve(turn);
      };
      const wake = (): void => end(true);
      const leave = (): void => end(false);
      waiting.add(wake);
      caller.addEventListener('abort', leave);
    });
    if (!turned || !caller.aborted) return turned;
    // The caller went right after: the turn is the next one's.
    wakeNext(state);
    return false;
  }

  async function kill(name?: string): Promise<number> {
    const chosen = [...functions.values()]
      .filter(({ definition }) => name === undefined || definition.name === name)
      .flatMap(({ environments }) => [...environments]);
    const inFlight = chosen.filter(({ busy }) => busy).length;
    await Promise.all(chosen.map((environment) => environment.kill()));
    return inFlight;
  }

  return {
    async invoke(name, event, requestId, caller) {
      const state = functions.get(name);
      if (state === undefined) throw new Error(`no function ${name}`);
      for (;;) {
        if (closed) return { kind: 'crashed', message: 'the gateway is closing' };
        const environment = acquire(state);
        if (environment === undefined) {
          if (await itsTurn(state, caller)) continue;
          return { kind: 'crashed', message: 'nobody waits for the outcome' };
        }
        const { outcome, done } = environment.invoke(event, requestId);
        void done.then(() => {
          endWhenIdle(state, environment);
          wakeNext(state);
        });
        return outcome;
      }
    },
    kill,
    async close() {
      closed = true;
      await kill();
      for (const { waiting } of functions.values()) for (const wake of [...waiting]) wake();
    },
  };
}
