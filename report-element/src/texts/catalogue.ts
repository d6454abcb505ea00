import { de } from './de.ts';
import { en, type Texts } from './en.ts';

const catalogue: ReadonlyMap<string, Texts> = new Map([
  ['en', en],
  ['de', de],
]);

/** Returns the texts of a language tag (BCP 47), and the tag for numbers and dates; English for what the catalogue lacks. */
export function textsFor(tag: string): { readonly texts: Texts; readonly language: string } {
  const [primary = ''] = tag.toLowerCase().split('-');
  const texts = catalogue.get(primary);
  // English without a region has its days first, as most of the world writes them.
  if (texts === undefined || tag.toLowerCase() === 'en' || !isWellFormed(tag))
    return { texts: texts ?? en, language: texts === undefined || texts === en ? 'en-GB' : primary };
  return { texts, language: tag };
}

function isWellFormed(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
