import { htmlOf, markup, type Markup } from '#tools/page/markup.ts';
import { baseStyle } from './style.ts';

/**
 * Returns a report as one self-contained HTML page: no script, no font, no request, which its policy also forbids (CSP 3).
 * @param style the page's additions to the common style sheet
 */
export function htmlPage({
  title,
  style,
  body,
}: {
  readonly title: string;
  readonly style: Markup;
  readonly body: Markup;
}): string {
  return htmlOf(markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${[baseStyle, style]}</style>
</head>
<body>
${body}
</body>
</html>
`);
}
