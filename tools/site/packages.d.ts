/** What the site uses of its packages. Eleventy and its Markdown library have no types of their own. */
declare module '@11ty/eleventy' {
  export interface Token {
    readonly type: string;
    readonly content: string;
    readonly info: string;
    readonly children: readonly Token[] | null;
    tag: string;
    attrs: [string, string][] | null;
    attrGet: (name: string) => string | null;
    attrSet: (name: string, value: string) => void;
  }

  type Rule = (tokens: readonly Token[], index: number, ...rest: unknown[]) => string;

  export interface MarkdownLibrary {
    readonly core: {
      readonly ruler: {
        push: (
          name: string,
          rule: (state: {
            readonly tokens: readonly Token[];
            readonly env: { readonly source: string };
          }) => void,
        ) => void;
      };
    };
    readonly renderer: { readonly rules: Record<string, Rule> };
  }

  export interface EleventyConfig {
    addTemplate: (path: string, content: string, data: object) => void;
    addFilter: (name: string, filter: (text: string, argument: string) => unknown) => void;
    addGlobalData: (name: string, data: unknown) => void;
    amendLibrary: (name: 'md', amend: (library: MarkdownLibrary) => void) => void;
    setTemplateFormats: (formats: readonly string[]) => void;
    setQuietMode: (quiet: boolean) => void;
  }

  export default class Eleventy {
    constructor(
      input: string,
      output: string,
      options: { readonly configPath: null; readonly config: (config: EleventyConfig) => object },
    );
    /** The pages, none of them written. */
    toJSON(): Promise<readonly { readonly url: string; readonly content: string }[]>;
  }
}

declare module 'beautiful-mermaid' {
  /** A Mermaid diagram as SVG text. */
  export function renderMermaidSVG(source: string): string;
}

declare module '*/search-index.mjs' {
  /** Builds the index of the site's entries, best match first. */
  export function buildIndex(
    MiniSearch: unknown,
    entries: readonly unknown[],
  ): { search: (query: string) => readonly { readonly id: string }[] };
}
