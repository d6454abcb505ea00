import type { Kernel } from '../types.ts';
import { hoCdmBlock1 } from './ho-cdm-block-1/kernel.ts';
import { hoCdmGrid1 } from './ho-cdm-grid-1/kernel.ts';

/** A kernel in this bundle, with the hash of its source, which receipts contain. */
export interface ReleasedKernel {
  readonly kernel: Kernel;
  /**
   * SHA-256 over the kernel's files in the order of their names, each as its name, a line feed, its text, a line feed; a file of another kernel that
   * it imports is named with its folder. A test proves it: editing a frozen kernel breaks the build. Code that needs other numbers needs a new kernel.
   */
  readonly sourceHash: string;
}

/** The runtime versions of new calibrations: of those without blocks, and of those with them. */
export const CURRENT_RUNTIME_VERSION = 'ho-cdm-grid-1';
export const CURRENT_BLOCK_RUNTIME_VERSION = 'ho-cdm-block-1';

const kernels: ReadonlyMap<string, ReleasedKernel> = new Map([
  [
    hoCdmGrid1.runtimeVersion,
    {
      kernel: hoCdmGrid1,
      sourceHash: 'a5283fe42b12ea7bf7c46713ee02e69119e05a8c52fab46cc174477690800901',
    },
  ],
  [
    hoCdmBlock1.runtimeVersion,
    { kernel: hoCdmBlock1, sourceHash: '2a80562e009d353564c36048cd334821cf6db11550bfb0860200b7ba51fa8374' },
  ],
]);

/** Returns the kernel that a calibration's `runtimeVersion` names; undefined if this bundle does not contain it. */
export function findKernel(runtimeVersion: string): ReleasedKernel | undefined {
  return kernels.get(runtimeVersion);
}

/** Returns all runtime versions of this bundle. */
export function runtimeVersions(): readonly string[] {
  return [...kernels.keys()];
}
