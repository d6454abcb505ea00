export { createRecent } from '#shared/kernel/recent.ts';
export type { Recent } from '#shared/kernel/recent.ts';
