/** A cell as a number: with decimal point or comma, exponent or percent sign (100 % is 1); undefined for any other text. */
export function numberOf(cell: string): number | undefined {
  if (cell === '1') return 1;
  if (cell === '0') return 0;
  const [, digits, percent] =
    /^([+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d{1,3})?)( ?%)?$/i.exec(cell) ?? [];
  if (digits === undefined) return undefined;
  const value = Number(digits.replace(',', '.'));
  return percent === undefined ? value : value / 100;
}

/** 1 or 0 as spreadsheets and statistics programs write them: also with decimals or exponent, and as TRUE and FALSE. */
export function binaryOf(cell: string): 0 | 1 | undefined {
  const number = numberOf(cell);
  if (number !== undefined) return number === 1 ? 1 : number === 0 ? 0 : undefined;
  if (/^(?:true|wahr|vrai|verdadero|vero)$/i.test(cell)) return 1;
  return /^(?:false|falsch|faux|falso)$/i.test(cell) ? 0 : undefined;
}

/** A count with separated thousands. */
export function counted(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
