import { renderTable } from '#tools/terminal/table.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { stream } from '#shared/kernel/random-stream.ts';
import { heldBy, scenarios, wrongAnswers, wrongFacts, wrongRepetitions } from './scenarios.ts';
import { OUT_OF_TIME, type Schedule, type TraceLine } from './scheduler.ts';
import { nothingKnown, Violation, type World } from './world.ts';

/** What a schedule came to. */
export interface Run {
  readonly wrong: readonly string[];
  readonly trace: readonly TraceLine[];
  readonly fingerprint: string;
  /** How many options each decision had. */
  readonly decisions: readonly number[];
}

/** A schedule that shows a defect. */
export interface Found {
  readonly scenario: string;
  readonly schedule: Schedule;
  readonly wrong: readonly string[];
}

/** The most choices of a schedule that leave the first option: preemptions, faults and skews together. */
const MAX_CHOICES = 3;
const B_FIRST: Schedule[number] = [0, 1];

/** One scenario: runs schedules of it, and decides which one is next. */
export class Explorer {
  readonly scenario: string;
  readonly #world: World;
  readonly #draw: () => number;
  readonly #known = nothingKnown();
  readonly #seen = new Set<string>();
  /** Schedules that have not run yet, by how many choices they make: those with fewer come first, in the order that the seed draws. */
  readonly #waiting: Schedule[][] = [[[]]];
  #reference: string | undefined;
  ran = 0;
  /** Steps of all of its schedules: what it has cost. */
  steps = 0;

  constructor(world: World, scenario: string, seed: number) {
    this.#world = world;
    this.scenario = scenario;
    this.#draw = stream(`${scenario} ${seed}`);
  }

  /** How many schedules ran that differ in more than the order of steps that commute. */
  get distinct(): number {
    return this.#seen.size;
  }

  /** The number of choices up to which every schedule has run. */
  get bound(): number {
    const open = this.#waiting.findIndex((schedules) => schedules.length > 0);
    return (open < 0 ? MAX_CHOICES + 1 : open) - 1;
  }

  /** Runs the next schedule. Undefined: none is left. */
  async next(): Promise<(Run & { readonly schedule: Schedule }) | undefined> {
    const level = this.#waiting.find((schedules) => schedules.length > 0);
    if (level === undefined) return undefined;
    const at = Math.floor(this.#draw() * level.length);
    const schedule = level[at]!;
    level[at] = level.at(-1)!;
    level.pop();
    const run = await this.run(schedule);
    this.ran += 1;
    this.steps += run.trace.length;
    if (!this.#seen.has(run.fingerprint) && schedule.length < MAX_CHOICES) {
      const after = schedule.at(-1)?.[0] ?? -1;
      const longer = (this.#waiting[schedule.length + 1] ??= []);
      for (const [decision, options] of run.decisions.entries())
        for (let option = 1; decision > after && option < options; option += 1)
          longer.push([...schedule, [decision, option]]);
    }
    this.#seen.add(run.fingerprint);
    return { ...run, schedule };
  }

  /** Runs one schedule from the same beginning, and judges its end. */
  async run(schedule: Schedule): Promise<Run> {
    if (this.#reference === undefined) {
      this.#reference = '';
      // Undisturbed, each actor first in turn: this shows what the end is to be, and which steps another actor can notice.
      for (const first of [[], [B_FIRST]]) await this.#judge(first);
      this.#known.isLearning = false;
    }
    return this.#judge(schedule);
  }

  async #judge(schedule: Schedule): Promise<Run> {
    const world = this.#world;
    const { prepare } = scenarios[this.scenario]!;
    await world.reset(this.#known);
    const { actors, finish, requests, held: demanded = [], wrong } = await prepare(world);
    world.forget();
    const facts: string[] = [];
    world.onAnswer = async (answer) => void facts.push(...(await wrongFacts(world, answer)));
    const scheduler = world.begin(schedule);
    const judged = async (): Promise<readonly string[]> => {
      await world.run(scheduler, actors);
      const early = overlaps(world, scheduler.trace);
      await finish?.();
      const late = [
        await wrongRepetitions(world, requests),
        wrongAnswers(world, scheduler.faultsStruck),
        (await wrong?.()) ?? [],
      ];
      const held = await heldBy(world);
      this.#reference ||= canonicalJson(held);
      const expected = JSON.parse(this.#reference) as readonly string[];
      const missing = demanded.filter((line) => !held.includes(line)).map((line) => `not held: ${line}`);
      return [...facts, ...early, ...late.flat(), ...missing, ...differences(expected, held)];
    };
    const wrongs = await judged().catch((error: unknown) => [
      error instanceof Violation ? error.message : String(error instanceof Error ? error.stack : error),
    ]);
    return {
      wrong: wrongs,
      fingerprint: scheduler.fingerprint(),
      decisions: scheduler.decisions,
      trace: scheduler.trace,
    };
  }
}

export interface Limits {
  readonly seed: number;
  readonly schedules: number;
  readonly minutes: number;
  readonly only?: readonly string[];
}

/**
 * Runs schedules of every scenario, each scenario at about the same cost, until the limits are reached.
 * @param show is told of every schedule
 */
export async function explore(
  world: World,
  { seed, schedules, minutes, only = Object.keys(scenarios) }: Limits,
  show: (ran: number) => void = () => undefined,
): Promise<{ readonly explorers: readonly Explorer[]; readonly found: readonly Found[] }> {
  const explorers = only.map((scenario) => new Explorer(world, scenario, seed));
  const left = new Set(explorers);
  const found: Found[] = [];
  const until = performance.now() + minutes * 60_000;
  for (let ran = 0; ran < schedules && performance.now() < until && left.size > 0; ran += 1) {
    const explorer = [...left].reduce((least, one) => (one.steps < least.steps ? one : least));
    const run = await explorer.next();
    if (run === undefined) left.delete(explorer);
    else if (run.wrong.length > 0) {
      found.push({ scenario: explorer.scenario, schedule: run.schedule, wrong: run.wrong });
      // One of a scenario: the others are likely to be the same.
      left.delete(explorer);
    }
    show(ran + 1);
  }
  return { explorers, found };
}

/** Leaves out choices as long as what remains is wrong too. */
export async function smallest(explorer: Explorer, schedule: Schedule): Promise<Schedule> {
  for (const choice of schedule) {
    const fewer = schedule.filter((other) => other !== choice);
    if ((await explorer.run(fewer)).wrong.length > 0) return smallest(explorer, fewer);
  }
  return schedule;
}

/** A schedule as a table: when, who, what, and what went wrong. */
export function tableOf({ trace, wrong }: Pick<Run, 'trace' | 'wrong'>): string {
  const start = trace[0]?.at ?? 0;
  const rows = trace.map(({ at, actor, what, fault = '' }) => [`${at - start} ms`, actor, what, fault]);
  return [renderTable(rows), ...wrong.map((sentence) => `wrong: ${sentence}`)].join('\n');
}

/** What only one of two lists has. */
function differences(expected: readonly string[], held: readonly string[]): readonly string[] {
  const left = [...expected];
  const more = held.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const lines = [...left.map((line) => `without "${line}"`), ...more.map((line) => `with "${line}"`)];
  return lines.length === 0 ? [] : [`the end is not that of an undisturbed schedule: ${lines.join(', ')}`];
}

/** Who is alive keeps the lease: nobody else begins the same work meanwhile, except after a long wait. */
function overlaps({ lines }: World, trace: readonly TraceLine[]): readonly string[] {
  const mayLose = ({ fault = '', what }: TraceLine) =>
    what === OUT_OF_TIME || /^(crash|freeze|clock|lost)/.test(fault);
  if (trace.some(mayLose)) return [];
  const atWork = new Map<unknown, string>();
  for (const { actor, line } of lines) {
    const { code, control, origin, waitedMs } = line;
    if (code === 'OPERATION_BEGUN' && origin !== 'settled') {
      const other = atWork.get(control);
      if (other !== undefined && Number(waitedMs) < LONG_WAIT_MS)
        return [`${actor} takes over the work of ${other}, who is alive`];
      atWork.set(control, actor);
    }
    if (code === 'OPERATION_SETTLED') atWork.delete(control);
  }
  return [];
}
/** Less than any request waits before it takes over from one that is alive. */
const LONG_WAIT_MS = 8_000;
