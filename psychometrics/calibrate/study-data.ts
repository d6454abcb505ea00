import type { Responses } from './model.ts';

/** The data that a model is fitted to; items and knowledge components (KCs) in the order of the Q-matrix. */
export interface StudyData {
  readonly items: readonly string[];
  readonly kcs: readonly string[];
  /** For each item the ascending indices of its KCs. */
  readonly kcsOf: readonly (readonly number[])[];
  readonly responses: Responses;
  /** For each item: learners who answered it, and how many of them correctly. */
  readonly answered: readonly number[];
  readonly correct: readonly number[];
  /** Learners without any answer, who are left out. */
  readonly silent: number;
  readonly missing: number;
}
