// Nothing is imported before the check: what follows uses syntax that an older Node cannot even read.
const REQUIRED_MAJOR = 24;

if (Number(process.versions.node.split('.')[0]) < REQUIRED_MAJOR) {
  process.stderr.write(
    [
      `This needs Node ${REQUIRED_MAJOR} or newer; this is ${process.version}.`,
      'Run it through npm, which uses the Node that the project installs for itself: npm ci && npm start',
      'If npm itself says so: an `npm ci --ignore-scripts` leaves that Node out; run `npm ci` again, or install Node 24.',
      '',
    ].join('\n'),
  );
  process.exitCode = 1;
} else {
  const { start } = await import('./stack/start-command.ts');
  await start();
}

export {};
