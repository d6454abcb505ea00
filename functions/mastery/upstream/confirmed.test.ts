import { expect, it } from 'vitest';
import { ok } from '#shared/kernel/result.ts';
import {
  readAdaptivePoolManifest,
  readAdaptivePoolRoot,
  readCandidateRuntime,
} from '#shared/platform/operations.ts';
import { problem } from '#shared/problems/registry.ts';
import { confirmed, unconfirmed } from './confirmed.ts';
import { found } from './problems.ts';

const conflict = (reading: string) =>
  unconfirmed(problem('mastery', 'stream-conflict', 409), readCandidateRuntime, reading);
const older = unconfirmed(found('older', readCandidateRuntime, undefined), readCandidateRuntime, '');

const missing = [readAdaptivePoolManifest, readAdaptivePoolRoot].map((row) =>
  unconfirmed(found('broken', row, undefined), row, ''),
);

it.each([
  ['no two of different owners', [...missing, ok(1)], 'ok', 2],
  ['the first that fits', [ok(1)], 'ok', 0],
  ['the second that fits', [conflict('a'), ok(1)], 'ok', 1],
  ['the third that fits', [conflict('a'), older, ok(1)], 'ok', 2],
  ['two equal ones', [conflict('a'), conflict('a'), ok(1)], '409', 1],
  ['the third that equals the first', [conflict('a'), older, conflict('a')], '409', 2],
  ['no 409 where each differs', [conflict('a'), conflict('b'), conflict('c')], '424 retryable', 2],
  ['no 409 where QTI is behind and then differs', [older, conflict('a'), conflict('b')], '424 retryable', 2],
  ['QTI behind twice', [older, older], '424 retryable', 1],
])('of contradicting readings counts %s [MA-142, MA-215]', async (_, readings, expected, pauses) => {
  let paused = 0;
  let made = 0;
  const pause = () => Promise.resolve(void (paused += 1));
  const result = await confirmed({ pause }, () => Promise.resolve(readings[made++] ?? ok(1)));
  const seen = result.ok ? 'ok' : `${result.error.status}${result.error.retryable ? ' retryable' : ''}`;
  expect([seen, paused]).toEqual([expected, pauses]);
});
