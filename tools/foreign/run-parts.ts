import { performance } from 'node:perf_hooks';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { UsageError } from '../terminal/command.ts';
import { renderTable } from '../terminal/table.ts';
import type { Part } from './part.ts';

/** Loads a part, so that a run of some parts does not wait for the others. */
type Load = () => Promise<Part>;

interface RunOptions {
  /** Whether the parts try what takes too long for CI. */
  readonly all: boolean;
  /** The parts that need not run, each with the reason. */
  readonly mayBeAbsent: Readonly<Record<string, string>>;
}

/** A row of the table, and whether the command may pass with it. */
interface Row {
  readonly cells: readonly string[];
  readonly isGood: boolean;
}

/** Runs one part and prints what it found. */
async function runPart(
  name: string,
  load: Load,
  { all, mayBeAbsent: { [name]: acceptedAbsence } }: RunOptions,
): Promise<Row> {
  const startedAt = performance.now();
  const row = (tried: string, differences: string, outcome: string, isGood: boolean): Row => {
    const seconds = `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
    return { cells: [name, tried, differences, seconds, outcome], isGood };
  };
  try {
    const part = await load();
    console.log(`${name}: ${part.about} …`);
    const done = await part.run({ all });
    if (!done.ok) {
      const accepted = acceptedAbsence === undefined ? '' : ` (accepted: ${acceptedAbsence})`;
      console.log(`${name} did not run: ${done.error}${accepted}`);
      return row('', '', 'not run', acceptedAbsence !== undefined);
    }
    const { tried, differences } = done.value;
    for (const difference of differences) console.log(`  ${difference}`);
    const isGood = differences.length === 0;
    return row(tried, String(differences.length), isGood ? 'passed' : 'failed', isGood);
  } catch (error) {
    console.log(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    return row('', '', 'failed', false);
  }
}

/**
 * Runs parts one after another, since each is busy enough, and prints a table of them. Fails if a part finds a difference, breaks off, or cannot be run.
 * @param only the names of the parts to run
 */
export async function runParts(
  parts: Readonly<Record<string, Load>>,
  only: readonly string[],
  options: RunOptions,
): Promise<Result<undefined, string | UsageError>> {
  const names = Object.keys(parts);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined)
    return err(new UsageError(`unknown part "${unknown}": expected ${names.join(', ')}`));
  const rows: Row[] = [];
  for (const [name, load] of Object.entries(parts))
    if (only.includes(name)) rows.push(await runPart(name, load, options));
  const head = ['part', 'tried', 'differences', 'time', 'outcome'];
  console.log(`\n${renderTable([head, ...rows.map(({ cells }) => cells)])}`);
  const bad = rows.filter(({ isGood }) => !isGood).length;
  return bad === 0 ? ok(undefined) : err(`${bad} of ${rows.length} parts did not pass`);
}
