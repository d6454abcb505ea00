import type { TestProject } from 'vitest/node';
import { buildFunctions } from '#tools/bundling/build.ts';

/** What the tests that talk to bundled handlers run: built once, before all of them. */
export type Bundles =
  | {
      readonly ok: true;
      readonly functions: readonly { readonly operationId: string; readonly file: string }[];
    }
  | { readonly ok: false; readonly message: string };

declare module 'vitest' {
  interface ProvidedContext {
    bundles: Bundles;
  }
}

/** A handler that does not build fails the tests that need it, and no other. */
export default async function setup(project: TestProject): Promise<void> {
  const built = await buildFunctions();
  project.provide(
    'bundles',
    built.ok
      ? { ok: true, functions: built.value.map(({ operationId, file }) => ({ operationId, file })) }
      : { ok: false, message: built.error.join('\n') },
  );
}
