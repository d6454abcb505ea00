import * as z from 'zod';
import { receiptBundle, type ReceiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import { canonicalJson, hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { decodeUtf8, parseStrictJson } from '#shared/kernel/strict-json.ts';
import { differs, type Check } from './check.ts';
import { checkRun } from './check-run.ts';
import { checkSource } from './check-source.ts';

export interface NamedBytes {
  /** Without folders. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The checks of a bundle by itself. */
export interface CheckedReceipt {
  readonly checks: readonly Check[];
  /** Absent if its shape is wrong, so that no further check is possible. */
  readonly receipt?: ReceiptBundle;
}

const anyReceipt = z.looseObject({
  object: z.enum(['source_receipt', 'run_receipt']),
  digest: z.unknown(),
  formatVersion: z.unknown(),
});

/**
 * Checks a receipt bundle from only its bytes.
 * @returns err: why the file is not a bundle, as the end of a sentence that names it
 */
export function checkReceipt({ name, bytes }: NamedBytes): Result<CheckedReceipt, string> {
  if (isZip(bytes)) return err('is a zip archive: expected a JSON file, as the service creates it');
  const text = decodeUtf8(bytes, { ignoreBOM: true });
  const parsed = text === undefined ? undefined : parseStrictJson(text);
  if (parsed?.ok !== true)
    return err('is not valid I-JSON (RFC 7493): expected UTF-8 without duplicate member names');
  const any = anyReceipt.safeParse(parsed.value);
  if (!any.success)
    return err('is not a receipt bundle: expected "object" to be "source_receipt" or "run_receipt"');
  const { digest, ...content } = any.data;
  const sha256 = sha256Hex(bytes);
  const nameDigest = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/i.exec(name)?.[0].toLowerCase();
  const schema = receiptBundle.safeParse(parsed.value);
  const issues = schema.success ? [] : schema.error.issues;
  const { object, formatVersion } = any.data;
  const isSourceSetMisplaced =
    object === 'source_receipt' && (formatVersion === 3) !== 'sourceSet' in any.data;
  const [ofRows = [], ofShape = []] = [true, false].map((wanted) =>
    issues.filter(({ code, path }) => (code === 'custom' && path[0] === 'contributions') === wanted),
  );
  const checks: Check[] = [
    {
      name: 'bytes',
      holds: `canonical JSON (RFC 8785), SHA-256 ${sha256}`,
      failures: text === canonicalJson(parsed.value) ? [] : ['the file is not in canonical form'],
      remedy: 'Save the download unchanged: an editor or a formatter has rewritten this file.',
    },
    {
      name: 'file name',
      holds: 'the SHA-256 of the bytes',
      failures: nameDigest === undefined ? [] : differs('the digest in it', nameDigest, sha256),
      remedy: 'This is not the file that the link refers to: download the bundle again.',
      ...(nameDigest === undefined ? { skipped: 'contains no digest' } : {}),
    },
    {
      name: 'digest',
      holds: 'matches the rest of the bundle',
      failures: differs('the digest', digest, hashCanonical(content)),
      remedy: 'The bundle was changed after it was created: download it again.',
    },
    {
      name: 'shape',
      holds: `${object}, format ${String(formatVersion)}`,
      failures: [
        ...ofShape.map(({ path, message }) => `/${path.map(String).join('/')}: ${message}`),
        ...(isSourceSetMisplaced ? ['/sourceSet: must be there since format 3, and not before'] : []),
      ],
      remedy: 'Download the bundle again. If the error persists, use a newer release of this command.',
    },
  ];
  if (ofShape.length > 0) return ok({ checks });
  // SAFETY: every member has its type; only contributions may contradict themselves, which does not affect the other checks.
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

/** Returns whether bytes begin with the signature of a zip archive. */
function isZip([first, second, third, fourth]: Uint8Array): boolean {
  return first === 0x50 && second === 0x4b && third === 0x03 && fourth === 0x04;
}
