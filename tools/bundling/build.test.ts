import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { err } from '#shared/kernel/result.ts';
import { buildFunctions, projectRoot, type BuildOptions, type BuiltFunction } from './build.ts';

const probe = { operationId: 'probe', handler: 'test/infra/bundle-probe.ts' };
const other = { operationId: 'other', handler: 'shared/stores/clients.ts' };

async function built(options: BuildOptions): Promise<readonly BuiltFunction[]> {
  const result = await buildFunctions(options);
  if (!result.ok) throw new Error(result.error.join('\n'));
  return result.value;
}

async function folder(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'build-')), 'functions');
}

describe('buildFunctions', () => {
  it('gives the same bytes wherever and beside whatever a function is built', async () => {
    const [alone] = await built({ outdir: await folder(), entries: [probe] });
    const together = await built({ outdir: await folder(), entries: [other, probe] });
    expect(together.map(({ operationId }) => operationId)).toStrictEqual(['other', 'probe']);
    expect(together[1]?.sha256).toBe(alone?.sha256);
  });

  it('names a folder that cannot be created, before it bundles', async () => {
    const file = join(await folder(), '../file');
    await writeFile(file, '');
    expect(await buildFunctions({ outdir: join(file, 'functions'), entries: [probe] })).toStrictEqual(
      err([`cannot create the folder ${join(file, 'functions')}: ${file} is not a directory`]),
    );
    // Where `mkdir` with `recursive` never returns. Only Linux has it.
    if (process.platform === 'linux')
      expect(await buildFunctions({ outdir: '/proc/functions', entries: [probe] })).toStrictEqual(
        err(['cannot create the folder /proc/functions: /proc does not accept new folders']),
      );
  });

  it('leaves nothing but the bundle in the asset', async () => {
    const outdir = await folder();
    await built({ outdir, entries: [probe] });
    expect(await readdir(join(outdir, 'probe'))).toStrictEqual(['index.mjs']);
    expect(await readdir(join(outdir, '../source-maps/probe'))).toStrictEqual(['index.mjs.map']);
  });

  it('builds again only what has changed, a damaged output included', async () => {
    const outdir = await folder();
    const options = { outdir, entries: [other, probe] };
    const [, first] = await built(options);
    expect(await built(options)).toMatchObject([{ reused: true }, { reused: true }]);
    await writeFile(join(outdir, 'probe/index.mjs'), 'broken');
    expect(await built(options)).toMatchObject([{ reused: true }, { reused: false, sha256: first?.sha256 }]);
    await writeFile(join(outdir, '.built.json'), '{"recipe":1}');
    expect(await built(options)).toMatchObject([{ reused: false }, { reused: false }]);
  });

  it('builds again when a constant has changed that is not in the bundle by itself', async () => {
    const outdir = await folder();
    const sources = await mkdtemp(join(tmpdir(), 'build-sources-'));
    const [handler, sizes] = [join(sources, 'handler.ts'), join(sources, 'sizes.ts')];
    await writeFile(handler, `import { SMALL } from './sizes.ts'; export const handler = () => SMALL;`);
    await writeFile(sizes, 'export const SMALL = 256;');
    const options = {
      outdir,
      entries: [{ operationId: 'sized', handler: relative(projectRoot, handler) }],
    };
    await built(options);
    expect(await built(options)).toMatchObject([{ reused: true }]);
    await writeFile(sizes, 'export const SMALL = 512;');
    const [again] = await built(options);
    expect(again?.reused).toBe(false);
    expect(await readFile(again?.file ?? '', 'utf8')).toContain('512');
  });

  it('removes what is no longer listed, and keeps what was only not asked for', async () => {
    const outdir = await folder();
    await built({ outdir, entries: [other, probe] });
    await built({ outdir, entries: [other, probe], only: ['other'] });
    expect(await built({ outdir, entries: [other, probe] })).toMatchObject([
      { reused: true },
      { reused: true },
    ]);
    await built({ outdir, entries: [other] });
    expect((await readdir(outdir)).toSorted()).toStrictEqual(['.built.json', 'other']);
  });

  it('says which name or file is wrong', async () => {
    const outdir = await folder();
    expect(await buildFunctions({ outdir, entries: [probe], only: ['porbe'] })).toStrictEqual(
      err(['unknown function "porbe": expected an operation id']),
    );
    const absent = await buildFunctions({
      outdir,
      entries: [{ operationId: 'absent', handler: 'functions/absent/handler.ts' }],
    });
    expect(absent).toMatchObject(err([expect.stringContaining('functions/absent/handler.ts') as string]));
  });
});

describe('a bundle with replaced modules', () => {
  it('has only the credentials that a function can meet', async () => {
    const [bundle] = await built({ outdir: await folder(), entries: [probe] });
    const code = await readFile(bundle?.file ?? '', 'utf8');
    expect(code.includes('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set')).toBe(true);
    expect(
      Object.keys(bundle?.shares ?? {}).filter((owner) =>
        /nested-clients|credential-provider-(?!imds)/.test(owner),
      ),
    ).toStrictEqual([]);
  });

  it('speaks to the service and names its error', async () => {
    const [bundle] = await built({ outdir: await folder(), entries: [probe] });
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(400, { 'content-type': 'application/x-amz-json-1.1' });
        response.end(JSON.stringify({ __type: 'InvalidFilterKey', message: 'no such path' }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    try {
      const program = `
        const { handler } = await import(${JSON.stringify(`file://${bundle?.file ?? ''}`)});
        await handler('/local/gates').catch(({ name, message, $fault }) => console.log(JSON.stringify({ name, message, $fault })));`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
        env: {
          AWS_REGION: 'eu-central-1',
          AWS_ACCESS_KEY_ID: 'local',
          AWS_SECRET_ACCESS_KEY: 'local',
          AWS_ENDPOINT_URL_SSM: `http://127.0.0.1:${address.port}`,
        },
      });
      expect(JSON.parse(stdout)).toStrictEqual({
        name: 'InvalidFilterKey',
        message: 'no such path',
        $fault: 'client',
      });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
