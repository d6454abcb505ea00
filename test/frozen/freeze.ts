import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { parseReleaseKey } from '#shared/release/release-key.ts';
import { startTestAws } from '#test/support/aws.ts';
import { signManifest } from '#ops/gates/sign-manifest.ts';
import { openForms, readers, readForm } from './read.ts';
import { versionOf, versions, writeForms } from './write.ts';

/*
 * Freezes everything that is stored or sealed, in the form in which the code writes it now:
 *
 *     npx node test/frozen/freeze.ts v3
 *
 * The values are those of the newest folder and what `write.ts` adds to them. `forms.json` is what was stored, `decoded.json` what the readers made
 * of it. A folder is written anew until its release (`readers.mjs`); from then on it stands for what is stored out there, and the next one begins.
 */

const newest = versions.at(-1) ?? '';
const base = versionOf(newest);
const version = base.isReleased ? `v${versions.length + 1}` : newest;
if (process.argv[2] !== version) throw new Error(`usage: node test/frozen/freeze.ts ${version}`);
const folder = `${import.meta.dirname}/${version}`;

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = parseReleaseKey(JSON.stringify(publicKey.export({ format: 'jwk' })));
if (key === undefined) throw new Error('Node made a key that is none');
const signatures = new Map<string, string>();
const [written, read] = [await startTestAws(), await startTestAws()];
try {
  const forms = await writeForms(written, base, {
    key,
    // The same manifest has one signature: its digest names it elsewhere.
    sign(manifest) {
      const text = JSON.stringify(manifest);
      const jws = signatures.get(text) ?? signManifest(manifest, privateKey);
      signatures.set(text, jws);
      return jws;
    },
  });
  const reading = await openForms(read, forms);
  const decoded: Record<string, unknown> = {};
  for (const name of Object.keys(readers)) decoded[name] = await readForm(name, reading);
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/forms.json`, textOf(forms));
  await writeFile(`${folder}/decoded.json`, textOf(decoded));
} finally {
  await written.close();
  await read.close();
}

function textOf(content: unknown): string {
  return `${JSON.stringify(content, undefined, 1)}
`;
}
