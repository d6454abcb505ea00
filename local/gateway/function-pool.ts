import { startEnvironment } from './environment.ts';
import type { Environment, FunctionDefinition, Outcome } from './environment.ts';

/** Runs functions as Lambda does: a warm free environment first, a new one up to the limit, and else the request waits its turn. */
export interface FunctionPool {
  readonly invoke: (name: string, event: unknown, requestId: string) => Promise<Outcome>;
  /**
   * Ends environments at whatever point they are, of one function or of all; the next request gets a fresh one.
   * @returns how many of them were serving a request
   */
  readonly kill: (name?: string) => Promise<number>;
  readonly close: () => Promise<void>;
}

interface FunctionState {
  readonly definition: FunctionDefinition;
  readonly environments: Set<Environment>;
  readonly waiting: (() => void)[];
}

/**
 * @param maxEnvironments most environments of one function at a time
 * @param openOutput called for each new environment; gets what its function writes, as it writes it
 */
export function createFunctionPool(
  definitions: readonly FunctionDefinition[],
  maxEnvironments: number,
  openOutput: (functionName: string) => (text: string) => void,
): FunctionPool {
  const functions = new Map<string, FunctionState>(
    definitions.map((definition) => [definition.name, { definition, environments: new Set(), waiting: [] }]),
  );
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
    const started = startEnvironment(definition, openOutput(definition.name));
    state.environments.add(started);
    return started;
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
    async invoke(name, event, requestId) {
      const state = functions.get(name);
      if (state === undefined) throw new Error(`no function ${name}`);
      for (;;) {
        if (closed) return { kind: 'crashed', message: 'the gateway is closing' };
        const environment = acquire(state);
        if (environment === undefined) {
          await new Promise<void>((resolve) => state.waiting.push(resolve));
          continue;
        }
        const outcome = await environment.invoke(event, requestId);
        state.waiting.shift()?.();
        return outcome;
      }
    },
    kill,
    async close() {
      closed = true;
      await kill();
      for (const { waiting } of functions.values()) for (const wake of waiting.splice(0)) wake();
    },
  };
}
