import type { AnalysisPolicyFile, BankFile, CalibrationFile, Learner, PolicyFile } from './bank-files.ts';
import type { ReportsFile } from './reports-file.ts';

/** The contents of one folder of a seed. */
export interface BankContent {
  readonly bank: BankFile;
  readonly calibration: CalibrationFile;
  readonly learners: readonly Learner[];
}

/** One bank to test with: its content, which another entry may share, and its own policies. */
export interface SeedBank extends BankContent {
  readonly name: string;
  readonly directory: string;
  readonly policy: PolicyFile;
  readonly alsoReleased: readonly PolicyFile[];
}

/** A loaded and checked seed. */
export interface Seed {
  readonly name: string;
  readonly title: string;
  readonly banks: readonly SeedBank[];
  readonly reports: ReportsFile;
  readonly analysisPolicy: AnalysisPolicyFile;
}

/** One thing wrong with a seed: the file below the seed directory, a JSON Pointer into it, and what is wrong there. */
export interface SeedDefect {
  readonly file: string;
  readonly pointer: string;
  readonly message: string;
}

/** Returns the first defects, one per line, and how many more there are. */
export function renderDefects(defects: readonly SeedDefect[]): string {
  const shown = defects.slice(0, 20).map((defect) => {
    const place = defect.pointer === '' ? defect.file : `${defect.file}#${defect.pointer}`;
    return `${place}: ${defect.message}`;
  });
  if (defects.length > shown.length) shown.push(`… and ${defects.length - shown.length} more`);
  return shown.join('\n');
}
