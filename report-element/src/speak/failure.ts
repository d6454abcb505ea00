import type { Problem, ProblemCode } from 'mastery-reports-client';
import { auditSections } from './audit.ts';
import type { Section } from './document.ts';
import type { Speaker } from './speaker.ts';
import type { Texts } from '../texts/en.ts';

type Kind = keyof Texts['failure'];

/** What a problem means to a person. A problem that the services gain does not compile here until it has a row. */
const kinds: Readonly<Record<ProblemCode, Kind>> = {
  'adaptive-pool-version-drift': 'changed',
  'authentication-required': 'signIn',
  'authorization-denied': 'forbidden',
  'calibration-invalid': 'incomplete',
  'dependency-incomplete': 'incomplete',
  'dependency-unavailable': 'unavailable',
  'finalization-incomplete': 'incomplete',
  'idempotency-conflict': 'page',
  'idempotency-key-reused': 'page',
  'insufficient-scope': 'forbidden',
  'internal-error': 'service',
  'invalid-request': 'page',
  'not-found': 'absent',
  'payload-too-large': 'page',
  'precondition-required': 'page',
  'qti-adaptive-pool-invalid': 'incomplete',
  'rate-limited': 'busy',
  'resource-not-found': 'absent',
  'simulation-limit-exceeded': 'page',
  'source-version-conflict': 'changed',
  'stream-conflict': 'changed',
  'unsupported-parameter': 'page',
  'upstream-unavailable': 'unavailable',
  validation: 'page',
};
const byCode = new Map<string, Kind>(Object.entries(kinds));

/** Why there is nothing to show, for a person; and what an auditor or an operator asks for. */
export interface SpokenFailure {
  readonly title: string;
  readonly advice: string;
  readonly audit: readonly Section[];
}

/** @param error what the function of the embedding product has thrown: an error of the client, or any other */
export function speakFailure(speaker: Speaker, error: unknown): SpokenFailure {
  const problem = problemOf(error);
  const kind = problem === undefined ? 'network' : kindOf(problem);
  const [title, advice] = speaker.texts.failure[kind];
  const told =
    error instanceof Error ? { name: error.name, message: error.message } : { error: String(error) };
  return { title, advice, audit: auditSections(speaker, problem ?? told) };
}

/** Returns the problem document that an error of the client carries. */
function problemOf(error: unknown): Problem | undefined {
  const problem =
    typeof error === 'object' && error !== null && 'problem' in error ? error.problem : undefined;
  const isProblem =
    typeof problem === 'object' && problem !== null && 'type' in problem && 'status' in problem;
  // SAFETY: `ProblemError` of the client has this document; of another one, only what is there is read.
  return isProblem ? (problem as Problem) : undefined;
}

function kindOf({ code, type, status, retryable }: Problem): Kind {
  const named = byCode.get(code ?? type.split('/').at(-1) ?? '');
  return named ?? (status >= 500 ? (retryable ? 'unavailable' : 'service') : 'page');
}
