import type { Route, Transfer } from '#shared/contract/route.ts';
import { createFunctionLog } from '#shared/observability/logger.ts';
import type { PipelineAnswer } from '../answers.ts';
import { openExchange } from '../exchange.ts';
import type { BaseRuntime, Exchange } from '../exchange.ts';
import { createFact, httpAnswer } from './stage.ts';
import type { FactReader, Stage, StageRequest } from './stage.ts';

/** What the ladder knows of a function. */
export type FunctionRow = Pick<Route, 'service' | 'operationId'> & {
  /** Absent: the function takes more than one. */
  readonly method?: Route['method'];
  readonly transfer: Transfer;
};

export interface CorrelationStage extends Stage {
  readonly exchangeOf: FactReader<Exchange>;
}

/** The answers that have come up the whole ladder. Nothing else can get in here. */
const finished = new WeakSet<PipelineAnswer>();

/** Whether an answer has passed every stage: one that a stage returned, against its type, would be sent past all others. */
export function isFinished(answer: PipelineAnswer): boolean {
  return finished.has(answer);
}

/** First in and last out: opens the exchange and its log, and puts on every answer the headers that every answer has. */
export function correlation(row: FunctionRow, runtime: BaseRuntime): CorrelationStage {
  const exchanges = createFact<Exchange>('correlation');
  const openLog = createFunctionLog(row, runtime);
  const finish = ({ context, response }: StageRequest): void => {
    const answer = httpAnswer(response);
    const { requestId, receivedAt, log } = exchanges.of(context);
    answer.headers = {
      ...answer.headers,
      'X-Request-Id': requestId,
      ...(row.transfer === 'stream'
        ? { Vary: ['Accept-Encoding', answer.headers['Vary']].filter(Boolean).join(', ') }
        : {}),
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    };
    log('REQUEST_COMPLETED', {
      status: answer.statusCode,
      durationMs: runtime.now() - receivedAt,
      problem: answer.problem,
    });
    finished.add(answer);
  };
  return {
    exchangeOf: exchanges.of,
    before: ({ event, context }) => {
      const exchange = openExchange(event, context, runtime, openLog);
      exchanges.set(context, exchange);
      exchange.log('REQUEST_STARTED', { method: row.method });
    },
    after: finish,
    onError: finish,
  };
}
