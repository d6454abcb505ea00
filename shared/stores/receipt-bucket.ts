import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { callStore } from '#shared/kernel/store-calls.ts';
import type { ReceiptStore } from '#shared/improvement/receipts.ts';
import { isNamed, putObject } from './object-versions.ts';

/**
 * Opens the bucket of receipts in S3. A bundle is one object, `<tenant, percent-encoded>/<sha256>`, and is never overwritten. Its SHA-256 is checked
 * at every step: before it is written, by S3 on arrival, and after it is read. Needs `s3:PutObject` to write and `s3:GetObject` to read. S3 refuses
 * the read of an absent object with AccessDenied if the role has no `s3:ListBucket`, so `get` treats a refusal as absence. A role without read access
 * finds nothing.
 */
export function createReceiptBucket(client: S3Client, bucket: string): ReceiptStore {
  return {
    async put(tenantId, { sha256, mediaType, bytes }) {
      const key = receiptKey(tenantId, sha256);
      if (key === undefined || sha256Hex(bytes) !== sha256) {
        throw new TypeError('a receipt bundle belongs to a tenant and is named by the SHA-256 of its bytes');
      }
      // Under this key there are no other bytes than these.
      await putObject(client, bucket, key, { bytes, mediaType });
    },

    async get(tenantId, sha256) {
      const key = receiptKey(tenantId, sha256);
      if (key === undefined) return undefined;
      let bytes: Uint8Array | undefined;
      try {
        // The client knows only the beginning of the response.
        bytes = await callStore(async () => {
          const { Body: body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
          return body?.transformToByteArray();
        });
      } catch (error) {
        if (isNamed(error, 'NoSuchKey', 'AccessDenied')) return undefined;
        throw error;
      }
      if (bytes === undefined || sha256Hex(bytes) !== sha256) {
        throw new Error('a receipt bundle is not the bytes that it is named by');
      }
      return bytes;
    },
  };
}

/**
 * Returns the key of a bundle; undefined if there can be no such bundle. No tenant's id reaches into the keys of another: a slash and a percent sign
 * are encoded, and a full stop too, so that no key contains a path segment that a client would resolve.
 */
function receiptKey(tenantId: string, sha256: string): string | undefined {
  if (tenantId === '' || !tenantId.isWellFormed() || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
  return `${encodeURIComponent(tenantId).replaceAll('.', '%2E')}/${sha256}`;
}
