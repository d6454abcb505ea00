import type { Provable } from '#shared/contract/gates.ts';
import { isGated } from '#shared/contract/grants.ts';
import type { Route } from '#shared/contract/route.ts';
import type { Idempotency } from '#shared/idempotency/idempotency.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import { baseMiddleware, pipelineOf } from './base-middleware.ts';
import type { Pipeline } from './base-middleware.ts';
import type { CheckedBody } from './checked-body.ts';
import type { BaseRuntime } from './exchange.ts';
import { operate } from './operate.ts';
import type { Operation } from './operation.ts';
import { correlation } from './stages/correlation.ts';
import { idempotency, notIdempotent } from './stages/idempotency.ts';
import { releaseState } from './stages/release-state.ts';
import { responseCheck } from './stages/response-check.ts';
import { scope } from './stages/scope.ts';
import { syntax } from './stages/syntax.ts';
import { token } from './stages/token.ts';

/** What of a runtime the pipeline of a route uses. */
export type PipelineRuntime = BaseRuntime & Pick<Runtime, 'fetch' | 'sleep'>;

export interface PipelineParts<R extends Route> {
  /** Binds the operation; called once per binding, when its first request has passed every stage. */
  readonly operation: () => Operation<R> | Promise<Operation<R>>;
  readonly runtime: PipelineRuntime;
  /** For routes with an Idempotency-Key. */
  readonly idempotency?: () => Idempotency;
  /** For routes with gates; not asked for the others. */
  readonly release?: () => ReleaseWatch;
}

const nothingProved: ReadonlySet<Provable> = new Set();

/**
 * The ladder around one operation (docs/pipeline.md). The row decides which stages apply; `.use` composes them in the order of the ladder.
 * A stage reads what an earlier one has established only through the readers that it is given here.
 */
export function createPipeline<R extends Route>(route: R, parts: PipelineParts<R>): Pipeline<CheckedBody> {
  const { operation, runtime } = parts;
  const { service, operationId, method } = route;
  const opened = correlation({ service, operationId, method, transfer: route.success.transfer }, runtime);
  const { exchangeOf } = opened;
  const verified = token({ route, runtime, exchangeOf });
  const { principalOf } = verified;
  const checked = syntax({ route, exchangeOf });
  const { requestOf } = checked;
  const released = isGated(route)
    ? releaseState({ row: route, bind: demanded(parts, 'release', route), exchangeOf })
    : undefined;
  const keyed = route.request.idempotencyKey
    ? idempotency({
        route,
        bind: demanded(parts, 'idempotency', route),
        exchangeOf,
        principalOf,
        requestOf,
      })
    : undefined;
  const handler = operate({
    route,
    bind: operation,
    exchangeOf,
    principalOf,
    requestOf,
    provedOf: released?.provedOf ?? (() => nothingProved),
    idempotentOf: keyed?.idempotentOf ?? (() => notIdempotent),
  });
  const base = { correlation: opened, service, ...(keyed && { operationIdOf: keyed.operationIdOf }) };
  return pipelineOf(
    baseMiddleware(base, handler)
      .use(verified)
      .use(scope({ route, principalOf }))
      .use(checked)
      .use(released ?? [])
      .use(keyed ?? [])
      .use(responseCheck({ route, exchangeOf })),
  );
}

function demanded<R extends Route, Part extends 'idempotency' | 'release'>(
  parts: PipelineParts<R>,
  part: Part,
  { operationId }: Route,
): NonNullable<PipelineParts<R>[Part]> {
  const given = parts[part];
  if (given === undefined) throw new TypeError(`${operationId} needs ${part} and was given no ${part}`);
  return given;
}
