import { registerHooks } from 'node:module';

/*
 * Preloaded into a command (`node --import`): the stages as an owner fills them in, bound to the account and region of the AWS emulator
 * unless BOUND is `no`. RENAMED names the first of them otherwise, RELEASE_KEY_OF_STAGES is the key that they trust.
 */
const key =
  process.env.RELEASE_KEY_OF_STAGES ??
  "{ kty: 'EC', crv: 'P-256', x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4', y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM' }";

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/shared/stage/stages.ts')) return loaded;
    const source = String(loaded.source)
      .replaceAll(/([a-z])\.example(['/])/g, '$1.school.org$2')
      .replace("'sandbox-dev'", `'${process.env.RENAMED ?? 'sandbox-dev'}'`)
      .replaceAll('releaseKey: nobodysKey', `releaseKey: ${key}`)
      .replaceAll(
        "environment: 'agnostic',",
        process.env.BOUND === 'no'
          ? "environment: 'agnostic',"
          : "environment: { account: '000000000000', region: 'us-east-1' },",
      );
    return { ...loaded, source };
  },
});
