import { posix } from 'node:path';
import { renderMermaidSVG } from 'beautiful-mermaid';
import type { MarkdownLibrary, Token } from '@11ty/eleventy';

/**
 * Teaches the Markdown library what GitHub does: headings have the same anchors, Mermaid becomes a picture. Links lead to the pages of the
 * site or of the repository. What is too wide scrolls by itself, also by keyboard.
 * A problem that a text names leads to its page.
 * @param addressOf the path on the site of a page, picture or file, by its path in the repository, or its address in the repository; undefined: neither
 * @param unreachable takes what has none
 */
export function amendMarkdown(
  library: MarkdownLibrary,
  addressOf: (file: string) => string | undefined,
  problems: ReadonlyMap<string, unknown>,
  unreachable: string[],
): void {
  library.core.ruler.push('site', ({ tokens, env }) => {
    const anchors = new Map<string, number>();
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'heading_open')
        token.attrSet('id', anchorOf(tokens[index + 1]?.content ?? '', anchors));
      // The library aligns columns by an inline style, which the policy of the site refuses.
      if (token.attrGet('style') === 'text-align:right') token.attrs = [['class', 'number']];
      else if (token.attrGet('style') !== null) token.attrs = null;
      if (token.children !== null) mapReferences(token.children, env.source, addressOf, unreachable);
    }
  });
  const { rules } = library.renderer;
  const code = rules['code_inline'];
  rules['code_inline'] = (tokens, index, ...rest) => {
    const text = code?.(tokens, index, ...rest) ?? '';
    const name = tokens[index]?.content ?? '';
    const isLinked =
      tokens.slice(0, index).findLast(({ type }) => type.startsWith('link_'))?.type === 'link_open';
    return problems.has(name) && !isLinked ? `<a href="../problems/${name}.html">${text}</a>` : text;
  };
  rules['table_open'] = () => '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>\n';
  rules['table_close'] = () => '</table></div>\n';
  const fence = rules['fence'];
  rules['fence'] = (tokens, index, ...rest) => {
    const { info = '', content = '' } = tokens[index] ?? {};
    if (info.trim() === 'mermaid') return diagram(content);
    return (fence?.(tokens, index, ...rest) ?? '').replace('<pre>', '<pre tabindex="0">');
  };
}

/** The anchor that GitHub gives to a heading; a repeated one gets a number. */
export function anchorOf(text: string, taken: Map<string, number>): string {
  const anchor = text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');
  const repeated = taken.get(anchor) ?? 0;
  taken.set(anchor, repeated + 1);
  return repeated === 0 ? anchor : `${anchor}-${repeated}`;
}

function mapReferences(
  inline: readonly Token[],
  source: string,
  addressOf: (file: string) => string | undefined,
  unreachable: string[],
): void {
  for (const token of inline) {
    const name = token.type === 'image' ? 'src' : 'href';
    const reference = token.attrGet(name);
    if (reference === null || /^(?:[a-z]+:|#)/.test(reference)) continue;
    const [path = '', anchor] = reference.split('#');
    const file = posix.join(posix.dirname(source), decodeURI(path)).replace(/\/$/, '');
    const address = addressOf(file);
    if (address === undefined) unreachable.push(`${source}: ${reference}`);
    else
      token.attrSet(
        name,
        `${address.includes(':') ? '' : '../'}${address}${anchor === undefined ? '' : `#${anchor}`}`,
      );
  }
}

/** The diagram without colours and fonts of its own: the site's style sheet has them. */
function diagram(source: string): string {
  const svg = renderMermaidSVG(source)
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/ style="[^"]*"/, ' role="img" aria-label="Diagram: the text says the same"');
  return `<div class="scroll diagram" role="group" aria-label="Diagram" tabindex="0">${svg}</div>\n`;
}
