/** The owners of facts, as problem documents, receipts and figures name them. */
export const owners = [
  'bank',
  'content',
  'qti',
  'case',
  'results',
  'caliper',
  'anchor',
  'oneroster',
  'analytics',
  'administration',
  'blueprint',
] as const;

export type UpstreamService = (typeof owners)[number];
