import type * as z from 'zod';
import type { Observed } from '#functions/reports/facts/facts.ts';
import { incomplete } from '#functions/reports/facts/incomplete.ts';
import type { PinnedRef, PinnedSource, RunRecord } from '#shared/improvement/records.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { AnalysisArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import type { UpstreamCall } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { sourceProblem } from './problems.ts';
import { isAbout, type SourceReader } from './reader.ts';

/**
 * Why a run's evidence could not be read as it was pinned. `gone`: the owner shows nothing under the id. `changed`: it shows other bytes. `moved`: it
 * responds with other ids or another version than requested. `unavailable`: it gave no usable response. Except for the last, the evidence no longer
 * dereferences.
 */
export type PinFault =
  | { readonly kind: 'gone' | 'changed' | 'moved'; readonly service: 'analytics' | 'blueprint' }
  | { readonly kind: 'unavailable'; readonly problem: Problem };

/** The members of a run by which its evidence is read. */
export type PinnedRun = Pick<RunRecord, 'administrationId'> & {
  readonly pins: Pick<RunRecord['pins'], 'contentTestSpecId' | 'contentTestSpecVersion' | 'sourceSet'>;
};

/** Reads the list of named sources that the run is pinned to. */
export function readPinnedSourceSet(
  reader: SourceReader,
  { pins }: PinnedRun,
): Promise<Result<Observed<AlignmentSources>, PinFault>> {
  const { contentTestSpecId: testSpecId, contentTestSpecVersion: version, sourceSet } = pins;
  const call = { path: { testSpecId }, query: { version } };
  const asked = { testSpecId, testSpecVersion: version, sourceSetId: sourceSet.ref };
  return readPinned(reader, operations.readAlignmentSources, call, sourceSet, asked);
}

/** Reads the complete crosswalk of one named source. */
export function readPinnedCrosswalk(
  reader: SourceReader,
  { pins }: PinnedRun,
  { sourceKey, crosswalk }: Pick<PinnedSource, 'sourceKey' | 'crosswalk'>,
): Promise<Result<Observed<AlignmentCrosswalk>, PinFault>> {
  const { contentTestSpecId: testSpecId, contentTestSpecVersion: version } = pins;
  const crosswalkId = crosswalk.ref;
  const call = { path: { testSpecId, crosswalkId }, query: { version } };
  const asked = { testSpecId, testSpecVersion: version, crosswalkId, sourceKey };
  return readPinned(reader, operations.readAlignmentCrosswalk, call, crosswalk, asked);
}

/** Reads the artifact of one metric, or the comparison of predicted with actual results of one named source. */
export function readPinnedArtifact<const Asked extends Partial<AnalysisArtifact>>(
  reader: SourceReader,
  { administrationId, pins }: PinnedRun,
  pin: PinnedRef,
  asked: Asked,
): Promise<Result<Observed<AnalysisArtifact & Asked>, PinFault>> {
  const { contentTestSpecId, contentTestSpecVersion } = pins;
  const artifactRef = pin.ref;
  const about = { artifactRef, administrationId, contentTestSpecId, contentTestSpecVersion, ...asked };
  return readPinned(reader, operations.readAnalysisArtifact, { path: { artifactRef } }, pin, about);
}

/** Reads evidence, once more before the service believes that it is gone, has changed or has moved. */
export async function readTwice<T>(read: () => Promise<Result<T, PinFault>>): Promise<Result<T, PinFault>> {
  const first = await read();
  return first.ok || first.error.kind === 'unavailable' ? first : read();
}

/** @param asked the members that the answer must have, regardless of its bytes */
async function readPinned<Answer extends object, const Asked extends Partial<Answer>>(
  reader: SourceReader,
  operation: UpstreamOperation<z.ZodType<Answer>>,
  call: UpstreamCall<UpstreamOperation<z.ZodType<Answer>>>,
  { ref, sha256 }: PinnedRef,
  asked: Asked,
): Promise<Result<Observed<Answer & Asked>, PinFault>> {
  const service = operation.service === 'content' ? 'blueprint' : 'analytics';
  // A reader of the receipt needs the digest that the bytes were checked by.
  const answer = await reader.read(operation, call, () => ({ resourceId: ref, version: `sha256:${sha256}` }));
  if (!answer.ok) {
    const { kind } = answer.error;
    if (kind === 'not-found') return err({ kind: 'gone', service });
    if (kind === 'wrong-entity') return err({ kind: 'moved', service });
    return err({ kind: 'unavailable', problem: sourceProblem(answer.error, 'derived') });
  }
  const { value } = answer.value;
  if (!isAbout(value, asked)) return err({ kind: 'moved', service });
  return answer.value.sha256 === sha256
    ? ok({ value, receipt: answer.value.receipt })
    : err({ kind: 'changed', service });
}

/** Returns the problem of evidence that could not be read, for a reader of its run [RP-268]: 503, naming its owner. */
export function pinProblem(fault: PinFault): Problem {
  return fault.kind === 'unavailable'
    ? fault.problem
    : incomplete(fault.service, 'An artifact that the run is pinned to no longer dereferences.');
}
