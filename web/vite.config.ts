import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressedFiles } from './scripts/compressed-files.ts';
import { weightBudget } from './scripts/weight-budget.ts';

/** The entries that documents of the server load: the checkout; the dashboard; the point of sale with its service worker; the pages of payment links and of receipts, which have no script; the shop, the blocks and the front page; the API reference. */
const ENTRIES = {
  checkout: join(import.meta.dirname, 'src/checkout/entry-client.tsx'),
  dashboard: join(import.meta.dirname, 'src/dashboard/entry-client.tsx'),
  pos: join(import.meta.dirname, 'src/pos/entry-client.tsx'),
  posWorker: join(import.meta.dirname, 'src/pos/worker.ts'),
  links: join(import.meta.dirname, 'src/links/links.css'),
  receipts: join(import.meta.dirname, 'src/receipts/receipts.css'),
  site: join(import.meta.dirname, 'src/pages/site.css'),
  reference: join(import.meta.dirname, 'src/pages/reference.ts'),
};

/** Parts of the checkout that few payers need. They stay out of its first file. */
const RARE = /\/checkout\/(ui\/(rare-steps|transfer|accepted|mail-form)\.tsx|follow-deposit\.ts)$/;

/** Parts of the dashboard and the API reference. Small parts join a larger file otherwise, and that is one of the checkout. */
const REFERENCE_KEY = /\/shared\/reference-key\.ts$/;
const FORM_PARTS = /\/(dashboard\/(ui\/picture|late-words)|typed-amount)\.ts$/;

/** The server's own half: the checkout page with those of payment links and receipts, and the words of the dashboard and the point of sale. */
const SERVER_ENTRIES = {
  'entry-server': join(import.meta.dirname, 'src/checkout/entry-server.tsx'),
  'dashboard-words': join(import.meta.dirname, 'src/dashboard/dashboard-words.ts'),
  'pos-words': join(import.meta.dirname, 'src/pos/pos-words.ts'),
};

/**
 * Two builds of the same pages: one for the browser, with a manifest the server finds the hashed names in, and one for the
 * server, which needs nothing else at run time.
 */
export default defineConfig(({ isSsrBuild }) => ({
  root: import.meta.dirname,
  plugins: [
    react(),
    weightBudget({ entry: ENTRIES.checkout, scriptBytes: 90_200, styleBytes: 15_000 }),
    weightBudget({ entry: ENTRIES.dashboard, scriptBytes: 170_000, styleBytes: 15_000, laterBytes: 60_000 }),
    weightBudget({ entry: ENTRIES.pos, scriptBytes: 90_000, styleBytes: 15_000 }),
    compressedFiles(),
  ],
  // The package's own bundle. Of its parts npm installs some twice, and they would put helpers into the first chunks.
  resolve: { alias: [{ find: /^(@walletconnect\/sign-client)$/, replacement: '$1/dist/index.umd.js' }] },
  build: {
    outDir: isSsrBuild ? 'dist/server' : 'dist/client',
    emptyOutDir: true,
    copyPublicDir: !isSsrBuild,
    manifest: !isSsrBuild,
    target: 'es2022',
    // A data: URL would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: {
      polyfill: false,
      // The checkout's first script does not carry the lists of files for what most payers never load.
      resolveDependencies: (_, files, { hostId }) => (hostId.startsWith('assets/checkout') ? [] : files),
    },
    rollupOptions: {
      input: isSsrBuild ? SERVER_ENTRIES : ENTRIES,
      // Small parts that pages share join a larger file: each file compresses alone.
      output: {
        experimentalMinChunkSize: 8_000,
        manualChunks: (id) => {
          if (RARE.test(id)) return 'rare-steps';
          if (FORM_PARTS.test(id)) return 'form-parts';
          return REFERENCE_KEY.test(id) ? 'reference-key' : undefined;
        },
        onlyExplicitManualChunks: true,
      },
    },
  },
  // Both only for the build: React in production mode, and one file that imports nothing.
  define: isSsrBuild ? { 'process.env.NODE_ENV': '"production"' } : {},
  ssr: { noExternal: isSsrBuild ? true : [] },
}));
