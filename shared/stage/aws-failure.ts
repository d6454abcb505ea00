/** What AWS, or the way to it, has against the call; undefined for a defect of ours. */
export function awsFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'CredentialsProviderError') {
    return 'no AWS credentials: sign in (aws sso login), then give --profile or set AWS_PROFILE';
  }
  if (error.message === 'Region is missing') return 'no AWS region: set AWS_REGION or AWS_PROFILE';
  if ('code' in error && typeof error.code === 'string') return `AWS cannot be reached: ${error.code}`;
  if ('$fault' in error) return `AWS refused: ${error.name}: ${error.message}`;
  // A proxy or a sign-in page has answered in its place.
  return '$metadata' in error ? 'AWS cannot be reached: no usable response' : undefined;
}
