import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Chapter, CONTENTS, DECISIONS } from './contents.ts';
import { pageForSite, sitePathOf, summaryOf, titleOf } from './markdown.ts';

export interface SitePage {
  /** The path in the repository. */
  readonly path: string;
  /** The path in the site, which ends with `.md`. */
  readonly sitePath: string;
  readonly title: string;
  readonly summary: string;
  readonly text: string;
}

export interface SiteChapter extends Omit<Chapter, 'pages'> {
  readonly pages: readonly SitePage[];
}

/** The pages of the site with their texts, by chapter. `source` is the address of the published repository, if there is one. */
export async function readSite(root: string, source?: string): Promise<SiteChapter[]> {
  const decisions = (await readdir(join(root, DECISIONS))).filter((name) => name.endsWith('.md')).sort();
  const chapters: Chapter[] = [
    ...CONTENTS,
    {
      title: 'Decisions',
      about: 'The reasons for the shape of Till, each with its price.',
      pages: decisions.map((name) => `${DECISIONS}${name}`),
    },
  ];
  const pages = new Set(chapters.flatMap((chapter) => chapter.pages));
  const read = async (path: string): Promise<SitePage> => {
    const text = pageForSite(path, await readFile(join(root, path), 'utf8'), { pages, source });
    const name = path === 'README.md' ? 'Overview' : titleOf(text);
    return { path, sitePath: sitePathOf(path), title: name, summary: summaryOf(text), text };
  };
  return Promise.all(
    chapters.map(async (chapter) => ({ ...chapter, pages: await Promise.all(chapter.pages.map(read)) })),
  );
}

/** The list of all pages for language models, by the convention of llmstxt.org: each link leads to a page in Markdown. */
export function llmsText(chapters: readonly SiteChapter[], base: string): string {
  const list = ({ title, about, pages }: SiteChapter) =>
    `## ${title}\n\n${about}\n\n${pages.map((page) => `- [${page.title}](${base}${page.sitePath})${page.summary === '' ? '' : `: ${page.summary}`}`).join('\n')}`;
  return `# Till

> An open, self-hosted payment gateway: payers sign once, merchants are paid on chain.

The gateway itself serves its API reference at \`/docs\` and its OpenAPI document at \`/openapi.json\`.

${chapters.map(list).join('\n\n')}
`;
}

/** The sidebar of the site. Its chapters cannot be closed: VitePress would put a button into a button for that. */
export function sidebarOf(chapters: readonly SiteChapter[]) {
  return chapters.map(({ title, pages }) => ({
    text: title,
    items: pages.map((page) => ({ text: page.title, link: `/${page.sitePath.replace(/\.md$/, '')}` })),
  }));
}

/** The front page: an entry for each kind of reader. */
export function frontPage(chapters: readonly SiteChapter[]): string {
  const features = chapters
    .filter(({ title }) => title !== 'Decisions')
    .map(({ title, about, pages: [first] }) => ({
      title,
      details: about,
      link: `/${first?.sitePath.replace(/\.md$/, '')}`,
    }));
  const front = {
    layout: 'home',
    title: 'Till',
    titleTemplate: 'Guides',
    hero: {
      name: 'Till',
      text: 'Payments that reach the shop on chain',
      tagline:
        'An open payment gateway that you run yourself. The payer signs once; one transaction pays the merchant and the fee.',
      actions: [
        { theme: 'brand', text: 'Start in a minute', link: '/start' },
        { theme: 'alt', text: 'The life of a payment', link: '/concepts' },
      ],
    },
    features,
  };
  // JSON is YAML.
  return `---\n${JSON.stringify(front, null, 2)}\n---\n`;
}
