/** Reads an element that is known to exist. One function an array type: the compiled code stays as fast as a plain load. */
export function at(array: Float64Array, index: number): number {
  return array[index] as number;
}

/** As `at`, for indices. */
export function integerAt(array: Int32Array, index: number): number {
  return array[index] as number;
}

/**
 * Sum over g of weights[g] * rows[offset + g], in four running sums, so that no addition waits for the one before it. The order of the
 * additions is part of the kernel.
 */
export function weightedSum(weights: Float64Array, rows: Float64Array, offset: number): number {
  const count = weights.length;
  const even = count - (count % 4);
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let g = 0; g < even; g += 4) {
    a += at(weights, g) * at(rows, offset + g);
    b += at(weights, g + 1) * at(rows, offset + g + 1);
    c += at(weights, g + 2) * at(rows, offset + g + 2);
    d += at(weights, g + 3) * at(rows, offset + g + 3);
  }
  for (let g = even; g < count; g += 1) a += at(weights, g) * at(rows, offset + g);
  return a + b + (c + d);
}

/** Sum over g of weights[g] * first[i + g] * second[j + g], in the order of `weightedSum`. */
export function weightedSumOfProducts(
  weights: Float64Array,
  first: Float64Array,
  i: number,
  second: Float64Array,
  j: number,
): number {
  const count = weights.length;
  const even = count - (count % 4);
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let g = 0; g < even; g += 4) {
    a += at(weights, g) * at(first, i + g) * at(second, j + g);
    b += at(weights, g + 1) * at(first, i + g + 1) * at(second, j + g + 1);
    c += at(weights, g + 2) * at(first, i + g + 2) * at(second, j + g + 2);
    d += at(weights, g + 3) * at(first, i + g + 3) * at(second, j + g + 3);
  }
  for (let g = even; g < count; g += 1) a += at(weights, g) * at(first, i + g) * at(second, j + g);
  return a + b + (c + d);
}
