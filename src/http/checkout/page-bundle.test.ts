import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { loadPageBundle } from './page-bundle.ts';

const MANIFEST = {
  'src/checkout/entry-client.tsx': { file: 'assets/entry-1.js', css: ['assets/page-2.css'], imports: ['_shared.js'] },
  '_shared.js': {
    file: 'assets/shared-3.js',
    css: ['assets/shared-4.css'],
    imports: ['src/checkout/entry-client.tsx'],
  },
  'src/dashboard/entry-client.tsx': { file: 'assets/dashboard-10.js' },
  'src/qr.ts': { file: 'assets/qr-5.js' },
  'src/pos/entry-client.tsx': { file: 'assets/pos-12.js' },
  'src/pos/worker.ts': { file: 'assets/worker-13.js' },
  'src/links/links.css': { file: 'assets/links-11.css' },
  'src/receipts/receipts.css': { file: 'assets/receipts-14.css' },
  'src/pages/site.css': { file: 'assets/site-6.css' },
  'src/pages/reference.ts': { file: 'assets/reference-7.js', css: ['assets/reference-8.css'] },
};

describe('the build of the page', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'till-page-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  async function write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(dir, name)), { recursive: true });
      await writeFile(join(dir, name), text);
    }
  }

  it('is loaded with the imports of its entry, and nothing that is loaded on demand', async () => {
    await write({
      'client/.vite/manifest.json': JSON.stringify(MANIFEST),
      'server/entry-server.js': "export const render = () => ({ html: 'x' });",
      'server/dashboard-words.js': "export const STRINGS = { en: { save: 'Save' } };",
      'server/pos-words.js': "export const STRINGS = { en: { title: 'Till' } };",
      'client/assets/entry-1.js': '1',
      'client/assets/inter-latin-wght-normal-9.woff2': '2',
      'client/assets/source.map': '3',
      'client/icons/token/USDC.svg': '<svg/>',
      'client/secret.js': '4',
    });
    const page = await loadPageBundle(dir);
    assert.deepEqual(page?.scripts, ['/assets/entry-1.js']);
    assert.deepEqual(page.styles, ['/assets/page-2.css', '/assets/shared-4.css']);
    assert.deepEqual(page.preloads, ['/assets/shared-3.js']);
    assert.equal(page.renderer.render({} as never).html, 'x');
    const font = '/assets/inter-latin-wght-normal-9.woff2';
    assert.deepEqual(page.site, { styles: ['/assets/site-6.css'], scripts: [], preloads: [], font });
    assert.deepEqual([page.pos.scripts, page.pos.worker], [['/assets/pos-12.js'], 'assets/worker-13.js']);
    assert.equal(page.pos.strings.en?.title, 'Till');
    assert.deepEqual(page.links.styles, ['/assets/links-11.css']);
    assert.deepEqual(page.receipts.styles, ['/assets/receipts-14.css']);
    assert.deepEqual(page.dashboard.scripts, ['/assets/dashboard-10.js']);
    assert.equal(page.dashboard.strings.en?.save, 'Save');
    assert.deepEqual(page.reference.styles, ['/assets/reference-8.css']);
    assert.deepEqual(page.reference.scripts, ['/assets/reference-7.js']);
    assert.deepEqual([...page.files.keys()].sort(), ['assets/entry-1.js', font.slice(1), 'icons/token/USDC.svg']);
    assert.equal(page.files.get('icons/token/USDC.svg')?.type, 'image/svg+xml; charset=utf-8');
  });

  it('has its scripts and style sheets compressed already, so that no visitor waits for that', async () => {
    const page = await loadPageBundle(join(import.meta.dirname, '../../../web/dist'));
    const files = [...(page?.files ?? [])].filter(([name]) => /\.(js|css)$/.test(name));
    assert.ok(files.length > 20);
    for (const [name, { bytes, compressed }] of files) {
      const built = await compressed.get('br');
      assert.ok(built !== undefined && brotliDecompressSync(built).equals(bytes), name);
    }
  });

  it('is missing where there is none, or only a part of one', async () => {
    assert.equal(await loadPageBundle(dir), undefined);
    await write({ 'client/.vite/manifest.json': JSON.stringify(MANIFEST) });
    assert.equal(await loadPageBundle(dir), undefined);
  });

  it('is refused when it is the build of something else', async () => {
    await write({ 'client/.vite/manifest.json': '{}', 'server/entry-server.js': 'export const render = 1;' });
    await assert.rejects(loadPageBundle(dir), /has no src\/checkout\/entry-client\.tsx\. Run: npm run build/);
  });
});
