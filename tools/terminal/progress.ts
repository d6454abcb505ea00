import { bar } from './line.ts';

const BAR_COLUMNS = 30;

/**
 * Describes how far a long command is: a bar, the share done, an estimate of the time left, and what is next. The estimate assumes that the
 * rest takes as long per share as what is done; there is none before the first 2 %.
 * @param now milliseconds of a monotonic clock; the command starts with this call
 * @returns a function of the share done (0 to 1) and what is next
 */
export function openProgress(now: () => number): (done: number, what: string) => string {
  const startedAt = now();
  return (done, what) => {
    const percent = String(Math.min(100, Math.floor(100 * done))).padStart(3);
    const left =
      done < 0.02 || done >= 1 ? '' : `, ${describe(((now() - startedAt) * (1 - done)) / done)} left`;
    return `${bar(done, BAR_COLUMNS)} ${percent} %${left}  ${what}`;
  };
}

function describe(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
