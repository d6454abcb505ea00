import { readFileSync } from 'node:fs';

// Loaded before every command: an older Node cannot even read the TypeScript files that would tell.
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  console.error(
    `This needs Node 24, and Node ${process.versions.node} runs it. \`npm ci\` brings Node 24 for every \`npm run\`; ` +
      'if it was installed with --ignore-scripts, install again without.',
  );
  process.exit(1);
}
// Checksums and generated documents are compared byte for byte (.gitattributes).
if (readFileSync(new URL(import.meta.url), 'latin1').includes('\r')) {
  console.error(
    'The files of this folder have Windows line ends (CR LF), and the project needs LF. Clone it again with ' +
      '`git clone -c core.autocrlf=false`, or copy the files without conversion.',
  );
  process.exit(1);
}
await import('./loopback.mjs');
