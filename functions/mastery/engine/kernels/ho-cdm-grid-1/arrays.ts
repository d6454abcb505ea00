/** Reads an element that is known to exist. One function an array type: the compiled code stays as fast as a plain load. */
export function at(array: Float64Array, index: number): number {
  return array[index] as number;
}

/** As `at`, for indices. */
export function integerAt(array: Int32Array, index: number): number {
  return array[index] as number;
}
