import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { duration, verdict, table, type Part, type Progress, type Report } from '../measure.ts';
import type { MatrixFigures } from './recovery-process.ts';

/** Aims: seconds on one core, and megabytes of the whole process. */
const MATRIX_SECONDS = 10;
const MATRIX_MB = 512;

const PROFILES = 100;
const QUICK_PROFILES = 3;

/** In a process of its own, so that its memory is that of the matrix and of the bank, and of nothing else. */
async function recoveryMatrix(progress: Progress, isQuick: boolean): Promise<Report> {
  progress('simulating');
  const file = fileURLToPath(new URL('./recovery-process.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    file,
    String(isQuick ? QUICK_PROFILES : PROFILES),
  ]);
  const { profiles, items, cpu, peak } = JSON.parse(stdout) as MatrixFigures;
  const isFast = cpu <= MATRIX_SECONDS * 1000;
  const isSmall = peak <= MATRIX_MB;
  return {
    text: table(
      ['', 'CPU', 'CPU, one item', 'peak', `aim: CPU ≤ ${MATRIX_SECONDS} s, peak ≤ ${MATRIX_MB} MB`],
      [
        [
          `${profiles} profiles, ${items} items answered`,
          duration(cpu),
          duration(cpu / items),
          `${peak.toFixed(0)} MB`,
          verdict(isFast && isSmall),
        ],
      ],
    ),
    missed: isSmall ? [] : [`recovery-matrix: ${peak.toFixed(0)} MB of ${MATRIX_MB} MB`],
  };
}

export const recoveryMatrixPart: Part = {
  title: `Recovery matrix: ${PROFILES} profiles × 500 KCs × 60 items over 10,000 items, posterior anew after each item`,
  run: recoveryMatrix,
};
