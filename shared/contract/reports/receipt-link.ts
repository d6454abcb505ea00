import * as z from 'zod';
import { instant, sha256 } from './primitives.ts';

/** An https address; http is allowed for addresses of this machine, where the local stage serves its receipts. */
const ADDRESS = /^(?:https:|http:\/\/(?:127\.[0-9]+\.[0-9]+\.[0-9]+|localhost)[:/])/;
const downloadUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => ADDRESS.test(text), 'must be an https address')
  .meta({ pattern: ADDRESS.source });

/** Where an immutable receipt bundle can be fetched for a few minutes [RP-211..RP-214]. */
export const receiptLink = z.strictObject({
  mediaType: z.enum(['application/zip', 'application/json']),
  sha256,
  downloadUrl,
  expiresAt: instant,
});
export type ReceiptLink = z.infer<typeof receiptLink>;
