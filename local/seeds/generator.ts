import { stream } from '#shared/kernel/random-stream.ts';
import { localCalibration } from './bank-files.ts';
import type { BankFile, CalibrationFile, GeneratorFile, Learner } from './bank-files.ts';
import type { BankContent } from './seed.ts';

const DOMAINS = [
  'ratios and proportions',
  'integer operations',
  'linear expressions',
  'linear equations',
  'percentages',
  'area and volume',
  'decimal numbers',
  'data displays',
];
const SKILLS = ['recognise', 'represent', 'compute with', 'solve problems about'];

/** The standard that multi-component items carry besides their own: a coverage tag without a component. */
const PRACTICE = 'connect';

/**
 * Makes a bank of any size out of a few settings, always the same for the same settings (generator `standards-by-components/1`).
 * Items need one to three components of one standard, so the component graph never joins two standards. Tables are conjunctive,
 * compensatory and disjunctive by turns, all of them monotone.
 */
export function generateBank(settings: GeneratorFile): BankContent {
  const draw = stream(`${settings.generator} ${settings.seed}`);
  const bank = makeBank(settings, draw);
  const calibration = makeCalibration(bank, draw);
  return { bank, calibration, learners: makeLearners(settings, bank, calibration, draw) };
}

function makeBank(settings: GeneratorFile, draw: () => number): BankFile {
  const groups = Array.from({ length: settings.standards }, (_, at) => ({
    standard: label(DOMAINS, at),
    name: `S${pad(at + 1, settings.standards)}`,
    kcs: Array.from({ length: settings.kcsPerStandard }, (__, kc) => ({
      name: `S${pad(at + 1, settings.standards)}.K${pad(kc + 1, settings.kcsPerStandard)}`,
      label: `${label(SKILLS, kc)} ${label(DOMAINS, at)}`,
    })),
  }));
  const items = Array.from({ length: settings.items }, (_, at): BankFile['items'][number] => {
    const group = groups[at % groups.length];
    if (group === undefined) throw new RangeError('a bank has at least one standard');
    const round = Math.floor(at / groups.length);
    const size = Math.min(1 + (round % 3), group.kcs.length);
    // The first component goes round, so that none stays without items; the others are drawn.
    const pool = [...group.kcs];
    const [first] = pool.splice(round % pool.length, 1);
    const chosen = first === undefined ? [] : [first];
    while (chosen.length < size) chosen.push(...pool.splice(Math.floor(draw() * pool.length), 1));
    return {
      name: `Item${pad(at + 1, settings.items)}`,
      stem: `Task ${at + 1}: ${chosen.map((kc) => kc.label).join('; ')}`,
      kcs: chosen.map((kc) => kc.name),
      standards: size > 1 ? [group.name, PRACTICE] : [group.name],
      accessibility: at % 10 === 9 ? ['keyboard'] : ['keyboard', 'screen-reader'],
    };
  });
  return {
    title: settings.title,
    subject: settings.subject,
    grades: [...settings.grades],
    framework: `${settings.title}: competency framework`,
    standards: [
      ...groups.map((group) => ({ name: group.name, statement: `Understand ${group.standard}` })),
      { name: PRACTICE, statement: 'Connect several ideas in one task' },
    ],
    kcs: groups.flatMap((group) => group.kcs),
    items,
  };
}

function makeCalibration(bank: BankFile, draw: () => number): CalibrationFile {
  return {
    theta: { nodes: 61, min: -6, max: 6, mean: 0, sd: 1 },
    kcs: bank.kcs.map((kc) => ({
      kc: kc.name,
      slope: decimals(1.5 + 1.5 * draw()),
      location: decimals(-1.25 + 2.5 * draw()),
    })),
    items: bank.items.map((item, at) => {
      const guess = 0.05 + 0.15 * draw();
      const slip = 0.05 + 0.15 * draw();
      return { item: item.name, probabilities: table(at % 3, item.kcs.length, guess, slip) };
    }),
    scale: { name: 'generated-scale', base: 500, perTheta: 100 },
    ...localCalibration,
    limitations: [
      'Generated parameters for local development; they describe no real items and no real learners.',
    ],
  };
}

/** P(correct) by pattern: 0 all components at once, 1 each adds its share, 2 any component. */
function table(shape: number, size: number, guess: number, slip: number): number[] {
  return Array.from({ length: 2 ** size }, (_, pattern) => {
    const mastered = Array.from({ length: size }, (__, bit) => (pattern >> bit) & 1).filter(Boolean).length;
    const share =
      shape === 0 ? Number(mastered === size) : shape === 1 ? mastered / size : Number(mastered > 0);
    return decimals(guess + (1 - slip - guess) * share);
  });
}

/** Simulated learners: an ability, the components that it brings, and an answer to every item. */
function makeLearners(
  settings: GeneratorFile,
  bank: BankFile,
  calibration: CalibrationFile,
  draw: () => number,
): readonly Learner[] {
  const tables = new Map(
    calibration.items.map((item) => [item.item, 'probabilities' in item ? item.probabilities : []]),
  );
  return Array.from({ length: settings.learners }, (_, at) => {
    // Irwin-Hall: the sum of twelve uniform draws is nearly standard normal.
    const theta = Array.from({ length: 12 }, draw).reduce((sum, value) => sum + value, -6);
    const mastered = new Set(
      calibration.kcs
        .filter(({ slope = NaN, location = NaN }) => draw() < 1 / (1 + Math.exp(-slope * (theta - location))))
        .map((kc) => kc.kc),
    );
    const answers = bank.items.map((item): [string, 0 | 1] => {
      const pattern = item.kcs.reduce((bits, kc, bit) => bits | (Number(mastered.has(kc)) << bit), 0);
      return [item.name, draw() < (tables.get(item.name)?.[pattern] ?? 0) ? 1 : 0];
    });
    return { name: `simulee-${pad(at + 1, settings.learners)}`, answers: Object.fromEntries(answers) };
  });
}

function label(words: readonly string[], at: number): string {
  const word = words[at % words.length] ?? '';
  return at < words.length ? word : `${word} ${Math.floor(at / words.length) + 1}`;
}

function pad(number: number, largest: number): string {
  return String(number).padStart(String(largest).length, '0');
}

function decimals(value: number): number {
  return Number(value.toFixed(6));
}
