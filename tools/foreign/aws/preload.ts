import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withKnownTypes } from './known-types.ts';

/*
 * Preloaded into `npm run deploy` and what it starts (`node --import`), so that the real command can deploy to moto. Each change is an answer of moto's that
 * AWS would not give.
 */

const { CDK_OUTDIR: assembly, MOTO_TYPES: types = '[]' } = process.env;

if (process.argv[1]?.endsWith('/bin/app.ts') === true && assembly !== undefined)
  process.once('exit', () => makeKnown(assembly));

/** Rewrites the synthesized templates: moto neither creates all types nor protects a stack from termination. */
function makeKnown(folder: string): void {
  // SAFETY: from the part.
  const known = new Set(JSON.parse(types) as string[]);
  const replaced = new Set<string>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.template.json'))) {
    // SAFETY: from the CDK.
    const template = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Parameters<
      typeof withKnownTypes
    >[0];
    const made = withKnownTypes(template, known);
    for (const type of made.replaced) replaced.add(type);
    // Only the version of the bootstrap, of which moto takes the value for the parameter's name in an update.
    const text = JSON.stringify({ ...made.template, Parameters: undefined, Rules: undefined });
    writeFileSync(join(folder, file), text);
  }
  const manifest = join(folder, 'manifest.json');
  const text = readFileSync(manifest, 'utf8').replaceAll(
    '"terminationProtection": true',
    '"terminationProtection": false',
  );
  writeFileSync(manifest, text);
  writeFileSync(join(folder, 'replaced-types.json'), JSON.stringify([...replaced].toSorted()));
}

const { fetch: send } = globalThis;
/** Nothing leaves this machine: an address that moto invents could be another's. */
globalThis.fetch = async (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : input);
  if (hostname !== '127.0.0.1') throw new TypeError(`no call to ${hostname}`);
  return send(input, init);
};
