import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A place that a person has to fill. */
export interface Hole {
  readonly file: string;
  readonly line: number;
  /** What belongs there. */
  readonly what: string;
}

/**
 * Code for a value that only a person can decide. No such function is declared, so the file does not compile until it is gone.
 * @param what belongs there, in one sentence
 */
export function hole(what: string): string {
  return `FILL_IN('${what}')`;
}

/** The same for a type. */
export function typeHole(what: string): string {
  return `FILL_IN<'${what}'>`;
}

const HOLE = /\bFILL_IN[(<]\s*(?:'([^']*)'|"([^"]*)"),?\s*[)>]/g;

/** The holes of a file's text. */
export function holesIn(file: string, text: string): readonly Hole[] {
  return [...text.matchAll(HOLE)].map(({ index, 1: single, 2: double = '' }) => ({
    file,
    line: text.slice(0, index).split('\n').length,
    what: single ?? double,
  }));
}

/** All holes of the tree. The templates themselves are none. */
export function openHoles(root: string): readonly Hole[] {
  const files = globSync(
    '{bin,lib,functions,shared,client,report-element,ops,psychometrics,local,tools,bench,docs,test}/**/*.{ts,tsx,md}',
    { cwd: root, exclude: ['**/node_modules/**', 'tools/scaffolds/**', 'build/**'] },
  );
  return files.sort().flatMap((file) => holesIn(file, readFileSync(join(root, file), 'utf8')));
}

/** One line per hole. */
export function holeLines(holes: readonly Hole[]): readonly string[] {
  return holes.map(({ file, line, what }) => `  ${file}:${line}  ${what}`);
}
