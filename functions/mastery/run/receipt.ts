import { profileProblem } from '#functions/mastery/upstream/problems.ts';
import { hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, type Result } from '#shared/kernel/result.ts';
import type { Log, LogFields } from '#shared/observability/logger.ts';
import { openPlatform, type OpenedPlatform, type PlatformRequest } from '#shared/platform/open-platform.ts';
import * as operations from '#shared/platform/operations.ts';
import type { TraceEntry } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { KnownIsolation } from '#shared/release/release-state.ts';
import type { RunBasis } from './basis.ts';
import type { PoolDependencies } from './dependencies.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/** The form of a word in the log; a longer or other version of an owner is logged as its hash. */
const WORD = /^[\x21-\x7e]{1,120}$/;

/** The platform of one request, with the state of the stage's isolation for its receipt. */
export interface OpenedRun extends OpenedPlatform {
  readonly isolation: KnownIsolation;
}

/**
 * Works with the platform of the verified tenant; returns a problem without a usable profile of exactly that tenant [MA-009, MA-010]. A refused pool
 * leaves a receipt of how far the request came, and its 502 names that receipt [MA-221].
 */
export async function withRunPlatform<T>(
  dependencies: PoolDependencies,
  request: PlatformRequest,
  work: (opened: OpenedRun) => Promise<Result<T, Problem>>,
): Promise<Result<T, Problem>> {
  const [platform, isolation] = await Promise.all([
    openPlatform(dependencies, request),
    dependencies.isolationProof(),
  ]);
  if (!platform.ok) return err(profileProblem(platform.error));
  const opened = { ...platform.value, isolation };
  const result = await work(opened);
  if (result.ok || result.error.code !== 'qti-adaptive-pool-invalid') return result;
  return err({ ...result.error, receiptId: logReceipt(request.log, 'POOL_RECEIPT', traceOf(opened)) });
}

/**
 * Logs the redacted trace of a run's step as one record and returns its content address, the response's `receiptId` [MA-087, MA-088]: profile and host, the
 * reconciled pool, whether Content is as pinned, the processing traces of the consumed outcomes, whether the stage's isolation is proved, and every call
 * with status, version, hash, times and the tenant that the answer named. It names no learner, candidate, session or score. A simulation's is that of a
 * conformance run without candidate and sessions, complete from Bank to Caliper [MA-134].
 */
export function recordReceipt(
  log: Log,
  code: 'RUN_RECEIPT' | 'SIMULATION_RECEIPT',
  opened: OpenedRun,
  { calibration, bound, pins, content }: RunBasis,
  { runMode, offers, stopCause }: Pick<AdaptiveRunState, 'runMode' | 'offers' | 'stopCause'>,
): string {
  return logReceipt(log, code, {
    ...traceOf(opened),
    runMode,
    runtimeVersion: calibration.model.runtimeVersion,
    kernelHash: calibration.model.kernelHash,
    resolvedPoolHash: pins.resolvedPoolHash,
    content: contentOf(content),
    reconciledMembers: bound.items.length,
    absentItems: bound.absentItems,
    processingTraces: offers.flatMap(({ consumedTraceRef }) =>
      consumedTraceRef === undefined ? [] : word(consumedTraceRef),
    ),
    ...(stopCause === undefined ? {} : { stopCause }),
  });
}

function contentOf(content: RunBasis['content']): 'as_pinned' | 'differs' | 'not_read' {
  if (content?.ok === true) return 'as_pinned';
  return content?.error.status === 409 ? 'differs' : 'not_read';
}

function logReceipt(log: Log, code: `${'POOL' | 'RUN' | 'SIMULATION'}_RECEIPT`, trace: LogFields): string {
  const receiptId = hashCanonical(trace);
  log(code, { receiptId, ...trace });
  return receiptId;
}

/** Returns the part that every receipt has: the tenant, whether the stage's isolation is proved, and the calls. */
function traceOf({ profile, platform, isolation }: OpenedRun) {
  return {
    profile: word(profile.tenantId),
    hosts: [new URL(profile.baseUrl).host],
    isolationOutcome: isolation.outcome,
    ...('digest' in isolation ? { isolationDigest: isolation.digest } : {}),
    trace: foldMappings(platform.trace()).map((entry) => withoutUsual(entry, word(profile.tenantId))),
  };
}

/** What an entry of the trace omits (docs/log-codes.md): most entries are alike, and the trace is the longest line of a call. */
const usual = {
  status: 200,
  outcome: 'answered',
  attempts: 1,
  calls: 1,
  version: null,
  upstreamRequestId: null,
};

/** Returns the members of an entry that differ from a first successful call whose answer names the profile's tenant, or names none. */
function withoutUsual({ tenant, namedTenant, ...entry }: TraceLine, profileTenant: string): object {
  const isUsual = ([name, value]: readonly [string, unknown]): boolean =>
    name in usual && usual[name as keyof typeof usual] === value;
  return {
    ...Object.fromEntries(Object.entries(entry).filter((member) => !isUsual(member))),
    tenant,
    ...((tenant === 'same' ? namedTenant !== profileTenant : namedTenant !== null) && { namedTenant }),
  };
}

type TraceLine = TraceEntry & { readonly calls: number };

/**
 * Returns one entry per call, but only one for all readings of single knowledge components, of which there may be hundreds, with a hash over their hashes.
 * `calls` is the number of calls in an entry.
 */
function foldMappings(entries: readonly TraceEntry[]): TraceLine[] {
  const { mappings = [], others = [] } = Object.groupBy(entries, ({ operation }) =>
    operation === operations.readCfItem.id ? 'mappings' : 'others',
  );
  const logged = others.map((entry) => ({
    ...entry,
    version: entry.version === null ? null : word(entry.version),
    namedTenant: entry.namedTenant === null ? null : word(entry.namedTenant),
    calls: 1,
  }));
  const [first] = mappings;
  if (first === undefined) return logged;
  return [
    ...logged,
    {
      ...first,
      upstreamRequestId: null,
      version: null,
      responseHash: sha256Hex(
        mappings
          .map(({ responseHash }) => responseHash ?? '')
          .sort()
          .join('\n'),
      ),
      startedAt: Math.min(...mappings.map(({ startedAt }) => startedAt)),
      endedAt: Math.max(...mappings.map(({ endedAt }) => endedAt)),
      attempts: mappings.reduce((sum, { attempts }) => sum + attempts, 0),
      calls: mappings.length,
    },
  ];
}

function word(text: string): string {
  return WORD.test(text) ? text : `sha256:${sha256Hex(text)}`;
}
