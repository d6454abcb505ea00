import { crossOriginHeaders } from '#shared/contract/cors.ts';
import type { Exchange } from '../exchange.ts';
import { httpAnswer } from './stage.ts';
import type { FactReader, Stage, StageRequest } from './stage.ts';

/** Lets pages of the stage's allowed origins read every response. Without such an origin no response has a CORS header. */
export function cors({ exchangeOf }: { readonly exchangeOf: FactReader<Exchange> }): Stage {
  const allow = ({ context, response }: StageRequest): void => {
    const { headers, allowedOrigins } = exchangeOf(context);
    if (allowedOrigins.length === 0) return;
    const answer = httpAnswer(response);
    const [origin, second] = headers['origin'] ?? [];
    const isAllowed = origin !== undefined && second === undefined && allowedOrigins.includes(origin);
    answer.headers = { ...answer.headers, ...(isAllowed ? crossOriginHeaders(origin) : {}), Vary: 'Origin' };
  };
  return { after: allow, onError: allow };
}
