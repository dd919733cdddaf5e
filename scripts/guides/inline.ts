import { createHash } from 'node:crypto';

/**
 * Moves the inline scripts of a document into files named after their content, and drops its style attributes: the browser
 * sets those by script. The text of pages has no style attributes, because the configuration of VitePress makes classes of them.
 */
export function withoutInline(
  html: string,
  base: string,
): { readonly html: string; readonly scripts: ReadonlyMap<string, string> } {
  const scripts = new Map<string, string>();
  const moved = html
    .replace(/<script([^>]*)>([\s\S]*?)<\/script>/g, (whole, attributes: string, text: string) => {
      if (text.trim() === '') return whole;
      const name = `assets/inline.${createHash('sha256').update(text).digest('hex').slice(0, 12)}.js`;
      scripts.set(name, text);
      return `<script${attributes} src="${base}${name}"></script>`;
    })
    .replace(/(<[a-z][^<>]*?) style="[^"]*"/gi, '$1');
  return { html: moved, scripts };
}
