/** The context (`-c name=value`) that the CDK app reads. */
const contextNames = ['first', 'gates', 'stage'] as const;

/** The names of the CDK itself: its feature flags and its settings. */
const ofTheCdk = /^(?:@aws-cdk|aws-cdk|aws:)/;

/** Returns why a context has no effect, so that a mistyped gate does not pass silently; undefined if the app reads it. */
export function contextFault(name: string): string | undefined {
  return ofTheCdk.test(name) || contextNames.some((known) => known === name)
    ? undefined
    : `unknown name "${name}": expected ${contextNames.slice(0, -1).join(', ')} or ${contextNames.at(-1) ?? ''}`;
}

/** The variables with a shell's own credentials. */
export const ownCredentials = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;
