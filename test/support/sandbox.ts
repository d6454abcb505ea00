import { pathToFileURL } from 'node:url';
import { createFunctionPool } from '#local/gateway/function-pool.ts';
import { answerOfGateway } from '#local/gateway/gateway-response.ts';
import { startGateway, type Page, type PageRequest } from '#local/gateway/gateway.ts';
import { createLineReader, type FunctionLogLine } from '#local/stack/function-log.ts';
import { sandboxRoutes, serveSandbox } from '#shared/contract/sandbox.ts';
import { keepLine } from './function-lines.ts';
import { callRaw } from './raw-call.ts';
import type { GatewayReply } from './gateway-call.ts';
import { bundledFunctions } from './stack.ts';

/** The sandbox's bundle behind a gateway, and nothing else: no platform, no emulators, no variable. */
export interface TestSandbox extends AsyncDisposable {
  /** The gateway's address; the sandbox is below `/sandbox`. */
  readonly url: string;
  readonly call: (target: string, call?: Parameters<typeof callRaw>[2]) => Promise<GatewayReply>;
  /** Everything that it has written so far. */
  readonly logs: () => readonly FunctionLogLine[];
  readonly close: () => Promise<void>;
}

/** @param page what else the port serves */
export async function startSandbox(
  page: (request: PageRequest) => Page | undefined = () => undefined,
): Promise<TestSandbox> {
  const { operationId, lambda } = serveSandbox;
  const file = bundledFunctions().find((built) => built.operationId === operationId)?.file ?? '';
  const lines: FunctionLogLine[] = [];
  const gateway = await startGateway(0, () => ({
    stage: 'test',
    services: [
      {
        service: 'reports',
        basePath: '/sandbox',
        routes: Object.values(sandboxRoutes).map((route) => ({ ...route, operationId })),
      },
    ],
    pool: createFunctionPool(
      [{ name: operationId, bundleUrl: pathToFileURL(file).href, ...lambda, variables: {} }],
      1,
      (name) =>
        createLineReader(name, (line) => {
          lines.push(line);
          keepLine(line);
        }),
    ),
    gatewayResponse: answerOfGateway('https://docs.mastery-reports.example/problems'),
    page,
  }));
  return {
    url: gateway.url,
    call: (target, call) => callRaw(`${gateway.url}/sandbox`, target, call),
    logs: () => lines,
    close: gateway.close,
    [Symbol.asyncDispose]: gateway.close,
  };
}
