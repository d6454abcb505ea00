import * as z from 'zod';
import { receiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import type { ReceiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import { canonicalJson, hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { Check } from './check.ts';
import { differs } from './check.ts';
import { checkRun } from './check-run.ts';
import { checkSource } from './check-source.ts';

/** A file as it was found. */
export interface NamedBytes {
  /** Without folders. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What can be said of a bundle by itself. */
export interface CheckedReceipt {
  readonly checks: readonly Check[];
  /** Absent when its shape is so wrong that nothing more can be asked of it. */
  readonly receipt?: ReceiptBundle;
}

const anyReceipt = z.looseObject({
  object: z.enum(['source_receipt', 'run_receipt']),
  digest: z.unknown(),
  formatVersion: z.unknown(),
});

/**
 * Checks a receipt bundle from its bytes alone.
 * @returns err: why the file is no bundle at all, as the end of a sentence that names it
 */
export function checkReceipt({ name, bytes }: NamedBytes): Result<CheckedReceipt, string> {
  if (isZip(bytes)) return err('is a zip archive; this service makes its bundles as JSON only');
  const text = decode(bytes);
  const parsed = text === undefined ? undefined : parseStrictJson(text);
  if (parsed?.ok !== true) return err('is not JSON as RFC 7493 has it (UTF-8, no member twice)');
  const any = anyReceipt.safeParse(parsed.value);
  if (!any.success) return err('is no receipt bundle: it is neither a "source_receipt" nor a "run_receipt"');
  const { digest, ...content } = any.data;
  const sha256 = sha256Hex(bytes);
  const nameDigest = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/i.exec(name)?.[0].toLowerCase();
  const schema = receiptBundle.safeParse(parsed.value);
  const issues = schema.success ? [] : schema.error.issues;
  const [ofRows = [], ofShape = []] = [true, false].map((wanted) =>
    issues.filter(({ code, path }) => (code === 'custom' && path[0] === 'contributions') === wanted),
  );
  const checks: Check[] = [
    {
      name: 'bytes',
      holds: `canonical JSON (RFC 8785), SHA-256 ${sha256}`,
      failures:
        text === canonicalJson(parsed.value) ? [] : ['the file is not in the canonical form of its JSON'],
      remedy: 'Save the download as it comes: an editor or a formatter has written this file anew.',
    },
    {
      name: 'file name',
      holds: 'the SHA-256 of the bytes',
      failures: nameDigest === undefined ? [] : differs('the digest in it', nameDigest, sha256),
      remedy: 'These are not the bytes that the link names: fetch the bundle again.',
      ...(nameDigest === undefined ? { skipped: 'has no digest in it' } : {}),
    },
    {
      name: 'digest',
      holds: 'of everything else in the bundle',
      failures: differs('the digest', digest, hashCanonical(content)),
      remedy: 'Something in the bundle was changed after it was made: fetch it again.',
    },
    {
      name: 'shape',
      holds: `${any.data.object}, format ${String(any.data.formatVersion)}`,
      failures: ofShape.map(({ path, message }) => `/${path.map(String).join('/')}: ${message}`),
      remedy: 'Fetch the bundle again; if it stays so, a newer release of this command may know its format.',
    },
  ];
  if (ofShape.length > 0) return ok({ checks });
  // SAFETY: every member has its type; at most contributions contradict themselves, and such a bundle can be asked everything else.
  const receipt = parsed.value as ReceiptBundle;
  const rest =
    receipt.object === 'run_receipt'
      ? checkRun(receipt)
      : checkSource(
          receipt,
          ofRows.map(({ path: [, at], message }) => {
            const row = receipt.contributions[Number(at)];
            return `${row?.sourceRequirementId ?? `row ${String(at)}`}: ${message}`;
          }),
        );
  return ok({ checks: [...checks, ...rest], receipt });
}

/** The signature with which a zip archive begins. */
function isZip([first, second, third, fourth]: Uint8Array): boolean {
  return first === 0x50 && second === 0x4b && third === 0x03 && fourth === 0x04;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
