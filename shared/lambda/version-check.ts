import { withinInvocation } from '#shared/kernel/store-calls.ts';

/*
 * The agreement between a new version and the function that calls it before its callers do (functions/deployment/check-version).
 */

/**
 * What the check sends, as the whole event of a direct call. API Gateway, SQS and EventBridge put what a caller has written into members of their
 * own events (`body`, `Records`, …), so only an identity that may call the function by `lambda:InvokeFunction` can send this.
 */
export interface VersionCheck {
  /** `tenantId`: the stage's canary tenant, if there is one. */
  readonly versionCheck: { readonly tenantId?: string };
}

/**
 * Why something that a version needs is not proved. `broken`: the version cannot use it. `unreachable`: it did not respond, or rejected the call because
 * of its load. `unproved`: there is nothing to try it with.
 */
export const proofFaults = ['broken', 'unreachable', 'unproved'] as const;

/** What came of one try. Without a fault, it works. */
export interface Proof {
  /** A grant, or another part of the version. */
  readonly of: string;
  readonly fault?: (typeof proofFaults)[number];
  /** The name of an error, or a word. */
  readonly error?: string;
}

/** What a new version answers to the check: at least that it has tried something. */
export interface VersionReport {
  readonly versionCheck: readonly Proof[];
}

/** A handler that also answers the check. */
export type Checkable<Handler extends (...args: never) => Promise<unknown>> = (
  ...args: Parameters<Handler>
) => Promise<Awaited<ReturnType<Handler>> | VersionReport>;

/**
 * Wraps a Lambda handler so that it answers the check of new versions, and so that the stores have the rest of each invocation, less the time to
 * respond. Every function has it; a deployment fails if one has not.
 * @param prove tries what the function needs, and writes nothing
 */
export function checkable<Event, Context extends { readonly getRemainingTimeInMillis: () => number }, Answer>(
  runtime: Parameters<typeof withinInvocation>[0],
  prove: (tenantId: string | undefined, context: Context) => Promise<readonly Proof[]>,
  handler: (event: Event, context: Context) => Promise<Answer>,
): (event: Event, context: Context) => Promise<Answer | VersionReport> {
  return withinInvocation(
    runtime,
    async (event: Event, context: Context): Promise<Answer | VersionReport> => {
      const check = versionCheckOf(event);
      return check === undefined
        ? handler(event, context)
        : { versionCheck: await prove(check.tenantId, context) };
    },
  );
}

function versionCheckOf(event: unknown): VersionCheck['versionCheck'] | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  const [[name, value] = [], ...others] = Object.entries(event);
  if (name !== 'versionCheck' || others.length > 0) return undefined;
  // SAFETY: the check of new versions sends it, in this form.
  return value as VersionCheck['versionCheck'];
}
