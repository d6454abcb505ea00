import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import fc from 'fast-check';

// Loaded before anything else on every thread of a test process. The instrumented code reads its mutant from the environment, but a
// function on a thread has an environment of its own, so there the number comes by another way.
const variable = '__STRYKER_ACTIVE_MUTANT__';
const mutant = isMainThread ? process.env[variable] : getEnvironmentData(variable);
if (mutant) {
  setEnvironmentData(variable, mutant);
  // A mutant that makes a loop endless throws, instead of waiting for the watchdog.
  globalThis.__stryker__ = { activeMutant: mutant, hitCount: 0, hitLimit: 50_000_000 };
  // Only whether a property fails counts: no time is spent on a smaller counterexample.
  fc.configureGlobal({ endOnFailure: true });
}
