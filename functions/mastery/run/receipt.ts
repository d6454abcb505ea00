import type { RunMode } from '#shared/contract/mastery/adaptive-run.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { OpenedPlatform } from '#shared/platform/open-platform.ts';
import * as operations from '#shared/platform/operations.ts';
import type { TraceEntry } from '#shared/platform/platform.ts';
import type { RunBasis } from './basis.ts';
import type { AdaptiveRunState, StopCause } from '../continuation/run-state.ts';

/** What the log admits as one word; longer or other owners' versions stand as their hash. */
const WORD = /^[\x21-\x7e]{1,120}$/;

type ReceiptBasis = Pick<RunBasis, 'policy' | 'calibration' | 'bound' | 'pins' | 'content'>;

/**
 * Logs the redacted trace of a run's step as one record and gives its content address, the answer's `receiptId` [MA-087, MA-088]: which
 * profile and host, what was reconciled, how Content stands to the pins, the processing traces of the consumed outcomes, and every call with status, version, hash, times, and whether the answer named the profile's
 * tenant. Nothing in it names a learner, a candidate, a session or a score.
 */
export function recordReceipt(
  log: OperationRequest['log'],
  opened: OpenedPlatform,
  basis: ReceiptBasis,
  { runMode, offers, stopCause }: Pick<AdaptiveRunState, 'runMode' | 'offers' | 'stopCause'>,
): string {
  const traceRefs = offers.flatMap(({ consumedTraceRef }) => consumedTraceRef ?? []);
  const receipt = receiptOf(opened, basis, runMode, traceRefs, stopCause);
  log('RUN_RECEIPT', receipt);
  return receipt.receiptId;
}

/** The same for a simulation: the trace of a conformance run without candidate and sessions, whole from Bank to Caliper [MA-134]. */
export function recordSimulationReceipt(
  log: OperationRequest['log'],
  opened: OpenedPlatform,
  basis: ReceiptBasis,
): string {
  const receipt = receiptOf(opened, basis, 'owner_conformance', []);
  log('SIMULATION_RECEIPT', receipt);
  return receipt.receiptId;
}

function receiptOf(
  { profile, platform }: OpenedPlatform,
  { policy, calibration, bound, pins, content }: ReceiptBasis,
  runMode: RunMode,
  traceRefs: readonly string[],
  stopCause?: StopCause,
) {
  const trace = {
    profile: word(profile.tenantId),
    hosts: [new URL(profile.baseUrl).host],
    runMode,
    runtimeVersion: calibration.model.runtimeVersion,
    kernelHash: calibration.model.kernelHash,
    resolvedPoolHash: pins.resolvedPoolHash,
    content,
    reconciledMembers: bound.items.length,
    absentItems: absentItems(policy, bound),
    processingTraces: traceRefs.map(word),
    ...(stopCause === undefined ? {} : { stopCause }),
    trace: foldMappings(platform.trace()),
  };
  return { receiptId: hashCanonical(trace), ...trace };
}

/** How many items the policy bars or sets apart that the pool does not have: it may have been written for a larger one. */
function absentItems({ eligibilityRules }: RunBasis['policy'], { items }: RunBasis['bound']): number {
  const { excludedItems = [], enemySets = [] } = eligibilityRules;
  const absent = new Set([...excludedItems, ...enemySets.flat()]);
  if (absent.size > 0) for (const { qtiIdentifier } of items) absent.delete(qtiIdentifier);
  return absent.size;
}

type LoggedEntry = Omit<TraceEntry, 'version'> & {
  readonly version: string | null;
  /** How many calls the entry stands for. */
  readonly calls: number;
};

/** One entry a call; the readings of single knowledge components, of which there may be hundreds, as one with a hash over their hashes. */
function foldMappings(entries: readonly TraceEntry[]): LoggedEntry[] {
  const mappings = entries.filter(({ operation }) => operation === operations.resolveMapping.id);
  const [first] = mappings;
  const others = entries
    .filter((entry) => !mappings.includes(entry))
    .map((entry) => ({
      ...entry,
      version: entry.version === null ? null : word(entry.version),
      calls: 1,
    }));
  if (first === undefined) return others;
  return [
    ...others,
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
