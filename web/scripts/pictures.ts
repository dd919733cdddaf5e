import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { drawSheet } from '../../src/paper/draw-sheet.ts';
import { pictureOf } from '../../test/poppler.ts';
import { accessProblems } from './access-problems.ts';
import { savePicture } from './save-picture.ts';
import { ALL_PICTURES, keepShown } from './shown-pictures.ts';
import { type StoryServer, serveNewStories } from './story-server.ts';

const USAGE = `npm run pictures:pages [-- folder [name]]

Takes pictures of the shop, the API reference, receipts as PDF, and every state of the checkout and of receipts, in both themes, on
a phone and on a desk. Pictures that a page of the documentation shows are copied to docs/pictures. axe checks each state; a broken
rule fails the run.

folder   the folder of all pictures; .pictures by default, which Git ignores
name     takes only the pictures whose name begins with this

Needs Chromium (CHROMIUM names it, if it is not /usr/bin/chromium), and fonts for the pictures in Japanese and Arabic, such
as Debian's fonts-vlgothic and fonts-noto-core. Those of PDF files need Poppler.
`;

if (process.argv.includes('--help')) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const FOLDER = resolve(process.argv[2] ?? ALL_PICTURES);
const CHECKOUT = join(FOLDER, 'checkout');
const RECEIPTS = join(FOLDER, 'receipts');
const ONLY = process.argv[3];
/** Pages of the gateway with a single state. */
const STILLS = [
  { name: 'shop', path: '/demo' },
  { name: 'reference', path: '/docs#post-v1-payments' },
] as const;
const SIZES = [
  { width: 390, height: 844, hasTouch: true },
  { width: 1280, height: 800, hasTouch: false },
] as const;
const THEMES = ['light', 'dark'] as const;
const BROWSER_FLAGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

let count = 0;
const server = await serveNewStories();
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: BROWSER_FLAGS });
try {
  for (const folder of [CHECKOUT, RECEIPTS]) {
    await mkdir(folder, { recursive: true });
    for (const name of ONLY === undefined ? await readdir(folder) : []) {
      if (name.endsWith('.webp')) await rm(join(folder, name));
    }
  }
  await takeStills(browser, server);
  await takePapers(browser, server);
  const problems: string[] = [];
  for (const theme of THEMES) {
    for (const size of SIZES) problems.push(...(await takeAll(browser, server, theme, size)));
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  const kept = await keepShown(FOLDER);
  process.stdout.write(`${count} pictures, ${kept} of them in docs/pictures, ${problems.length} problems\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await browser.close();
  await server.close();
}

/** The first screen of a desktop window. */
async function takeStills(from: Browser, { url }: StoryServer): Promise<void> {
  const page = await from.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  const encoder = await from.newPage();
  for (const { name, path } of STILLS.filter(({ name }) => isWanted(name))) {
    await page.goto(url + path, { waitUntil: 'load' });
    await save(encoder, join(FOLDER, name), await page.screenshot());
  }
  await encoder.close();
  await page.close();
}

/** The first page of each receipt as PDF. */
async function takePapers(from: Browser, { receipts }: StoryServer): Promise<void> {
  const encoder = await from.newPage();
  for (const { name, sheet, paper } of receipts.filter(({ name }) => isWanted(name))) {
    const file = await drawSheet({ sheet, size: paper, logo: undefined, paidAt: '2026-11-16T09:41:00.000Z' });
    await save(encoder, join(RECEIPTS, `${name}-pdf-${paper}`), pictureOf(file));
  }
  await encoder.close();
}

async function takeAll(
  from: Browser,
  { url, stories, receipts }: StoryServer,
  theme: (typeof THEMES)[number],
  { width, height, hasTouch }: (typeof SIZES)[number],
): Promise<string[]> {
  const problems: string[] = [];
  for (const javaScriptEnabled of [true, false]) {
    const context = await from.newContext({
      viewport: { width, height },
      hasTouch,
      isMobile: hasTouch,
      colorScheme: theme,
      reducedMotion: 'reduce',
      javaScriptEnabled,
    });
    const page = await context.newPage();
    const encoder = await from.newPage();
    page.on('console', (entry) => entry.type() === 'error' && problems.push(`${page.url()}: ${entry.text()}`));
    const pages = [
      ...stories.map((story) => ({ ...story, folder: CHECKOUT, path: `/story/${story.name}` })),
      ...receipts.map(({ name }) => ({ name, isScriptless: false, folder: RECEIPTS, path: `/receipt/${name}` })),
    ];
    for (const { name, isScriptless, folder, path } of pages) {
      if (isScriptless === javaScriptEnabled || !isWanted(name)) continue;
      await page.goto(url + path, { waitUntil: 'load' });
      await save(encoder, join(folder, `${name}-${theme}-${width}`), await wholePage(page, width, height));
      if (javaScriptEnabled)
        problems.push(...(await accessProblems(page)).map((text) => `${name} ${theme} ${width}: ${text}`));
    }
    await encoder.close();
    await context.close();
  }
  return problems;
}

/** The window is as high as the page, because a full-page screenshot disables Chromium's touch emulation. */
async function wholePage(page: Page, width: number, height: number): Promise<Buffer> {
  await page.setViewportSize({ width, height });
  const box = await page.locator('.page').boundingBox();
  if (box !== null && box.height > height) await page.setViewportSize({ width, height: Math.ceil(box.height) });
  return page.screenshot();
}

function isWanted(name: string): boolean {
  return ONLY === undefined || name.startsWith(ONLY);
}

async function save(encoder: Page, path: string, png: Buffer): Promise<void> {
  await savePicture(encoder, path, png);
  count += 1;
}
