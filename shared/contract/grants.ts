import type { Gate } from './gates.ts';

/** What a grant means to whoever hands it out and to the function that has it. */
interface GrantMeaning {
  /** The environment variable that tells the function where the thing is. */
  readonly variable: string;
  /** The function can do without: a single service profile may stand in its environment instead [MA-010]. */
  readonly dispensable?: true;
}

/**
 * Every stored thing that a function may touch, with what its grant means: stacks, local runtime and pipeline read this table. `keys:<purpose>`
 * lets it unwrap the keys of that purpose of the key ring.
 */
const meanings = {
  'records:read': { variable: 'RECORDS_TABLE' },
  'control:write': { variable: 'CONTROL_TABLE' },
  'keys:continuation': { variable: 'SETTINGS_TABLE' },
  'keys:cursor': { variable: 'SETTINGS_TABLE' },
  'improvement:read': { variable: 'IMPROVEMENT_TABLE' },
  'improvement:write': { variable: 'IMPROVEMENT_TABLE' },
  'improvement:queue': { variable: 'IMPROVEMENT_QUEUE_URL' },
  'receipts:read': { variable: 'RECEIPTS_BUCKET' },
  'receipts:write': { variable: 'RECEIPTS_BUCKET' },
  /** To make links: the keys that seal them, and the address that they begin with. */
  'receipts:link': { variable: 'RECEIPTS_URL' },
  'keys:receipt-link': { variable: 'SETTINGS_TABLE' },
  'keys:idempotency': { variable: 'SETTINGS_TABLE' },
  'keys:pseudonym': { variable: 'SETTINGS_TABLE' },
  /** To move the keys of `scheduledPurposes` from state to state, and to note that; not to unwrap one. */
  'ring:rotate': { variable: 'SETTINGS_TABLE' },
  /** To have KMS make and wrap a key of these purposes, which nobody sees. */
  'ring:wrap': { variable: 'KEY_ARN' },
  'profiles:read': { variable: 'PROFILES_PATH', dispensable: true },
  /** What of the release is open, and by which proof: comes with the gates of a row; a row without gates names it for its receipts. */
  'release:read': { variable: 'SETTINGS_TABLE' },
} as const satisfies Readonly<Record<string, GrantMeaning>>;

/** A stored thing that a route's function touches: the stacks grant exactly these, and no more. */
export type Grant = keyof typeof meanings;

/** What of a row decides what its function may touch. */
interface Granted {
  readonly gates: readonly Gate[];
  readonly lambda: { readonly grants: readonly Grant[] };
}

/** Whether a function is there only while gates are open: then it looks at every call whether they still are. */
export function isGated({ gates }: Pick<Granted, 'gates'>): boolean {
  return gates.length > 0;
}

/** Whether a function rotates keys: then it reads how long one seals. */
export function rotatesKeys({ lambda }: Pick<Granted, 'lambda'>): boolean {
  return lambda.grants.includes('ring:rotate');
}

/** Everything that a function may touch: what its row names, and what is released where it waits for gates. */
export function grantsOf(row: Granted): readonly Grant[] {
  return isGated(row) ? [...row.lambda.grants, 'release:read'] : row.lambda.grants;
}

/** A variable that some grant comes with. */
export type GrantVariable = (typeof meanings)[Grant]['variable'];

type GrantKeyPurpose = Grant extends infer G ? (G extends `keys:${infer Purpose}` ? Purpose : never) : never;

/** The variables that the grants come with, each once. */
export function variablesOfGrants(grants: readonly Grant[]): readonly GrantVariable[] {
  return [...new Set(grants.map((grant) => meanings[grant].variable))];
}

/** Those of them that a function with these grants cannot do without. */
export function demandedVariablesOf(grants: readonly Grant[]): readonly GrantVariable[] {
  return variablesOfGrants(grants.filter((grant) => !('dispensable' in meanings[grant])));
}

/** The purposes of the key ring among the grants, in the order of their names. */
export function keyPurposesOf(grants: readonly Grant[]): readonly GrantKeyPurpose[] {
  const prefix = 'keys:';
  return (
    grants
      .filter((grant) => grant.startsWith(prefix))
      // SAFETY: these are the grants of the form `keys:<purpose>`.
      .map((grant) => grant.slice(prefix.length) as GrantKeyPurpose)
      .toSorted()
  );
}
