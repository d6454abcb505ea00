import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { holesIn, type Hole } from './holes.ts';
import { addImport, append, insert, replace, type Place } from './source.ts';

/** The files that a scaffold creates and edits. Nothing is written before `write`, and nothing at all if one edit has failed. */
export class Plan {
  readonly #root: string;
  readonly #texts = new Map<string, string>();
  readonly #failures: string[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  /** The paths that match, with the files that this plan creates. */
  files(pattern: string): readonly string[] {
    return globSync(pattern, { cwd: this.#root }).sort();
  }

  has(file: string): boolean {
    return this.#texts.has(file) || existsSync(join(this.#root, file));
  }

  /** A file's text with the edits so far; empty and a failure if there is no such file. */
  read(file: string): string {
    const planned = this.#texts.get(file);
    if (planned !== undefined) return planned;
    if (this.has(file)) return readFileSync(join(this.#root, file), 'utf8');
    this.fail(`${file} does not exist`);
    return '';
  }

  /** Notes why the scaffold cannot be made. */
  fail(reason: string): void {
    this.#failures.push(reason);
  }

  create(file: string, text: string): void {
    if (this.has(file)) this.fail(`${file} already exists`);
    else this.#texts.set(file, text);
  }

  /** Edits a file's text. */
  edit(file: string, change: (text: string) => Result<string, string>): void {
    const edited = change(this.read(file));
    if (edited.ok) this.#texts.set(file, edited.value);
    else this.fail(`${file} ${edited.error}`);
  }

  /** See `insert` of source.ts. */
  insert(file: string, place: Place, code: string, order?: 'last' | 'sorted'): void {
    this.edit(file, (text) => insert(text, place, code, order));
  }

  replace(file: string, place: Place, code: string): void {
    this.edit(file, (text) => replace(text, place, code));
  }

  append(file: string, code: string, before?: string): void {
    this.edit(file, (text) => append(text, code, before));
  }

  import(file: string, name: string, module: string): void {
    this.edit(file, (text) => ok(addImport(text, name, module)));
  }

  /**
   * Writes and formats the files.
   * @returns the paths, and the holes that they have. err: why nothing was written.
   */
  write(): Result<{ readonly files: readonly string[]; readonly holes: readonly Hole[] }, string> {
    if (this.#failures.length > 0) return err([...new Set(this.#failures)].join('\n'));
    const files = [...this.#texts.keys()].sort();
    for (const [file, text] of this.#texts) {
      mkdirSync(dirname(join(this.#root, file)), { recursive: true });
      writeFileSync(join(this.#root, file), text);
    }
    this.#format(files);
    const holes = files.flatMap((file) => holesIn(file, readFileSync(join(this.#root, file), 'utf8')));
    return ok({ files, holes });
  }

  /** The formatter is the one of the script `check:format`. */
  #format(files: readonly string[]): void {
    const { scripts } = JSON.parse(readFileSync(join(this.#root, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const [formatter = ''] = scripts['check:format']?.split(' ') ?? [];
    const bin = join(this.#root, 'node_modules/.bin', formatter);
    const { status, stderr } = spawnSync(process.execPath, [bin, '--write', ...files], {
      cwd: this.#root,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${formatter} failed: ${stderr}`);
  }
}
