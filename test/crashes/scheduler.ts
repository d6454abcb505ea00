import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';

// Runs a few actors in this process, one step at a time, in the order that a schedule states and on a clock of its own. A step is one call that
// leaves an actor: to a store, to an owner. Between two steps only one actor computes, so that a schedule always leads to the same end.

/** What can go wrong with a call that writes. The client behind the port (SDK, transport) behaves as it does in production. */
const faults = [
  'crash before',
  'crash after',
  'lost request',
  'lost answer',
  'late request',
  'late answer',
  'freeze',
] as const;
type Fault = (typeof faults)[number];
/** What may be different about an actor that begins: its clock, in milliseconds. */
const skews = { 'clock ahead': 15_000, 'clock behind': -15_000 } as const;

/** One call of an actor that others may notice, or that may notice others. */
export interface Effect {
  readonly label: string;
  /** What it touches: two effects commute if their keys differ, or if both only read. */
  readonly key: string;
  readonly isWrite: boolean;
  /** The SDK repeats a call by itself if its answer is lost; the transport of the owners rejects it, and its caller repeats it. */
  readonly isRepeated: boolean;
  readonly perform: () => Promise<unknown>;
}

/** One program of a schedule: a client with its repetitions, a queue, an operator. */
export interface Actor {
  readonly name: string;
  readonly run: (actor: Actor) => Promise<void>;
}

/** One invocation of a function, until it ends or dies. */
export interface Life {
  readonly actor: Actor;
  readonly skew: number;
  readonly endsAt: number;
  readonly death: Promise<'died'>;
}

interface Living extends Life {
  isDead: boolean;
  frozenUntil: number;
  /** For how many calls and pauses it waits: with none, it computes. Time limits and renewals in the background do not count. */
  waits: number;
  readonly die: () => void;
}

interface Call {
  readonly life: Living;
  readonly effect: Effect;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Timer {
  readonly life: Living | undefined;
  readonly at: number;
  readonly go: () => Promise<void> | void;
}

/** One line of what happened, for the table and for telling schedules apart. */
export interface TraceLine {
  readonly at: number;
  readonly actor: string;
  readonly what: string;
  readonly key: string;
  readonly isWrite: boolean;
  readonly fault?: string;
}

type Option =
  | { readonly kind: 'run'; readonly call: Call }
  | { readonly kind: 'fault'; readonly call: Call; readonly fault: Fault }
  | { readonly kind: 'skew'; readonly call: Call; readonly skew: keyof typeof skews };

/** The choices of a schedule that are not the first option: at which decision, and which option. */
export type Schedule = readonly (readonly [decision: number, option: number])[];

/** What is known of the actors of a scenario. Every schedule has the same decisions only if it is learned before, and not changed any more. */
export interface Known {
  /** What each actor touches, by its name: whether it writes. */
  readonly footprints: Map<string, Map<string, boolean>>;
  /** What some actor writes: a read of anything else is no step. */
  readonly written: Set<string>;
  isLearning: boolean;
}

/** Virtual milliseconds that a call takes. */
const STEP_MS = 5;
/** A late call arrives, or its answer does, after its caller's transport has given up (5 s) and before a lease ends (10 s). */
const LATE_MS = 6_000;
/** A frozen container wakes after its lease has ended. */
const FREEZE_MS = 15_000;
/** The most steps of a schedule: beyond it, it does not end. */
const MAX_STEPS = 2_000;
/** The longest time, of this machine, that an actor computes between two steps. */
const STUCK_MS = 60_000;

export class Scheduler {
  now: number;
  readonly trace: TraceLine[] = [];
  /** How many options each decision had, and whether a schedule left the first one. */
  readonly decisions: number[] = [];
  faultsStruck = 0;
  readonly #choices: ReadonlyMap<number, number>;
  readonly #known: Known;
  readonly #busy: () => Promise<void> | undefined;
  readonly #lives = new Set<Living>();
  #calls: Call[] = [];
  #timers: Timer[] = [];
  #activity = 0;
  #last: Actor | undefined;
  readonly #skews = new Map<Actor, number>();

  constructor(start: number, schedule: Schedule, known: Known, busy: () => Promise<void> | undefined) {
    this.now = start;
    this.#choices = new Map(schedule);
    this.#known = known;
    this.#busy = busy;
  }

  /** Begins an invocation. It dies when its time is over. */
  live(actor: Actor, milliseconds = Infinity): Life {
    const { promise, resolve } = Promise.withResolvers<'died'>();
    const life: Living = {
      actor,
      skew: this.#skews.get(actor) ?? 0,
      endsAt: this.now + milliseconds,
      death: promise,
      isDead: false,
      frozenUntil: 0,
      waits: 0,
      die: () => {
        this.end(life);
        this.#activity += 1;
        resolve('died');
      },
    };
    this.#lives.add(life);
    return life;
  }

  /** Ends an invocation that has answered: what it left running goes no further, as in a container that is frozen for good. */
  end(life: Life): void {
    const living = life as Living;
    living.isDead = true;
    this.#lives.delete(living);
    this.#calls = this.#calls.filter((call) => call.life !== life);
    this.#timers = this.#timers.filter((timer) => timer.life !== life);
  }

  call(life: Life, effect: Effect, signal?: AbortSignal): Promise<unknown> {
    const living = life as Living;
    this.#activity += 1;
    return new Promise<unknown>((resolve, reject) => {
      if (living.isDead) return;
      const { go: done, isOver } = this.#wait(living);
      const call: Call = {
        life: living,
        effect,
        resolve: (value) => {
          resolve(done(value));
        },
        reject: (error) => {
          done(undefined);
          reject(error);
        },
      };
      this.#calls.push(call);
      // A caller that gives up takes back what has not been sent.
      signal?.addEventListener('abort', () => {
        this.#calls = this.#calls.filter((other) => other !== call);
        if (!isOver()) call.reject(signal.reason as Error);
      });
    });
  }

  /** @param signal of a time limit or a renewal: its owner does something else meanwhile */
  sleep(life: Life, milliseconds: number, signal?: AbortSignal): Promise<void> {
    const living = life as Living;
    this.#activity += 1;
    return new Promise((resolve) => {
      if (living.isDead) return;
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const { go: done } = signal === undefined ? this.#wait(living) : { go: () => undefined };
      const timer: Timer = {
        life: living,
        at: Math.ceil(this.now + milliseconds),
        go: () => {
          done(undefined);
          resolve();
        },
      };
      this.#timers.push(timer);
      signal?.addEventListener('abort', () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
        resolve();
      });
    });
  }

  #wait(life: Living): { readonly go: (value: unknown) => unknown; readonly isOver: () => boolean } {
    life.waits += 1;
    let over = false;
    const go = (value: unknown): unknown => {
      this.#activity += 1;
      if (!over) life.waits -= 1;
      over = true;
      return value;
    };
    return { go, isOver: () => over };
  }

  /** Notes what happened outside of the calls that have a choice. */
  note(actor: Actor, what: string): void {
    this.#activity += 1;
    this.#note(actor, what);
  }

  /** Runs all actors to their ends. Rejects if one does not come to its end. */
  async run(actors: readonly Actor[]): Promise<void> {
    const unfinished = new Set(actors);
    const failures: unknown[] = [];
    for (const actor of actors) {
      const begin: Effect = {
        label: 'begins',
        key: BEGIN,
        isWrite: false,
        isRepeated: false,
        perform: () => Promise.resolve(),
      };
      void this.call(this.live(actor), begin)
        .then(() => actor.run(actor))
        .catch((error: unknown) => failures.push(error))
        .finally(() => {
          unfinished.delete(actor);
          this.#activity += 1;
        });
    }
    for (let steps = 0; ; steps += 1) {
      await this.#settle(unfinished);
      if (failures.length > 0) throw failures[0];
      if (steps > MAX_STEPS) throw new Error('the schedule does not end');
      const ready = this.#calls.filter(({ life }) => life.frozenUntil <= this.now);
      const current = ready.find(({ life }) => life.actor === this.#last) ?? ready[0];
      if (current !== undefined) await this.#apply(this.#choose(current, ready));
      else if (!(await this.#passTime())) break;
    }
  }

  /** Two schedules with the same fingerprint differ only in the order of steps that commute. */
  fingerprint(): string {
    const perKey = new Map<string, string[]>();
    const ofActor = new Map<string, number>();
    for (const { actor, what, key, isWrite, fault } of this.trace) {
      const ordinal = (ofActor.get(actor) ?? 0) + 1;
      ofActor.set(actor, ordinal);
      const lines = perKey.get(key) ?? [];
      perKey.set(key, lines);
      const line = `${actor}${ordinal} ${what} ${fault ?? ''}`;
      const last = lines.at(-1);
      // Reads between two writes have no order.
      if (isWrite || last === undefined || last.startsWith('!')) lines.push(isWrite ? `!${line}` : line);
      else lines[lines.length - 1] = [...last.split('\n'), line].toSorted().join('\n');
    }
    const text = [...perKey].map(([key, lines]) => `${key}: ${lines.join('; ')}`).toSorted();
    return createHash('sha256').update(text.join('\n')).digest('base64url').slice(0, 16);
  }

  #choose(current: Call, ready: readonly Call[]): Option {
    const options = this.#optionsOf(current, ready);
    const decision = this.decisions.length;
    this.decisions.push(options.length);
    return options[this.#choices.get(decision) ?? 0] ?? options[0]!;
  }

  #optionsOf(current: Call, ready: readonly Call[]): readonly Option[] {
    const { effect, life } = current;
    const options: Option[] = [{ kind: 'run', call: current }];
    for (const call of ready)
      if (
        call.life.actor !== life.actor &&
        !options.some((option) => option.call.life.actor === call.life.actor) &&
        this.#conflicts(effect, call.life.actor)
      )
        options.push({ kind: 'run', call });
    if (effect.key === BEGIN)
      for (const skew of Object.keys(skews) as (keyof typeof skews)[])
        options.push({ kind: 'skew', call: current, skew });
    if (effect.isWrite) for (const fault of faults) options.push({ kind: 'fault', call: current, fault });
    return options;
  }

  /** Whether another actor can notice when this effect happens, as far as it is known what that one touches. */
  #conflicts({ key, isWrite }: Effect, other: Actor): boolean {
    if (key === BEGIN) return true;
    const wrote = this.#known.footprints.get(other.name)?.get(key);
    return wrote !== undefined && (wrote || isWrite);
  }

  async #apply(option: Option): Promise<void> {
    const { call } = option;
    const { effect, life } = call;
    this.#calls = this.#calls.filter((other) => other !== call);
    this.#last = life.actor;
    this.now += STEP_MS;
    const fault = option.kind === 'run' ? undefined : option.kind === 'fault' ? option.fault : option.skew;
    if (fault !== undefined) this.faultsStruck += 1;
    this.#record(call, fault);
    if (option.kind === 'skew') this.#skews.set(life.actor, skews[option.skew]);
    const perform = async (): Promise<() => void> => {
      try {
        const value = await effect.perform();
        return () => call.resolve(value);
      } catch (error) {
        return () => call.reject(error as Error);
      }
    };
    const later = (milliseconds: number, go: Timer['go'], of?: Living): void => {
      this.#timers.push({ life: of, at: this.now + milliseconds, go });
    };
    const late = async (): Promise<void> => {
      this.#note(life.actor, `${effect.label} (arrives late)`, effect);
      (await perform())();
    };
    switch (option.kind === 'fault' ? option.fault : undefined) {
      case 'crash before':
        life.die();
        return;
      case 'crash after':
        await perform();
        life.die();
        return;
      case 'lost request':
        call.reject(lost());
        return;
      case 'lost answer':
        await perform();
        call.reject(lost());
        return;
      case 'late request':
        // The SDK has repeated it by then: it arrives twice.
        if (effect.isRepeated) (await perform())();
        later(LATE_MS, late);
        return;
      case 'late answer': {
        const deliver = await perform();
        if (effect.isRepeated) (await perform())();
        else later(LATE_MS, deliver, life);
        return;
      }
      case 'freeze':
        life.frozenUntil = this.now + FREEZE_MS;
        this.#calls.push(call);
        later(FREEZE_MS, () => undefined);
        return;
      case undefined:
        (await perform())();
    }
  }

  #record({ life, effect }: Call, fault: string | undefined): void {
    const { label, key, isWrite } = effect;
    const { footprints, isLearning } = this.#known;
    if (isLearning) {
      const touched = footprints.get(life.actor.name) ?? new Map<string, boolean>();
      footprints.set(life.actor.name, touched);
      touched.set(key, isWrite || touched.get(key) === true);
    }
    this.#note(life.actor, label, effect, fault);
  }

  #note(
    { name }: Actor,
    what: string,
    { key, isWrite }: Pick<Effect, 'key' | 'isWrite'> = { key: '', isWrite: false },
    fault?: string,
  ): void {
    this.trace.push({
      at: this.now,
      actor: name,
      what,
      key,
      isWrite,
      ...(fault === undefined ? {} : { fault }),
    });
  }

  /** Moves the clock to what is due next. Returns false if nothing is. */
  async #passTime(): Promise<boolean> {
    const dueAt = ({ at, life }: Timer): number => Math.max(at, life?.frozenUntil ?? 0);
    const next = this.#timers.reduce<Timer | undefined>(
      (first, timer) => (first === undefined || dueAt(timer) < dueAt(first) ? timer : first),
      undefined,
    );
    if (next === undefined) return false;
    this.now = Math.max(this.now, dueAt(next));
    if (next.life !== undefined && next.life.endsAt <= this.now) {
      this.#note(next.life.actor, OUT_OF_TIME);
      next.life.die();
      return true;
    }
    this.#timers = this.#timers.filter((timer) => timer !== next);
    this.#activity += 1;
    await next.go();
    return true;
  }

  /** Waits until no actor computes any more: each one waits for a call or a pause, or has ended. */
  async #settle(unfinished: ReadonlySet<Actor>): Promise<void> {
    const until = performance.now() + STUCK_MS;
    for (let quiet = 0; quiet < 2;) {
      const before = this.#activity;
      await (this.#busy() ?? new Promise((resolve) => setImmediate(resolve)));
      const waiting = new Set([...this.#lives].flatMap(({ waits, actor }) => (waits > 0 ? [actor] : [])));
      const isIdle =
        before === this.#activity &&
        this.#busy() === undefined &&
        [...unfinished].every((actor) => waiting.has(actor));
      quiet = isIdle ? quiet + 1 : 0;
      if (performance.now() > until) throw new Error('an actor waits for nothing');
    }
  }
}

const BEGIN = 'begin';
/** What a trace says of an invocation whose time is over. */
export const OUT_OF_TIME = 'runs out of time';

/** What a client sees of a call without an answer. */
function lost(): Error {
  return Object.assign(new Error('the connection ended without an answer'), { name: 'TimeoutError' });
}
