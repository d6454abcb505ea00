import type { Fetched, ReportData } from '../data.ts';
import { speakAttempt } from './attempt.ts';
import { speakClass } from './class.ts';
import { speakCohort } from './cohort.ts';
import type { Spoken } from './document.ts';
import { speakEquivalence } from './equivalence.ts';
import { speakHistory } from './history.ts';
import { speakRun } from './run.ts';
import type { Speaker } from './speaker.ts';

/**
 * Returns in words what the data shows.
 * @param fetched of a class, what has been loaded so far
 */
export function speak(speaker: Speaker, data: ReportData, fetched: ReadonlyMap<string, Fetched>): Spoken {
  switch (data.kind) {
    case 'attempt':
      return speakAttempt(speaker, data.report);
    case 'history':
      return speakHistory(speaker, data.page, data.details ?? []);
    case 'cohort':
      return speakCohort(speaker, data.cohort);
    case 'equivalence':
      return speakEquivalence(speaker, data.equivalence);
    case 'run':
      return speakRun(speaker, data.run);
    case 'class':
      return speakClass(speaker, data, fetched);
  }
}

/** Returns when the data was read from the owners, the first and the last time; none where it does not state it. */
export function readAt(data: ReportData, fetched: ReadonlyMap<string, Fetched>): readonly string[] {
  switch (data.kind) {
    case 'attempt':
      return [data.report.observedAt];
    case 'history':
      return [data.page.observedAt];
    case 'cohort':
      return [data.cohort.observedAt];
    case 'equivalence':
      return [data.equivalence.observedAt];
    case 'run':
      return [];
    case 'class': {
      const times = [...fetched.values()]
        .flatMap((one) => (one.state === 'done' ? (one.report?.observedAt ?? []) : []))
        .toSorted((a, b) => Date.parse(a) - Date.parse(b));
      return [...times.slice(0, 1), ...times.slice(1).slice(-1)];
    }
  }
}
