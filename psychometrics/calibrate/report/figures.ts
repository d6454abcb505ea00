/** Formats a figure to some decimals; a dash if there is none. */
export function figure(value: number | undefined, decimals = 3): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  const text = value.toFixed(decimals);
  // No "-0.000", and a typographic minus sign.
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
}

/** Formats a p value; below 0.001 only the bound. */
export function pValue(value: number | undefined): string {
  if (value === undefined) return '–';
  return value < 0.001 ? '< 0.001' : figure(value);
}
