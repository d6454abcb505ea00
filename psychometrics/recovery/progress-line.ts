/** The characters of the bar. */
const BAR = 30;

/** How far a study is: the share that is done, as a bar too, and what is next. */
export function progressLine(done: number, what: string): string {
  const full = Math.min(BAR, Math.floor(BAR * done));
  const percent = String(Math.min(100, Math.floor(100 * done))).padStart(3);
  return `${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${percent} % ${what}`;
}
