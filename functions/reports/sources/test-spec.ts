import type { Observed } from '#functions/reports/facts/facts.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { IdOrigin } from './problems.ts';
import { readSource, type SourceReader } from './reader.ts';

/** One version of a test spec, as its owners refer to it. */
export interface SpecVersion {
  readonly contentTestSpecId: string;
  readonly contentTestSpecVersion: string;
}

/** Reads Content's criteria for reports under one version of a test spec. The caller compares the version of the answer. */
export function readReportCriteria(
  reader: SourceReader,
  { contentTestSpecId, contentTestSpecVersion }: SpecVersion,
  origin: IdOrigin,
): Promise<Result<Observed<ReportCriteria>, Problem>> {
  return readSource(reader, operations.readReportCriteria, origin, 'testSpecId', {
    path: { testSpecId: contentTestSpecId },
    query: { version: contentTestSpecVersion },
  });
}
