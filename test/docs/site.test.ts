import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { before, describe, it } from 'node:test';
import { withoutInline } from '../../scripts/guides/inline.ts';
import { anchorOf, outsideCode, pageForSite, sitePathOf, summaryOf } from '../../scripts/guides/markdown.ts';
import {
  frontPage,
  llmsText,
  readSite,
  type SiteChapter,
  type SitePage,
  sidebarOf,
} from '../../scripts/guides/site-files.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the guides', () => {
  let chapters: SiteChapter[];
  let pages: SitePage[];
  before(async () => {
    chapters = await readSite(ROOT);
    pages = chapters.flatMap((chapter) => chapter.pages);
  });

  it('have every page of docs once', () => {
    const listed = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/'));
    const files = ['docs', 'docs/decisions'].flatMap((folder) =>
      readdirSync(join(ROOT, folder))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${folder}/${name}`),
    );
    assert.deepEqual(listed.sort(), files.sort());
    assert.equal(new Set(pages.map(({ sitePath }) => sitePath)).size, pages.length);
    assert.ok(pages.every(({ title, text }) => title !== '' && text !== ''));
  });

  it('have each page in the sidebar and in llms.txt, and each chapter on the front page', () => {
    const links = sidebarOf(chapters).flatMap(({ items }) => items.map(({ link }) => `${link.slice(1)}.md`));
    const paths = pages.map(({ sitePath }) => sitePath);
    assert.deepEqual(links, paths);
    const listed = [...llmsText(chapters, '/guides/').matchAll(/^- \[.+?\]\(\/guides\/(.+?)\)/gm)];
    assert.deepEqual(
      listed.map(([, path]) => path),
      paths,
    );
    const { features } = JSON.parse(frontPage(chapters).split('---')[1] ?? '');
    assert.deepEqual(
      features.map(({ link }: { link: string }) => link.slice(1)),
      chapters.filter(({ title }) => title !== 'Decisions').map(({ pages: [first] }) => first?.sitePath.slice(0, -3)),
    );
  });

  it('have no link to a page or a section that is not there', () => {
    const anchors = new Map(pages.map(({ sitePath, text }) => [sitePath, anchorsOf(text)]));
    const broken = pages.flatMap(({ sitePath, text }) =>
      linksOf(text).flatMap((target) => {
        const [file = '', anchor] = target.split('#');
        const path = file === '' ? sitePath : posix.join(posix.dirname(sitePath), file);
        if (!path.endsWith('.md')) return [];
        const known = anchors.get(path);
        return known !== undefined && (anchor === undefined || known.has(anchor)) ? [] : [`${sitePath}: ${target}`];
      }),
    );
    assert.deepEqual(broken, []);
    assert.ok(pages.flatMap(({ text }) => linksOf(text)).length > 300);
  });

  it('lead to pages by the paths of the site, to the repository where it is published, and nowhere otherwise', () => {
    const rules = {
      pages: new Set(['docs/a.md', 'docs/decisions/1.md', 'sdk/README.md', 'README.md']),
      source: undefined,
    };
    const inSite = (text: string, from = 'docs/a.md') => pageForSite(from, text, rules);
    assert.equal(inSite('[x](decisions/1.md#why)'), '[x](./decisions/1.md#why)');
    assert.equal(inSite('[x](../README.md)'), '[x](./about/readme.md)');
    assert.equal(inSite('[x](../a.md)', 'docs/decisions/1.md'), '[x](../a.md)');
    assert.equal(inSite('[the `x`](docs/a.md#b)', 'README.md'), '[the `x`](../a.md#b)');
    assert.equal(inSite('[x](../sdk/README.md) [y](../sdk)'), '[x](./sdk.md) [y](./sdk.md)');
    assert.equal(inSite('![x](docs/pictures/p.webp)', 'README.md'), '![x](../pictures/p.webp)');
    assert.equal(inSite('[x](examples/p.mjs)'), '<a href="./examples/p.mjs" download>x</a>');
    assert.equal(inSite('[pay](../src/pay.ts)'), 'pay (`src/pay.ts`)');
    assert.equal(inSite('[`src/pay.ts`](../src/pay.ts)'), '`src/pay.ts`');
    assert.equal(inSite('[x](https://a.example) [y](#b) [z](/docs)'), '[x](https://a.example) [y](#b) [z](/docs)');
    assert.equal(inSite('```md\n[x](../src/pay.ts)\n```'), '```md\n[x](../src/pay.ts)\n```');
    const source = 'https://code.example/till/blob/main/';
    assert.equal(pageForSite('docs/a.md', '[x](../src/p.ts)', { ...rules, source }), `[x](${source}src/p.ts)`);
    assert.deepEqual(['docs/a.md', 'SECURITY.md', 'deploy/x/README.md'].map(sitePathOf), [
      'a.md',
      'about/security.md',
      'deploy/x.md',
    ]);
  });

  it('name each page by its first sentence', () => {
    assert.equal(summaryOf('# A\n\n![p](p.png)\n\nThe [x](y.md) of `z` is\nhere. More.\n'), 'The x of z is here.');
    assert.equal(summaryOf('# A\n\n| a |\n|---|\n'), '');
  });

  it('keep no inline script or style', () => {
    const { html, scripts } = withoutInline(
      '<script src="/x.js"></script><p style="color:red" id="a">1</p><script id="s">go(1 < 2)</script>',
      '/guides/',
    );
    const [[name = '', text] = []] = [...scripts];
    assert.equal(text, 'go(1 < 2)');
    assert.match(name, /^assets\/inline\.[0-9a-f]{12}\.js$/);
    assert.equal(html, `<script src="/x.js"></script><p id="a">1</p><script id="s" src="/guides/${name}"></script>`);
  });
});

function linksOf(text: string): string[] {
  const links: string[] = [];
  outsideCode(text, (prose) => {
    for (const [, target = ''] of prose.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)) {
      if (!/^(?:[a-z]+:|\/)/.test(target)) links.push(target);
    }
    return prose;
  });
  return links;
}

function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  outsideCode(text, (prose) => {
    for (const [, heading = ''] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
      const anchor = anchorOf(heading.replaceAll(LINKED, '$1'));
      let number = 0;
      while (anchors.has(number === 0 ? anchor : `${anchor}-${number}`)) number += 1;
      anchors.add(number === 0 ? anchor : `${anchor}-${number}`);
    }
    for (const [, id = ''] of prose.matchAll(/<a id="([^"]+)">/g)) anchors.add(id);
    return prose;
  });
  return anchors;
}

const LINKED = /\[([^\]]*)\]\([^)]*\)/g;
