import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { build, createServer } from 'vite';
import { accentSheet } from '../../src/domain/accent.ts';
import { accentSheetPath } from '../../src/domain/accent-path.ts';
import { renderReference } from '../../src/http/reference/render-reference.ts';
import { renderSitePage, type SitePage } from '../../src/http/site/site-page.ts';
import type { PaperSize, Sheet } from '../src/receipts/page-state.ts';

const WEB = join(import.meta.dirname, '..');
const HTTP = join(WEB, '../src/http');
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** As strict as the gateway's own policy, so that a violation shows here too. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:";

interface StoryInfo {
  readonly name: string;
  readonly isScriptless: boolean;
}

/** A receipt at `/receipt/<name>`, and its content on paper. */
interface ReceiptInfo {
  readonly name: string;
  readonly sheet: Sheet;
  readonly paper: PaperSize;
}

export interface StoryServer {
  readonly url: string;
  readonly stories: readonly StoryInfo[];
  readonly receipts: readonly ReceiptInfo[];
  close(): Promise<void>;
}

/** Builds the page into a separate folder, because a gateway may be serving the usual one. */
export async function serveNewStories(): Promise<StoryServer> {
  const client = await mkdtemp(join(tmpdir(), 'till-stories-'));
  await build({ root: WEB, logLevel: 'warn', build: { outDir: client } });
  const server = await serveStories(client);
  return {
    ...server,
    async close() {
      await server.close();
      await rm(client, { recursive: true, force: true });
    },
  };
}

/**
 * Serves every story as a separate document, without scripts; also receipts, the shop and the reference. Style sheets and
 * fonts are those of the last build.
 */
export async function serveStories(client: string = join(WEB, 'dist/client')): Promise<StoryServer> {
  const vite = await createServer({
    root: WEB,
    appType: 'custom',
    // Stories are rendered here. No browser asks for the packages.
    optimizeDeps: { noDiscovery: true, include: [] },
    server: { middlewareMode: true, hmr: false, ws: false },
  });
  const { STORIES } = (await vite.ssrLoadModule(
    '/src/checkout/stories.ts',
  )) as typeof import('../src/checkout/stories.ts');
  const { renderStory } = (await vite.ssrLoadModule(
    '/src/checkout/render-story.tsx',
  )) as typeof import('../src/checkout/render-story.tsx');
  const { RECEIPT_STORIES } = (await vite.ssrLoadModule(
    '/src/receipts/stories.ts',
  )) as typeof import('../src/receipts/stories.ts');
  const { renderReceipt, receiptSheet } = (await vite.ssrLoadModule(
    '/src/receipts/render-receipt.tsx',
  )) as typeof import('../src/receipts/render-receipt.tsx');
  const manifest = JSON.parse(await readFile(join(client, '.vite/manifest.json'), 'utf8'));
  const styles: readonly string[] = manifest['src/checkout/entry-client.tsx'].css;
  const slips = [...styles, manifest['src/receipts/receipts.css'].file].map((path) => `/${path}`);
  const site = assetsOf([manifest['src/pages/site.css'].file]);
  const { file: script, css: sheets } = manifest['src/pages/reference.ts'];
  // A dynamic name that the compiler does not follow, because the module imports the whole server.
  const { shopPage }: { shopPage(): SitePage } = await import(join(HTTP, 'demo/shop-pages.ts'));
  const reference = JSON.parse(await readFile(join(WEB, '../openapi.json'), 'utf8'));
  const sheetsOf = ({ accent }: { accent?: string }) => [
    ...styles.map((path) => `/${path}`),
    ...(accent === undefined ? [] : [accentSheetPath(accent)]),
  ];
  const brandSheets = new Map(
    STORIES.flatMap(({ accent }) => (accent === undefined ? [] : [[accentSheetPath(accent), accentSheet(accent)]])),
  );
  const pages = new Map([
    ...STORIES.map((story) => [`/story/${story.name}`, documentOf(renderStory(story), sheetsOf(story))] as const),
    ...RECEIPT_STORIES.map(({ name, state }) => {
      const { html } = renderReceipt(state);
      return [`/receipt/${name}`, documentOf({ html, lang: state.locale, dir: state.dir }, slips)] as const;
    }),
    ['/demo', renderSitePage({ assets: site, isSandbox: true }, shopPage())],
    ['/docs', renderReference(reference, { ...assetsOf(sheets), scripts: [`/${script}`] })],
  ]);

  const server = createHttpServer((request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    const page = pages.get(path);
    if (page !== undefined) {
      response
        .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': POLICY })
        .end(page);
      return;
    }
    const sheet = brandSheets.get(path);
    if (sheet !== undefined) {
      response.writeHead(200, { 'Content-Type': 'text/css' }).end(sheet);
      return;
    }
    // Marks of networks and tokens lie beside their files.
    const file = readFile(join(client, path)).catch(() => readFile(join(WEB, '../networks', path)));
    file.then(
      (bytes) => response.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? 'text/plain' }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stories: STORIES.map(({ name, isScriptless = false }) => ({ name, isScriptless })),
    receipts: RECEIPT_STORIES.map(({ name, state, paper }) => ({ name, paper, sheet: receiptSheet(state) })),
    async close() {
      server.close();
      await vite.close();
    },
  };
}

function assetsOf(sheets: readonly string[]) {
  return { styles: sheets.map((path) => `/${path}`), scripts: [], preloads: [], font: undefined };
}

function documentOf(
  { html, lang, dir }: { html: string; lang: string; dir: string },
  styles: readonly string[],
): string {
  const links = styles.map((path) => `<link rel="stylesheet" href="${path}">`).join('');
  const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';
  const head = `<meta charset="utf-8">${viewport}<title>Till</title><link rel="icon" href="/icons/till.svg">${links}`;
  return `<!doctype html><html lang="${lang}" dir="${dir}"><head>${head}</head><body><div id="root">${html}</div></body></html>`;
}
