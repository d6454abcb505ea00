export { createMasteryClient, createReportsClient, createSandboxClient } from './client.ts';
export type {
  ClientOptions,
  MasteryClient,
  ReportsClient,
  RetryEvent,
  SandboxClient,
  TokenProvider,
  TokenRequest,
} from './client.ts';
export {
  BaseUrlError,
  CallError,
  ConnectionError,
  MasteryReportsError,
  ProblemError,
  UnexpectedAnswerError,
} from './errors.ts';
export type { Problem } from './errors.ts';
export type * from './generated/mastery.ts';
export type * from './generated/reports.ts';
export type { ProblemCode } from './generated/problems.ts';
export { waitForImprovementRun, WaitTimeoutError } from './improvement-run.ts';
export type { WaitForImprovementRunOptions } from './improvement-run.ts';
export type { Iterate, Method, OtherValue, Reply, RequestOptions } from './operations.ts';
export { pages } from './pages.ts';
export { runAdaptive, RunStalledError } from './run-adaptive.ts';
export type { Play, RunAdaptiveOptions, RunState, RunStore, SavedRun } from './run-adaptive.ts';
