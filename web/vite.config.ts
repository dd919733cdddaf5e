import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { weightBudget } from './scripts/weight-budget.ts';

/** What documents of the server load: the checkout; the shop, the blocks and the front page; the API reference. */
const ENTRIES = {
  checkout: join(import.meta.dirname, 'src/checkout/entry-client.tsx'),
  site: join(import.meta.dirname, 'src/pages/site.css'),
  reference: join(import.meta.dirname, 'src/pages/reference.ts'),
};

/**
 * Two builds of the same pages: one for the browser, with a manifest the server finds the hashed names in, and one for the
 * server, which needs nothing else at run time.
 */
export default defineConfig(({ isSsrBuild }) => ({
  root: import.meta.dirname,
  plugins: [react(), weightBudget({ entry: ENTRIES.checkout, scriptBytes: 90_000, styleBytes: 15_000 })],
  build: {
    outDir: isSsrBuild ? 'dist/server' : 'dist/client',
    emptyOutDir: true,
    copyPublicDir: !isSsrBuild,
    manifest: !isSsrBuild,
    target: 'es2022',
    // A data: URL would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: isSsrBuild ? {} : { input: ENTRIES },
  },
  // Both only for the build: React in production mode, and one file that imports nothing.
  define: isSsrBuild ? { 'process.env.NODE_ENV': '"production"' } : {},
  ssr: { noExternal: isSsrBuild ? true : [] },
}));
