import * as z from 'zod';
import { proofReceipt } from '#ops/proof/receipt.ts';

/** The JSON Schema (draft 2020-12) of the receipt of a two-tenant proof, made of the schema that reads it. */
export function renderProofSchema(): unknown {
  return z.toJSONSchema(proofReceipt, { target: 'draft-2020-12', io: 'input' });
}
