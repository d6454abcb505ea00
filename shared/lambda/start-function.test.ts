import { describe, expect, it } from 'vitest';
import { callStore } from '#shared/kernel/store-calls.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { processRuntime } from './process-runtime.ts';
import { startFunction } from './start-function.ts';

const inLambda = { AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' };
const never = new Promise<never>(() => undefined);

/** A runtime in which no time passes unless a test lets it. */
function runtimeOf(
  environment: Runtime['environment'],
  sleep: Runtime['sleep'] = (_, signal) =>
    new Promise((resolve) => {
      signal?.addEventListener('abort', resolve);
    }),
): Runtime {
  return { ...processRuntime(), environment, sleep };
}

describe('startFunction', () => {
  it('returns what was bound, once everything is prepared, what preparing begins included', async () => {
    const done: string[] = [];
    const step = async (name: string, next?: () => void): Promise<void> => {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      done.push(name);
      next?.();
    };
    const handler = await startFunction(({ prepare }) => {
      prepare?.(() => step('part', () => prepare(() => step('its read'))));
      prepare?.(() => step('key set'));
      return 'handler';
    }, runtimeOf(inLambda));
    expect([handler, ...done]).toEqual(['handler', 'part', 'key set', 'its read']);
  });

  it('starts in spite of what fails, and of a store', async () => {
    let failed: unknown;
    const handler = await startFunction(({ prepare }) => {
      prepare?.(() => Promise.reject(new Error('no keys')));
      prepare?.(() =>
        callStore((end) =>
          Promise.reject(new Error(`the store has ${end === undefined ? 'no' : 'a'} limit`)),
        ).catch((error: unknown) => {
          failed = error;
          throw error;
        }),
      );
      return 'handler';
    }, runtimeOf(inLambda));
    expect(handler).toBe('handler');
    expect(failed).toEqual(new Error('the store has a limit'));
  });

  it('waits a second for what hangs, cuts a store off, and prepares nothing later', async () => {
    const slept: number[] = [];
    let late: Runtime['prepare'];
    let cut = false;
    await startFunction(
      ({ prepare }) => {
        late = prepare;
        prepare?.(() => never);
        prepare?.(() =>
          callStore((end) => {
            end?.addEventListener('abort', () => (cut = true));
            return never;
          }),
        );
      },
      runtimeOf(inLambda, (milliseconds) => {
        slept.push(milliseconds);
        return Promise.resolve();
      }),
    );
    expect({ slept, cut }).toEqual({ slept: [1_000], cut: true });
    let begun = false;
    late?.(() => {
      begun = true;
      return never;
    });
    expect(begun).toBe(false);
  });

  it('prepares nothing outside of Lambda, and throws what binding throws', async () => {
    let given: Runtime | undefined;
    const bind = (runtime: Runtime): void => {
      given = runtime;
    };
    await startFunction(bind, runtimeOf({}));
    expect(given).toBeDefined();
    expect(given?.prepare).toBeUndefined();
    const defect = new TypeError('a defect');
    const broken = (): never => {
      throw defect;
    };
    await expect(startFunction(broken, runtimeOf(inLambda))).rejects.toBe(defect);
  });
});
