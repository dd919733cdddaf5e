import { posix } from 'node:path';

/** The path of a page in the site, such as `decisions/0004-rates.md`, `sdk.md` and `about/security.md`: docs has a `security.md`, too. */
export function sitePathOf(path: string): string {
  if (path.startsWith('docs/')) return path.slice('docs/'.length);
  const folder = posix.dirname(path);
  return folder === '.' ? `about/${path.toLowerCase()}` : `${folder}.md`;
}

export interface LinkRules {
  /** The pages of the site, by their paths in the repository. */
  readonly pages: ReadonlySet<string>;
  /** The address before the path of a file that is no page. Undefined if the source is not published: then the link becomes text. */
  readonly source: string | undefined;
}

/**
 * The text of a page for the site. Its links are relative to the repository there, and to the site here. Files that the site
 * has beside its pages (`docs/pictures`, `docs/examples`, `docs/verify-receipt.mjs`) keep their links.
 */
export function pageForSite(path: string, text: string, rules: LinkRules): string {
  return outsideCode(text, (prose) =>
    prose.replace(
      LINK,
      (whole, mark: string, words: string, target: string) => rewritten(path, { mark, words, target }, rules) ?? whole,
    ),
  );
}

/** A link or a picture. Its words may hold code and a picture. */
const LINK = /(!?)\[((?:!\[[^\]]*\]\([^)]*\)|`[^`]*`|\\.|[^\]`\\])*)\]\(([^)\s]+)\)/g;
const BESIDE = /^docs\/(?:pictures\/.+|examples\/.+|verify-receipt\.mjs)$/;

function rewritten(
  from: string,
  { mark, words, target }: { readonly mark: string; readonly words: string; readonly target: string },
  { pages, source }: LinkRules,
): string | undefined {
  if (/^(?:[a-z]+:|\/|#)/.test(target)) return undefined;
  const [file = '', anchor] = target.split('#');
  const path = posix.join(posix.dirname(from), decodeURI(file)).replace(/\/$/, '');
  const page = [path, `${path}/README.md`].find((name) => pages.has(name));
  const inSite = page !== undefined ? sitePathOf(page) : BESIDE.test(path) ? path.slice('docs/'.length) : undefined;
  if (inSite !== undefined) {
    const relative = posix.relative(posix.dirname(sitePathOf(from)), inSite);
    const dotted = relative.startsWith('.') ? relative : `./${relative}`;
    // VitePress takes a link to any other file for a page.
    if (page === undefined && mark === '') return `<a href="${dotted}" download>${words}</a>`;
    return `${mark}[${words}](${dotted}${anchor === undefined ? '' : `#${anchor}`})`;
  }
  if (source !== undefined) return `${mark}[${words}](${source}${path}${anchor === undefined ? '' : `#${anchor}`})`;
  const named = words.replaceAll('`', '');
  return path.endsWith(named.replace(/\/$/, '')) ? `\`${named}\`` : `${words} (\`${path}\`)`;
}

/** Applies a change to the parts of a text that are no fenced code. */
export function outsideCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^ *```[^\n]*\n[\s\S]*?^ *```$)/gm)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}

export function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? '';
}

/** The first sentence under the title, as plain text. */
export function summaryOf(text: string): string {
  const [paragraph = ''] = text
    .replace(/^[\s\S]*?^# .+$/m, '')
    .trim()
    .split(/\n\s*\n/)
    .filter((part) => /^[\p{L}`[*]/u.test(part));
  const plain = paragraph
    .replace(LINK, '$2')
    .replaceAll(/[`*]|<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ');
  return (/^.*?[.:](?= \p{Lu}|$)/u.exec(plain)?.[0] ?? plain).replace(/:$/, '.');
}

/** The anchor of a heading, by the rule of the site that shows the repository, so that links to sections work on both. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}
