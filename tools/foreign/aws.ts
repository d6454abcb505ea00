import { ok } from '#shared/kernel/result.ts';
import { deploy } from './aws/deploy.ts';
import { drill } from './aws/drill.ts';
import { startMoto } from './aws/moto.ts';
import { serve } from './aws/serve.ts';
import { createStores } from './aws/stores.ts';
import type { Part, Tried } from './part.ts';
import { pythonTool } from './python.ts';

export const aws: Part = {
  about: 'the deployment, every route, the journeys and an improvement run on moto, an AWS emulator',
  async run({ all }) {
    const program = await pythonTool('moto_server');
    return program.ok ? ok(await tryAws(program.value, all)) : program;
  },
};

async function tryAws(program: string, all: boolean): Promise<Tried> {
  await using moto = await startMoto(program);
  const deployed = await deploy(moto);
  const drilled = all ? await drill(moto.url, deployed) : [];
  await createStores(moto.url, deployed);
  const served = await serve(moto);
  return {
    tried: `2 deployments, ${served.tried}`,
    differences: [...deployed.differences, ...drilled, ...served.differences],
  };
}
