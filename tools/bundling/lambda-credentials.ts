/**
 * Takes the place of `@aws-sdk/credential-provider-node` in the bundles. Lambda hands a function's credentials over in the environment for
 * the life of the container, and the local runtime does the same, so the rest of the chain (profiles, SSO, STS, instance metadata: 137 KB
 * and 20 ms of every import) can never be the one that answers. SnapStart would need the container endpoint: the functions do not use it.
 * @throws Error when the environment holds no credentials; the message names the variables and no value.
 */
export const defaultProvider =
  () =>
  (): Promise<{
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  }> => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    } = process.env;
    if (!accessKeyId || !secretAccessKey) {
      return Promise.reject(new Error('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set'));
    }
    return Promise.resolve({ accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) });
  };
