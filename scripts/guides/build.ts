import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { withoutInline } from './inline.ts';
import { frontPage, llmsText, readSite, type SiteChapter, sidebarOf } from './site-files.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const SITE = join(ROOT, 'docs/site');
const INSTALL_WITHIN_MS = 600_000;
const BUILD_WITHIN_MS = 900_000;
/** Files that pages show or offer for download. */
const BESIDE = ['pictures', 'examples', 'verify-receipt.mjs'];

interface Building {
  readonly outDir: string;
  /** The path under which the site is served, with a slash at both ends. */
  readonly base: string;
  /** The address of the published repository up to a path, for links to source files. */
  readonly source?: string | undefined;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(SITE, 'dist') },
      base: { type: 'string', default: '/guides/' },
      source: { type: 'string' },
    },
  });
  const outDir = resolve(values.out);
  await buildGuides({ outDir, base: values.base, source: values.source });
  process.stdout.write(`The guides are in ${outDir}.\n`);
}

/** Builds the site of `docs/`. VitePress is installed by its own lock file when it is missing or outdated. */
export async function buildGuides({ outDir, base, source }: Building): Promise<void> {
  await installVitePress();
  const chapters = await readSite(ROOT, source);
  await writeSources(chapters);
  const vitepress = join(SITE, 'node_modules/vitepress/bin/vitepress.js');
  await rm(outDir, { recursive: true, force: true });
  await run(process.execPath, [vitepress, 'build', '.', '--base', base, '--outDir', outDir], {
    cwd: SITE,
    timeout: BUILD_WITHIN_MS,
    maxBuffer: 64 << 20,
  });
  await writeTwins(outDir, chapters, base);
  await moveInlineParts(outDir, base);
}

async function installVitePress(): Promise<void> {
  const lock = createHash('sha256')
    .update(await readFile(join(SITE, 'package-lock.json')))
    .digest('hex');
  const mark = join(SITE, 'node_modules/.installed-by');
  if ((await readFile(mark, 'utf8').catch(() => '')) === lock) return;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', ['ci', ...options], { cwd: SITE, timeout: INSTALL_WITHIN_MS });
  await writeFile(mark, lock);
}

async function writeSources(chapters: readonly SiteChapter[]): Promise<void> {
  const folder = join(SITE, 'pages');
  await rm(folder, { recursive: true, force: true });
  for (const { sitePath, text } of chapters.flatMap(({ pages }) => pages))
    await writeText(join(folder, sitePath), text);
  await writeText(join(folder, 'index.md'), frontPage(chapters));
  await writeText(join(folder, 'sidebar.json'), JSON.stringify(sidebarOf(chapters), null, 2));
  for (const name of BESIDE) {
    await cp(join(ROOT, 'docs', name), join(folder, name), { recursive: true });
    await cp(join(ROOT, 'docs', name), join(folder, 'public', name), { recursive: true });
  }
  await cp(join(ROOT, 'web/public/icons/till.svg'), join(folder, 'public/till.svg'));
}

/** Beside each page its text in Markdown, for programs. */
async function writeTwins(outDir: string, chapters: readonly SiteChapter[], base: string): Promise<void> {
  for (const { sitePath, text } of chapters.flatMap(({ pages }) => pages))
    await writeText(join(outDir, sitePath), text);
  await writeText(join(outDir, 'index.md'), llmsText(chapters, base));
  await writeText(join(outDir, 'llms.txt'), llmsText(chapters, base));
}

/** The policy of the gateway's pages allows nothing inline. */
async function moveInlineParts(outDir: string, base: string): Promise<void> {
  const names = (await readdir(outDir, { recursive: true })).filter((name) => name.endsWith('.html'));
  for (const name of names) {
    const path = join(outDir, name);
    const { html, scripts } = withoutInline(await readFile(path, 'utf8'), base);
    for (const [script, text] of scripts) await writeText(join(outDir, script), text);
    await writeFile(path, html);
  }
}

async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
