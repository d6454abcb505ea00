import { ssm } from '#shared/stores/clients.ts';
import { readGateFlags } from '#shared/stores/gate-parameters.ts';

/** Stands for a handler in the tests of the bundler: it reads from SSM, whose client is the one that is slimmed most. */
export async function handler(path: string): Promise<readonly string[]> {
  return [...(await readGateFlags(ssm(), path)).keys()];
}
