import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PageState, RefundPage } from '../../../web/src/checkout/page-state.ts';
import type { DashboardState } from '../../../web/src/dashboard/page-state.ts';
import type { LinkPageState } from '../../../web/src/links/page-state.ts';
import type { PosState } from '../../../web/src/pos/page-state.ts';
import type { ReceiptPage, ReceiptPageState, Sheet } from '../../../web/src/receipts/page-state.ts';
import { readStaticFiles, type StaticFiles } from './static-files.ts';

/** The files of a document: paths on this origin, in the order in which they are needed. */
export interface PageAssets {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  /** Imports of the scripts, preloaded so that they are fetched in parallel. */
  readonly preloads: readonly string[];
  /** The font with the letters of most languages. Other fonts are loaded when a page needs them. */
  readonly font: string | undefined;
}

/** The built pages: the server-side renderer of the checkout, and the files for browsers. */
export interface PageBundle extends PageAssets {
  readonly renderer: PageRenderer;
  /** The files of payment links, in addition to the assets of the checkout. */
  readonly links: PageAssets;
  /** The files of receipts, in addition to the assets of the checkout. */
  readonly receipts: PageAssets;
  /** The files of the home page, the demo shop and the block pages. */
  readonly site: PageAssets;
  readonly reference: PageAssets;
  /** The files of the dashboard, with its texts by language. */
  readonly dashboard: PageAssets & { readonly strings: Readonly<Record<string, DashboardState['strings']>> };
  /** The files of the point of sale, with its texts by language, and the file of its service worker. */
  readonly pos: PageAssets & {
    readonly strings: Readonly<Record<string, PosState['strings']>>;
    readonly worker: string;
  };
  /** All files, by their paths without the leading slash. */
  readonly files: StaticFiles;
}

/** The exports of the server-side build. */
export interface PageRenderer {
  render(state: PageState): { readonly html: string };
  renderLink(state: LinkPageState): { readonly html: string; readonly title: string };
  renderReceipt(state: ReceiptPageState): { readonly html: string; readonly title: string };
  /** The content of a printed receipt. */
  receiptSheet(state: ReceiptPage): Sheet;
  /** The requested locale if it exists, otherwise the best one of the browser's list. */
  pickLocale(acceptLanguage: string | undefined, lang: string | undefined): string;
  readonly LOCALES: Readonly<Record<string, { readonly dir: 'ltr' | 'rtl' }>>;
  readonly STRINGS: Readonly<Record<string, PageState['strings']>>;
  /** The texts of the page on which a merchant signs for a refund. */
  readonly REFUND_STRINGS: Readonly<Record<string, RefundPage['refundStrings']>>;
}

interface ManifestEntry {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
}

const CHECKOUT = 'src/checkout/entry-client.tsx';
const DASHBOARD = 'src/dashboard/entry-client.tsx';
const POS = 'src/pos/entry-client.tsx';
const POS_WORKER = 'src/pos/worker.ts';
const LINKS = 'src/links/links.css';
const RECEIPTS = 'src/receipts/receipts.css';
const SITE = 'src/pages/site.css';
const REFERENCE = 'src/pages/reference.ts';
const FIRST_FONT = /^assets\/inter-latin-wght-normal.*\.woff2$/;
/** Only these folders of the build are served. */
const SERVED = ['assets', 'icons'];

/** Loads the built pages. Returns undefined if they were not built, or not completely. */
export async function loadPageBundle(dir: string): Promise<PageBundle | undefined> {
  const server = join(dir, 'server/entry-server.js');
  const manifestText = await readFile(join(dir, 'client/.vite/manifest.json'), 'utf8').catch(ignoreMissing);
  if (manifestText === undefined || !existsSync(server)) return undefined;
  const manifest = JSON.parse(manifestText) as Readonly<Record<string, ManifestEntry>>;
  const files = await readStaticFiles(join(dir, 'client'), SERVED);
  const font = [...files.keys()].filter((path) => FIRST_FONT.test(path)).map(toPath)[0];
  const assets = (name: string) => assetsOf(manifest, name, font);
  const renderer = (await import(pathToFileURL(server).href)) as PageRenderer;
  const words = async <Strings>(name: string) =>
    ((await import(pathToFileURL(join(dir, `server/${name}-words.js`)).href)) as { STRINGS: Strings }).STRINGS;
  return {
    renderer,
    ...assets(CHECKOUT),
    links: assets(LINKS),
    receipts: assets(RECEIPTS),
    site: assets(SITE),
    reference: assets(REFERENCE),
    dashboard: { ...assets(DASHBOARD), strings: await words('dashboard') },
    pos: { ...assets(POS), strings: await words('pos'), worker: manifest[POS_WORKER]?.file ?? '' },
    files,
  };
}

function assetsOf(
  manifest: Readonly<Record<string, ManifestEntry>>,
  name: string,
  font: string | undefined,
): PageAssets {
  const [entry, ...imported] = chunksOf(manifest, name);
  if (entry === undefined) throw new Error(`The build of the pages has no ${name}. Run: npm run build`);
  const isSheet = entry.file.endsWith('.css');
  return {
    styles: [...(isSheet ? [entry.file] : []), ...[entry, ...imported].flatMap(({ css = [] }) => css)].map(toPath),
    scripts: isSheet ? [] : [toPath(entry.file)],
    preloads: imported.map(({ file }) => toPath(file)),
    font,
  };
}

/** The chunk of the entry, then each chunk that it imports statically, directly or indirectly, once. */
function chunksOf(manifest: Readonly<Record<string, ManifestEntry>>, name: string): ManifestEntry[] {
  const found = new Map<string, ManifestEntry>();
  const add = (key: string) => {
    const chunk = manifest[key];
    if (chunk === undefined || found.has(key)) return;
    found.set(key, chunk);
    for (const next of chunk.imports ?? []) add(next);
  };
  add(name);
  return [...found.values()];
}

function toPath(file: string): string {
  return `/${file}`;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
