import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { buildGuides } from '../../scripts/guides/build.ts';
import { readSite } from '../../scripts/guides/site-files.ts';
import { openGuides } from '../../src/http/site/guide-files.ts';
import { assertAccessible } from '../browser/accessible.ts';
import { launchBrowser, missingBrowser } from '../browser/chromium.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { ONLY_LONG } from '../long.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['', 'start.html', 'concepts.html', 'operating.html', 'errors.html'];
const PHONE = { viewport: { width: 390, height: 844 } };

/** VitePress comes from npm, so only the long run builds the site. */
describe('the built guides', ONLY_LONG, () => {
  let dir: string;
  let gateway: TestGateway;
  let origin: string;
  let browser: Browser | undefined;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'till-guides-'));
    await buildGuides({ outDir: dir, base: '/guides/' });
    gateway = await startTestGateway({ guides: openGuides(dir) });
    origin = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
    browser = missingBrowser() === false ? await launchBrowser() : undefined;
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  async function visit(options: BrowserContextOptions = {}) {
    assert.ok(browser !== undefined);
    const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options });
    const outside: string[] = [];
    context.on('request', (request) => {
      if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) outside.push(request.url());
    });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    return {
      page,
      async end() {
        assert.deepEqual([outside, problems], [[], []]);
        await context.close();
      },
    };
  }

  it('have a page and a twin in Markdown for each file, and llms.txt', async () => {
    for (const { sitePath, title, text } of (await readSite(ROOT)).flatMap(({ pages }) => pages)) {
      const page = await gateway.app.inject({ url: `/guides/${sitePath.replace(/\.md$/, '.html')}` });
      assert.equal(page.statusCode, 200, sitePath);
      assert.match(page.body, /<h1[ >]/, sitePath);
      const twin = await gateway.app.inject({ url: `/guides/${sitePath}` });
      assert.equal(twin.body, text, sitePath);
      assert.ok(
        (await gateway.app.inject({ url: '/guides/llms.txt' })).body.includes(`[${title}](/guides/${sitePath})`),
      );
    }
  });

  it('have links to pages and sections that are there, and load nothing from elsewhere', async () => {
    const names = await readdir(dir, { recursive: true });
    const documents = new Map<string, string>();
    for (const name of names.filter((name) => name.endsWith('.html'))) {
      documents.set(name, await readFile(join(dir, name), 'utf8'));
    }
    const broken: string[] = [];
    for (const [name, html] of documents) {
      assert.doesNotMatch(html, /<script[^>]*>\s*[^\s<]|<[^>]+ style="|<style/, name);
      for (const [, url = ''] of html.matchAll(/<(?:script|link|img|source)\b[^>]*?\b(?:src|href)="([^"]+)"/g)) {
        const path = url.replace(/^\/guides\//, '');
        if (!url.startsWith('data:') && (path === url || !names.includes(path))) broken.push(`${name}: ${url}`);
      }
      for (const [, url = ''] of html.matchAll(/<a\b[^>]*?\bhref="(\/guides\/[^"]*|#[^"]+)"/g)) {
        const { pathname, hash } = new URL(url, `http://x/guides/${name}`);
        const path = decodeURI(pathname).slice('/guides/'.length) || 'index.html';
        const target = documents.get(path);
        const id = decodeURIComponent(hash.slice(1));
        if (!names.includes(path) || (id !== '' && !target?.includes(`id="${id}"`))) broken.push(`${name}: ${url}`);
      }
    }
    for (const name of names.filter((name) => name.endsWith('.css'))) {
      assert.doesNotMatch(await readFile(join(dir, name), 'utf8'), /(?:url\(|@import )["']?(?:https?:)?\/\//, name);
    }
    assert.deepEqual(broken, []);
  });

  it('are accessible, light and dark, on a desk and on a phone', { skip: missingBrowser() }, async () => {
    for (const options of [{}, PHONE]) {
      const { page, end } = await visit(options);
      for (const path of PAGES) {
        await page.goto(`${origin}/guides/${path}`);
        await assertAccessible(page, path);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, path);
      }
      await end();
    }
  });

  it('are searched in the browser, and walked without loading a document', { skip: missingBrowser() }, async () => {
    const { page, end } = await visit();
    await page.goto(`${origin}/guides`);
    assert.equal(page.url(), `${origin}/guides/`);
    await page.getByRole('link', { name: 'Start in a minute' }).click();
    await page.getByRole('heading', { name: 'Start in a minute' }).waitFor();
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('cooling-off');
    await page.getByRole('option').first().click();
    await page.waitForURL(({ pathname, hash }) => pathname !== '/guides/start.html' && hash !== '');
    await end();
  });

  it('are dark by a click, and stay so', { skip: missingBrowser() }, async () => {
    const { page, end } = await visit({ colorScheme: 'light' });
    await page.goto(`${origin}/guides/start.html`);
    const isDark = () => page.evaluate("document.documentElement.classList.contains('dark')");
    assert.equal(await isDark(), false);
    await page.getByRole('switch').first().click();
    assert.equal(await isDark(), true);
    await page.reload();
    assert.equal(await isDark(), true);
    await end();
  });
});
