/** Fits simulated studies whose truth is known, and counts what their verdicts contain. */
import { calibrate, type CalibrateOptions } from '#psychometrics/calibrate/calibrate.ts';
import { isFinding, type ConditionCode } from '#psychometrics/calibrate/conditions.ts';
import { studyOf } from '#psychometrics/calibrate/read-data.ts';
import type { StudyTables } from '#tools/terminal/study/tables.ts';
import { damaged, damages, type DamagedStudy } from './damages.ts';
import { designs } from './designs.ts';
import { simulateStudy } from './simulate.ts';
import { structureStudies } from './structures.ts';

/** The name of undamaged studies. */
export const SOUND = 'sound';
export const NO_FINDING = 'none' as const;
export const ANY_FINDING = 'any' as const;

/** The condition that a study must meet; `none` if it must meet no finding, `any` if its answers cannot show what is wrong. */
type Expected = ConditionCode | typeof NO_FINDING | typeof ANY_FINDING;

/** A kind of study: one per seed is made and fitted. */
export interface VerdictStudy {
  readonly design: string;
  readonly name: string;
  readonly expected: Expected;
  readonly make: (seed: number) => DamagedStudy;
  /** Whether the condition may name other items as well: an undamaged real study can have its own. */
  readonly isReal: boolean;
  /** The least share of studies that must be right; 0 without an aim. */
  readonly aim: number;
}

/** What all studies of one kind amount to. */
export interface Outcome {
  readonly design: string;
  readonly name: string;
  readonly expected: Expected;
  readonly aim: number;
  readonly studies: number;
  /** Studies that met the expected condition with its subjects, or with none expected those that met no finding. */
  readonly right: number;
  /** Studies that met any finding. */
  readonly alarmed: number;
  /** For each condition the number of studies that met it. */
  readonly conditions: Readonly<Record<string, number>>;
  /** Seeds of the studies that were not right. */
  readonly wrong: readonly number[];
  readonly eSteps: number;
  readonly milliseconds: number;
}

export type DesignName = keyof typeof designs;
/** The design in which every damage must be found: the others have too few learners for some. */
export const LARGE: DesignName = 'english';
/** At most 4 of 200 sound studies may meet a finding, and 19 of 20 damaged ones must meet theirs. */
const SOUND_AIM = 0.98;
const DAMAGE_AIM = 0.95;
export const designNames = Object.keys(designs) as readonly DesignName[];

/** Returns the sound study and the damaged ones of a design. */
export function studiesOf(design: DesignName): VerdictStudy[] {
  return studiesFrom(design, (seed) => simulateStudy({ ...designs[design], seed }), false);
}

/** The design of studies whose answers follow a structure. */
export const STRUCTURES = 'structures';

/** Returns studies of the four structures. */
export function studiesOfStructures(): VerdictStudy[] {
  return Object.entries(structureStudies).map(([name, { tables, expected, aim }]) => ({
    design: STRUCTURES,
    name,
    expected: expected ?? NO_FINDING,
    make: (seed) => ({ tables: tables(seed), subjects: [] }),
    isReal: false,
    aim,
  }));
}

/** Returns the undamaged study and the damaged ones, all made from one source. */
export function studiesFrom(
  design: string,
  source: (seed: number) => StudyTables,
  isReal: boolean,
): VerdictStudy[] {
  return [
    {
      design,
      name: SOUND,
      expected: NO_FINDING,
      make: (seed) => ({ tables: source(seed), subjects: [] }),
      isReal,
      aim: isReal ? 0 : SOUND_AIM,
    },
    ...Object.entries(damages).map(([name, damage]): VerdictStudy => ({
      design,
      name,
      expected: damage.code ?? ANY_FINDING,
      make: (seed) => damaged(source(seed), damage, seed),
      isReal,
      aim: design === LARGE && damage.code !== undefined ? DAMAGE_AIM : 0,
    })),
  ];
}

const OPTIONS = {
  penalty: 'weak',
  bound: 0.001,
  maximumIterations: 5000,
  tolerance: 1e-3,
  // As the command does without --starts.
  randomStarts: undefined,
  seed: 1,
} as const;

/** Fits one study per seed. `clock` returns milliseconds. */
export function runStudies(
  { design, name, expected, make, isReal, aim }: VerdictStudy,
  seeds: readonly number[],
  model: CalibrateOptions['model'],
  clock: () => number,
  progress: (done: number) => void,
): Outcome {
  const conditions: Record<string, number> = {};
  const wrong: number[] = [];
  let [alarmed, eSteps] = [0, 0];
  const startedAt = clock();
  seeds.forEach((seed, n) => {
    progress(n);
    const { tables, subjects } = make(seed);
    const study = studyOf(tables);
    if (!study.ok) throw new Error(`${design} ${name}, seed ${seed}: ${study.error.join('; ')}`);
    const { conditions: met, em } = calibrate(study.value, { ...OPTIONS, model });
    eSteps += em.iterations;
    const findings = met.filter(isFinding);
    if (findings.length > 0) alarmed += 1;
    for (const code of new Set(met.map((one) => one.code))) conditions[code] = (conditions[code] ?? 0) + 1;
    const isRight =
      expected === ANY_FINDING ||
      (expected === NO_FINDING
        ? findings.length === 0
        : met.some((one) => one.code === expected && names(one.subjects, subjects, isReal)));
    if (!isRight) wrong.push(seed);
  });
  const studies = seeds.length;
  return {
    design,
    name,
    expected,
    aim,
    studies,
    right: studies - wrong.length,
    alarmed,
    conditions,
    wrong,
    eSteps: eSteps / studies,
    milliseconds: (clock() - startedAt) / studies,
  };
}

/** Returns whether a condition names these subjects and, unless others are allowed, only these; any if none is expected. */
function names(subjects: readonly string[], expected: readonly string[], areOthersAllowed: boolean): boolean {
  if (expected.length === 0) return true;
  const named = areOthersAllowed ? subjects.filter((subject) => expected.includes(subject)) : subjects;
  return named.join('\n') === expected.join('\n');
}
