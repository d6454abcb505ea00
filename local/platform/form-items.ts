/** Returns the id of a form's n-th item, from 1. */
export function itemId(qtiTestId: string, number: number): string {
  return `${qtiTestId}-item-${number}`;
}

/** Returns whether an id is that of one of a form's first so many items. */
export function isItemOf(qtiTestId: string, items: number, id: string): boolean {
  const number = Number(id.slice(itemId(qtiTestId, 0).length - 1));
  return number >= 1 && number <= items && itemId(qtiTestId, number) === id;
}
