/** The parts with which `npm run foreign` may pass although their tool cannot be had, each with the reason. */
export const mayBeAbsent: Readonly<Record<string, string>> = {};
