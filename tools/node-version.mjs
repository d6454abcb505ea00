// Loaded before every command: an older Node cannot even read the TypeScript files that would tell.
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  console.error(
    `This needs Node 24, and Node ${process.versions.node} runs it. \`npm ci\` brings Node 24 for every \`npm run\`; ` +
      'if it was installed with --ignore-scripts, install again without.',
  );
  process.exit(1);
}
