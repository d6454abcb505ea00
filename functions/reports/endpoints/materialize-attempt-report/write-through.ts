import { sourceProblem, unusable } from '#functions/reports/sources/problems.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledComponentsAck } from '#shared/platform/owners/results.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { isAcknowledged } from './components.ts';
import type { ComponentSet } from './components.ts';
import { gradeEnvelope, gradeEvent } from './grade-event.ts';

/**
 * Components to Results, then the event to Caliper, the second only once the first is acknowledged [RP-288]. Both owners recognise a
 * repetition, so whatever stopped half way is simply done again. An owner that refuses, or does not acknowledge what it was given, is a 503
 * naming it.
 */
export async function writeThrough(
  platform: Platform,
  evidence: AttemptEvidence,
  components: ComponentSet,
): Promise<Result<SettledComponentsAck, Problem>> {
  const { attemptId } = evidence;
  const operation = operations.writeSettledComponents;
  const settled = await platform.call(operation, { path: { attemptId }, ...components });
  if (!settled.ok) return err(sourceProblem(settled.error, 'derived'));
  const acknowledged = settled.value.value;
  if (!isAcknowledged(components, evidence, acknowledged)) return err(unusable(operation));
  const event = gradeEvent(evidence, acknowledged);
  const emitted = await platform.call(operations.emitEvent, { body: gradeEnvelope(event) });
  return emitted.ok ? ok(acknowledged) : err(sourceProblem(emitted.error, 'derived'));
}
