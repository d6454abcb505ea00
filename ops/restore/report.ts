import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Finding } from './finding.ts';

/** Where findings are printed, and how what they write is written. */
export interface ReportOptions<W> {
  readonly isDryRun: boolean;
  readonly print: (line: string) => void;
  /** False when the place has changed since it was compared. */
  readonly write: (write: W) => Promise<boolean>;
}

const PROGRESS_EVERY = 1000;

/** Carries out findings, prints one line for each, and counts. */
export interface RestoreReport<W> {
  /** What one comparison has found. */
  add(findings: readonly Finding<W>[]): Promise<void>;
  /** Prints the counts. @param compared what was compared, in the plural */
  end(compared: string): Result<undefined, string>;
}

export function openReport<W>(options: ReportOptions<W>): RestoreReport<W> {
  const { isDryRun, print } = options;
  const counts = { compared: 0, restored: 0, left: 0 };
  return {
    async add(findings) {
      for (const finding of findings) {
        const outcome = await apply(options, finding);
        print(`${finding.state.padEnd(8)}  ${finding.what}: ${outcome.text}`);
        counts.restored += outcome.isRestored ? 1 : 0;
        counts.left += outcome.isLeft ? 1 : 0;
      }
      counts.compared += 1;
      if (counts.compared % PROGRESS_EVERY === 0) print(`Compared ${counts.compared} so far.`);
    },
    end(compared) {
      const { restored, left } = counts;
      print(
        `Compared ${counts.compared} ${compared}: ${restored} ${isDryRun ? 'would be restored' : 'restored'}, ${left} not repaired.`,
      );
      return left === 0 ? ok(undefined) : err(`${left} not repaired: see the lines above`);
    },
  };
}

async function apply<W>(
  { isDryRun, write }: ReportOptions<W>,
  { state, note, writes }: Finding<W>,
): Promise<{ readonly text: string; readonly isRestored: boolean; readonly isLeft: boolean }> {
  if (writes.length === 0) {
    const isLeft = state === 'missing' || state === 'damaged';
    const text = [note, ...(state === 'changed' ? ['newer than the backup, kept'] : [])];
    return { text: text.filter((part) => part !== undefined).join('; '), isRestored: false, isLeft };
  }
  // What is withheld leaves a mark in its place.
  const isRestored = state !== 'withheld';
  if (isDryRun) return { text: isRestored ? 'would be restored' : (note ?? ''), isRestored, isLeft: false };
  for (const each of writes) {
    if (!(await write(each)))
      return {
        text: 'was written meanwhile and is kept: run the command again',
        isRestored: false,
        isLeft: true,
      };
  }
  return { text: isRestored ? 'restored' : (note ?? ''), isRestored, isLeft: false };
}
