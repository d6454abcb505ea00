import { ok } from '#shared/kernel/result.ts';
import type { Operation } from '#shared/http/operation.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { streamedProbe } from './probe-routes.ts';

/** Stands for a handler in the tests of streamed routes: the id of the probe says what it answers. */
const route = streamedProbe();

/** A row of 1 KB. */
const row = { text: 'é"\\\n'.repeat(200) };

/** A value that passes a schema which does not look into it, and then fails as it is written. */
const breaking = (fail: () => never): object => ({ toJSON: fail });

const bodies: Readonly<Record<string, () => Readonly<Record<string, unknown>>>> = {
  small: () => ({}),
  large: () => ({ rows: Array.from({ length: 10_000 }, () => row) }),
  broken: () => ({
    rows: [
      ...Array.from({ length: 1000 }, () => row),
      breaking(() => {
        throw new TypeError('canary');
      }),
    ],
  }),
  dead: () => ({ rows: [...Array.from({ length: 1000 }, () => row), breaking(() => process.exit(1))] }),
};

const operation: Operation<typeof route> = ({ path: { probeId } }) =>
  Promise.resolve(ok({ body: { seen: bodies[probeId]?.() ?? {} } }));

export const bind = createReadLambda(route, () => operation);

export const handler = bind(processRuntime());
