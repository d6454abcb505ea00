import { runtimeVersions } from '#functions/mastery/engine/index.ts';
import { sitDesign } from './cdcat.ts';
import { eapOf } from './catr.ts';
import { designNames, type Reference } from './reference.ts';

/** One figure and the peer's. */
export interface Line {
  readonly peer: 'catR' | 'cdCAT';
  readonly name: string;
  readonly ours: number;
  readonly theirs: number;
  /** The largest allowed difference. */
  readonly tolerance: number;
  readonly passed: boolean;
}

/** A figure that could not be compared, and why. */
export interface Unchecked {
  readonly name: string;
  readonly why: string;
}

export interface Validation {
  readonly lines: readonly Line[];
  readonly unchecked: readonly Unchecked[];
}

/** The engine keeps P(mastered | ability) at least 10⁻⁶ away from 0 and 1, and catR does not. A mean can move by this much. */
const EAP_TOLERANCE = 1.3e-9;
/** The far ends of the grid move a second moment twice as much. */
const ERROR_TOLERANCE = 2.6e-9;
/** About two standard errors of a share of 640 learners, and of a mean length: both programs choose their items independently. */
const PATTERN_TOLERANCE = 0.04;
const ATTRIBUTE_TOLERANCE = 0.02;
const LENGTH_TOLERANCE = 0.6;

/** Compares the engine with every figure of the reference. @param progress gets the share that is done, and what is next */
export function validate(
  { peers, catr, designs, absent }: Reference,
  progress: (done: number, what: string) => void = () => undefined,
): Validation {
  const lines: Line[] = [];
  const unchecked: Unchecked[] = absent.map((file) => ({
    name: file,
    why: 'the folder does not contain this file',
  }));
  const line = (peer: Line['peer'], name: string, ours: number, theirs: number, tolerance: number): void => {
    // NaN does not pass.
    lines.push({ peer, name, ours, theirs, tolerance, passed: Math.abs(ours - theirs) <= tolerance });
  };
  for (const runtimeVersion of runtimeVersions())
    catr?.forEach((one, n) => {
      const { eap, sem } = eapOf(one, runtimeVersion);
      const name = `${runtimeVersion}, case ${n + 1}, ${one.it.length} items`;
      line('catR', `${name}: EAP`, eap, one.eap, EAP_TOLERANCE);
      line('catR', `${name}: standard error`, sem, one.sem, ERROR_TOLERANCE);
    });
  if (peers === undefined) return { lines, unchecked };
  designNames.forEach((name, n) => {
    const design = designs[name];
    if (design === undefined) return;
    const [pattern, attribute, length] = peers.cdcatK5['at0.8max50'][name];
    for (const [share, prior] of (['curves', 'table'] as const).entries()) {
      progress((n + share / 2) / designNames.length, `cdCAT ${name}, ${prior}`);
      const loose = sitDesign(design, prior, 0.8, 50);
      const strict = sitDesign(design, prior, 0.9999, 20);
      const at = `${name}, ${prior}, each attribute at`;
      line('cdCAT', `${at} 0.8: patterns`, loose.pattern, pattern, PATTERN_TOLERANCE);
      line('cdCAT', `${at} 0.8: attributes`, loose.attribute, attribute, ATTRIBUTE_TOLERANCE);
      line('cdCAT', `${at} 0.8: items`, loose.length, length, LENGTH_TOLERANCE);
      line(
        'cdCAT',
        `${at} 0.9999, 20 items at most: patterns`,
        strict.pattern,
        peers.cdcatK5['patternAt0.9999max20'][name],
        PATTERN_TOLERANCE,
      );
    }
  });
  for (const { data, model } of peers.cdmFits.rows)
    unchecked.push({ name: `CDM, ${model}: ${data}`, why: 'the folder does not contain these responses' });
  return { lines, unchecked };
}
