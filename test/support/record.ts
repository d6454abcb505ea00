import { writeFileSync } from 'node:fs';
import { readRecording, recordedFile, type Recording } from '#ops/cost/recorded.ts';

/** Writes down what a test has seen, for `npm run cost`, if `UPDATE_RECORDED=1` asks for it. Otherwise the test compares it. */
export function record(seen: Partial<Recording>): void {
  if (process.env['UPDATE_RECORDED'] !== '1') return;
  writeFileSync(recordedFile, `${JSON.stringify({ ...readRecording(), ...seen }, null, 2)}\n`);
}
