import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { releaseManifest, type ReleaseManifest } from '#shared/release/manifest.ts';
import { fileFailure, readFrom } from '#tools/terminal/file-failure.ts';
import { bytesOfFile } from './dereference.ts';
import { attachSignature, signingDigest, signManifest } from './sign-manifest.ts';

export interface SignOptions {
  /** File of a private key in PEM. */
  readonly key: string | undefined;
  /** File for the digest, which is signed elsewhere. */
  readonly digest: string | undefined;
  /** File of the DER signature of that digest. */
  readonly signature: string | undefined;
  /** File for the signed manifest; without it, the manifest is printed. */
  readonly out: string | undefined;
  readonly print: (line: string) => void;
}

/** `gates sign DRAFT`: a draft is a manifest in JSON, in which a `file:` receipt may omit its digest. */
export async function sign(path: string, options: SignOptions): Promise<Result<undefined, string>> {
  const { key, digest, signature, out, print } = options;
  const draft = await readDraft(path);
  if (!draft.ok) return draft;
  if (digest !== undefined) {
    const written = await write(digest, signingDigest(draft.value));
    if (written.ok) print(`wrote the SHA-256 digest to ${digest}: sign it with ECDSA on P-256`);
    return written;
  }
  const jws =
    signature === undefined ? await signHere(draft.value, key ?? '') : await attach(draft.value, signature);
  if (!jws.ok) return jws;
  if (out === undefined) {
    print(jws.value);
    return ok(undefined);
  }
  return write(out, `${jws.value}\n`);
}

async function signHere(manifest: ReleaseManifest, path: string): Promise<Result<string, string>> {
  const pem = await readFrom(path, () => readFile(path));
  if (!pem.ok) return pem;
  let key: KeyObject;
  try {
    key = createPrivateKey(pem.value);
  } catch {
    return err(`${path} does not contain a private key in PEM without a passphrase`);
  }
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    ? ok(signManifest(manifest, key))
    : err(`${path} does not contain a P-256 key`);
}

async function attach(manifest: ReleaseManifest, path: string): Promise<Result<string, string>> {
  const der = await readFrom(path, () => readFile(path));
  if (!der.ok) return der;
  const jws = attachSignature(manifest, der.value);
  return jws.ok ? jws : err(`${path} ${jws.error}`);
}

async function readDraft(path: string): Promise<Result<ReleaseManifest, string>> {
  const text = await readFrom(path, () => readFile(path));
  if (!text.ok) return text;
  const json = parseStrictJson(text.value.toString());
  if (!json.ok) return err(`${path} is not JSON`);
  const filled = await fillDigests(json.value, dirname(path));
  if (!filled.ok) return err(`${path}: ${filled.error}`);
  const parsed = releaseManifest.safeParse(filled.value);
  if (parsed.success) return ok(parsed.data);
  const defects = parsed.error.issues.map(
    ({ path: member, message }) => `  /${member.map(String).join('/')}  ${message}`,
  );
  return err([`${path} is not a valid manifest:`, ...defects].join('\n'));
}

/** Adds the digest of each `file:` receipt that has none; the schema checks everything else. */
async function fillDigests(draft: unknown, folder: string): Promise<Result<unknown, string>> {
  if (!isObject(draft) || !Array.isArray(draft['receipts'])) return ok(draft);
  const receipts: unknown[] = [];
  for (const receipt of draft['receipts'] as unknown[]) {
    const location = isObject(receipt) ? receipt['location'] : undefined;
    if (
      !isObject(receipt) ||
      'sha256' in receipt ||
      typeof location !== 'string' ||
      !location.startsWith('file:')
    ) {
      receipts.push(receipt);
      continue;
    }
    const bytes = await bytesOfFile(location.slice('file:'.length), folder);
    if (!bytes.ok) return err(`${location} ${bytes.error}`);
    receipts.push({ ...receipt, sha256: sha256Hex(bytes.value) });
  }
  return ok({ ...draft, receipts });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function write(path: string, content: string | Uint8Array): Promise<Result<undefined, string>> {
  try {
    await writeFile(path, content);
    return ok(undefined);
  } catch (error) {
    return err(`cannot write ${path}: ${fileFailure(error)}`);
  }
}
