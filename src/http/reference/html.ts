import { escapeHtml } from '../../domain/escape-html.ts';

/** Markup that is safe to send. It is a class, so that no object of a document can be mistaken for it. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type Content = Html | string | number | false | undefined | readonly Content[];

/** Makes markup from a template. Every interpolated value is escaped, in text and in quoted attributes alike, unless it is `Html`. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  let markup = strings[0] ?? '';
  for (const [index, value] of values.entries()) markup += toMarkup(value) + (strings[index + 1] ?? '');
  return new Html(markup);
}

export function join(parts: readonly Content[], separator: Content): Content {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
}

/**
 * Renders the part of Markdown that descriptions use: paragraphs, `-` lists, fenced blocks without blank lines, `code` and
 * **strong**. Links stay text, because the page must not link to other sites.
 */
export function prose(text: string | undefined): Content {
  if (text === undefined) return undefined;
  const blocks = String(text)
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .filter((block) => block !== '');
  return blocks.map(block);
}

/** One line of a description, with inline marks only. */
export function inlineProse(text: string): Content {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part, index) => {
    if (index % 2 === 0) return part;
    return part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`<strong>${part.slice(2, -2)}</strong>`;
  });
}

/** A block of code under a caption. Long lines scroll, so the block is focusable: then a keyboard can scroll it, too. */
export function figure(caption: Content, code: Content): Html {
  return html`<figure><figcaption>${caption}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

function block(text: string): Html {
  const fenced = /^```(\w*)\n(.*)\n```$/s.exec(text);
  if (fenced !== null) return figure(fenced[1] === 'sh' ? 'Shell' : 'Code', fenced[2]);
  const lines = text.split('\n');
  const firstItem = lines.findIndex((line) => isItem(line));
  if (firstItem === -1) return html`<p>${inlineProse(text)}</p>`;
  const lead = lines.slice(0, firstItem).join('\n');
  const items: string[] = [];
  for (const line of lines.slice(firstItem)) {
    if (isItem(line)) items.push(line.replace(/^\s*[-*] /, ''));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  const list = html`<ul>${items.map((item) => html`<li>${inlineProse(item)}</li>`)}</ul>`;
  return lead === '' ? list : html`<p>${inlineProse(lead)}</p>${list}`;
}

function isItem(line: string): boolean {
  return /^\s*[-*] /.test(line);
}

function toMarkup(value: Content): string {
  if (value instanceof Html) return value.markup;
  if (Array.isArray(value)) return value.map(toMarkup).join('');
  if (value === undefined || value === false) return '';
  return escapeHtml(String(value));
}
