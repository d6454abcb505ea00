import { markup } from './markup.ts';
import type { Markup } from './markup.ts';

/** A picture with a title and a description for those who do not see it. `id` is unique on the page. */
export function picture(
  id: string,
  { width, height }: { readonly width: number; readonly height: number },
  { title, description }: { readonly title: string; readonly description: string },
  content: readonly Markup[],
): Markup {
  return markup`<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>
${content}</svg>`;
}
