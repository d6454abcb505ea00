import * as z from 'zod';
import { instant, sha256 } from './primitives.ts';

/** An https address; on this machine, where the local stage serves its receipts, http will do. */
const downloadUrl = z
  .url({ protocol: /^https?$/ })
  .refine(
    (text) => text.startsWith('https:') || /^http:\/\/(127\.\d+\.\d+\.\d+|localhost)[:/]/.test(text),
    'must be an https address',
  );

/** Where an immutable receipt bundle can be fetched for a few minutes [RP-211..RP-214]. */
export const receiptLink = z.strictObject({
  mediaType: z.enum(['application/zip', 'application/json']),
  sha256,
  downloadUrl,
  expiresAt: instant,
});
export type ReceiptLink = z.infer<typeof receiptLink>;
