import * as z from 'zod';
import { answersCaller } from '#shared/contract/background.ts';
import {
  demandedVariablesOf,
  grantsOf,
  isGated,
  rotatesKeys,
  watchesStage,
} from '#shared/contract/grants.ts';
import type { DeployedFunction } from '#shared/contract/functions.ts';
import type { EnvironmentVariables } from '#shared/runtime/runtime.ts';
import { parseReleaseKey } from '#shared/release/release-key.ts';

/** Returns whether an address uses TLS; only addresses of this machine may be without. */
function isSecure(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  return (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname))
  );
}

const name = z.string().min(1);
const address = z.string().refine(isSecure, 'must be an https address');

/** An https address without query, fragment or a slash at its end. */
const PROBLEMS_URL = /^https:\/\/[^\s?#]+[^\s?#/]$/;

/** Returns the base of problem types, which a function names even if it cannot read its own environment. */
export function problemsUrlOf({ PROBLEMS_URL: text = '' }: EnvironmentVariables): string {
  return PROBLEMS_URL.test(text) ? text : 'https://docs.mastery-reports.example/problems';
}

/** Every environment variable that a function may name, with the form of its value. */
const variables = {
  STAGE: name,
  RECORDS_TABLE: name,
  CONTROL_TABLE: name,
  SETTINGS_TABLE: name,
  IMPROVEMENT_TABLE: name,
  IMPROVEMENT_QUEUE_URL: address,
  RECEIPTS_BUCKET: name,
  /** `{receipts_url}`: links are made below it. */
  RECEIPTS_URL: address,
  KEY_ARN: name,
  /** Public addresses that the canary calls. */
  SANDBOX_URL: address,
  MASTERY_URL: address,
  /** The tenant whose runs serve no learner. */
  CANARY_TENANT: name,
  /** The ids of the test that the canary starts, as JSON. */
  CANARY_RUN: name,
  /** For how many days a key seals before the schedule replaces it. */
  KEY_ROTATION_DAYS: z.string().regex(/^[1-9]\d{0,2}$/),
  TOKEN_ISSUER: name,
  TOKEN_AUDIENCE: name,
  TOKEN_JWKS_URL: address,
  /** The algorithms come from here, never from a token; symmetric ones and `none` cannot be configured. */
  TOKEN_ALGORITHMS: z.string().regex(/^(RS256|ES256|EdDSA)(,(RS256|ES256|EdDSA))*$/),
  /** The most requests of one tenant in one window. */
  REQUESTS_PER_TENANT: z.string().regex(/^[1-9]\d{0,6}$/),
  PROBLEMS_URL: z.string().regex(PROBLEMS_URL),
  /** The settings that the watcher compares with what is deployed, as JSON. */
  STAGE_SETTINGS: z.string().regex(/^\{.*\}$/s),
  /** The key whose signature on a manifest opens gates: a public key of P-256 as a JWK. */
  RELEASE_KEY: z.string().refine((text) => parseReleaseKey(text) !== undefined, 'must be a public P-256 JWK'),
} as const satisfies Readonly<Record<string, z.ZodType<string>>>;

export type VariableName = keyof typeof variables;

/** The variables that a function needs and that are missing or malformed. It contains only names: a value may be a secret. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
  readonly variables: readonly string[];

  constructor(missing: readonly string[]) {
    super(`environment variables are missing or malformed: ${missing.join(', ')}`);
    this.variables = missing;
  }
}

/**
 * Returns the values of exactly the named variables. Throws one EnvironmentError that names every variable that is missing or malformed.
 * @example const { RECORDS_TABLE } = readEnvironment(['RECORDS_TABLE'], runtime.environment);
 */
export function readEnvironment<const Names extends readonly VariableName[]>(
  names: Names,
  source: EnvironmentVariables,
): Readonly<Record<Names[number], string>> {
  const wrong = names.filter((variable) => !variables[variable].safeParse(source[variable]).success);
  if (wrong.length > 0) throw new EnvironmentError(wrong);
  return Object.fromEntries(names.map((variable) => [variable, source[variable]])) as Record<
    Names[number],
    string
  >;
}

/** The variables that the pipeline of every function reads. */
const always = [
  'STAGE',
  'TOKEN_ISSUER',
  'TOKEN_AUDIENCE',
  'TOKEN_JWKS_URL',
  'TOKEN_ALGORITHMS',
  'PROBLEMS_URL',
  'REQUESTS_PER_TENANT',
] as const satisfies readonly VariableName[];

/** The variables with which a function that waits for gates reads whether they still are open. */
export const releaseVariables = [
  'STAGE',
  'SETTINGS_TABLE',
  'RELEASE_KEY',
] as const satisfies readonly VariableName[];

/**
 * Returns the variables that a function requires: those of the pipeline, of its gates and of its grants. A background function reads no token, and
 * only a function that responds to a caller names problems. The sandbox requires none.
 */
export function variablesOf(row: DeployedFunction): readonly VariableName[] {
  if ('trigger' in row && row.trigger === 'sandbox') return [];
  const ofBackground = (answers: boolean): readonly VariableName[] =>
    answers ? ['STAGE', 'PROBLEMS_URL'] : ['STAGE'];
  return [
    ...new Set([
      ...('trigger' in row ? ofBackground(answersCaller(row)) : always),
      ...demandedVariablesOf(grantsOf(row)),
      ...(isGated(row) ? releaseVariables : []),
      ...(rotatesKeys(row) ? (['KEY_ROTATION_DAYS'] as const) : []),
      ...(watchesStage(row) ? (['STAGE_SETTINGS'] as const) : []),
    ]),
  ];
}
