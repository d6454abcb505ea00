import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

/*
 * Runs programs of package.json one after the other in this process, so that what they import is loaded once. A parent process sends the
 * file, the words and the folder of each, and gets what it prints and its exit code. For runs that end by themselves: a program that starts
 * something needs a process of its own.
 */

const RUN = '?run=';
let runs = 0;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.includes(RUN)) return loaded;
    // SAFETY: the source of a file is text or its bytes.
    const source = Buffer.from(loaded.source as string).toString();
    return { ...loaded, source: source.replaceAll('import.meta.main', 'true') };
  },
});

const printed = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  // Each program listens for a reader that goes away.
  process[name].setMaxListeners(0);
  process[name].write = (chunk: string | Uint8Array): boolean => {
    printed[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
}

interface Run {
  readonly file: string;
  readonly argv: readonly string[];
  readonly folder: string;
}

process.on('message', ({ file, argv, folder }: Run) => {
  Object.assign(printed, { stdout: '', stderr: '' });
  process.chdir(folder);
  process.argv = [process.execPath, file, ...argv];
  process.exitCode = undefined;
  runs += 1;
  import(`${pathToFileURL(file).href}${RUN}${runs}`)
    .catch((error: unknown) => {
      printed.stderr += inspect(error);
      process.exitCode = 1;
    })
    .finally(() => {
      process.send?.({ code: process.exitCode ?? 0, ...printed });
    });
});
