/** Returns AWS's error, or that of the connection to it; undefined for a defect of ours. */
export function awsFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'CredentialsProviderError') {
    return 'no AWS credentials: sign in (aws sso login), then give --profile or set AWS_PROFILE';
  }
  if (error.message === 'Region is missing') return 'no AWS region: set AWS_REGION or AWS_PROFILE';
  if ('code' in error && typeof error.code === 'string') return `AWS cannot be reached: ${error.code}`;
  if ('$fault' in error) return `AWS refused: ${error.name}: ${error.message}`;
  // A proxy or a sign-in page has responded instead.
  return '$metadata' in error ? 'AWS cannot be reached: no usable response' : undefined;
}
