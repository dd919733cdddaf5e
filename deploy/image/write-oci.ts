import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ACCOUNT, HOME } from './make-root.ts';

/** Names of architectures in images. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const MEDIA = 'application/vnd.oci.image';

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

if (import.meta.main) {
  const [root, target] = process.argv.slice(2);
  if (root === undefined || target === undefined) {
    process.stderr.write(
      'node deploy/image/write-oci.ts <root> <folder>   writes the image layout of a root file system\n',
    );
    process.exitCode = 2;
  } else process.stdout.write(`${await writeOci(root, target)}\n`);
}

/**
 * Writes an OCI image layout of a root file system: the system as one layer and the gateway as another, which changes more often.
 * Returns the digest of the manifest. Docker, Podman and skopeo read such a folder.
 */
export async function writeOci(root: string, target: string): Promise<string> {
  const blobs = join(target, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const gateway = `.${HOME}`;
  const layers = [
    await writeLayer(blobs, ['--directory', root, `--exclude=${gateway}`, '.']),
    await writeLayer(blobs, ['--directory', root, gateway]),
  ];
  const { version } = JSON.parse(await readFile(join(root, HOME, 'package.json'), 'utf8')) as { version: string };
  const labels = {
    'org.opencontainers.image.title': 'Till',
    'org.opencontainers.image.description': 'An open, self-hosted payment gateway',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  };
  const config = await writeBlob(blobs, `${MEDIA}.config.v1+json`, {
    os: 'linux',
    architecture: ARCHITECTURES[process.arch],
    config: {
      User: `${ACCOUNT}:${ACCOUNT}`,
      WorkingDir: HOME,
      Env: ['HOST=0.0.0.0', 'TILL_HOME=/var/lib/till', 'NODE_ENV=production'],
      Entrypoint: ['/usr/bin/node'],
      Cmd: ['--max-semi-space-size=64', '--import', './src/compile-cache.ts', 'src/main.ts'],
      ExposedPorts: { '8080/tcp': {} },
      Volumes: { '/var/lib/till': {} },
      StopSignal: 'SIGTERM',
      Healthcheck: {
        Test: ['CMD', '/usr/bin/node', `${HOME}/deploy/image/health.ts`],
        Interval: 10_000_000_000,
        Timeout: 5_000_000_000,
        StartPeriod: 60_000_000_000,
        Retries: 3,
      },
      Labels: labels,
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ unpacked }) => unpacked) },
  });
  const manifest = await writeBlob(blobs, `${MEDIA}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config,
    layers: layers.map(({ descriptor }) => descriptor),
    annotations: labels,
  });
  const platform = { os: 'linux', architecture: ARCHITECTURES[process.arch] };
  const annotations = { 'org.opencontainers.image.ref.name': version };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, platform, annotations }] };
  await writeFile(join(target, 'index.json'), JSON.stringify(index));
  await writeFile(join(target, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  return manifest.digest;
}

/** Times, owners and order are fixed, so that the same files make the same layer. */
async function writeLayer(
  blobs: string,
  what: readonly string[],
): Promise<{ descriptor: Descriptor; unpacked: string }> {
  const fixed = ['--sort=name', '--mtime=@0', '--numeric-owner', '--owner=0', '--group=0', '--format=posix'];
  const names = ['--pax-option=delete=atime,delete=ctime,exthdr.name=%d/PaxHeaders/%f'];
  const tar = spawn('tar', ['--create', ...fixed, ...names, ...what], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(tar, 'close');
  const [unpacked, packed] = [createHash('sha256'), createHash('sha256')];
  const part = join(blobs, 'layer.part');
  tar.stdout.on('data', (bytes) => unpacked.update(bytes));
  const gzip = createGzip();
  gzip.on('data', (bytes) => packed.update(bytes));
  await pipeline(tar.stdout, gzip, createWriteStream(part));
  const [code] = await ended;
  if (code !== 0) throw new Error(`tar ended with ${code}.`);
  const hex = packed.digest('hex');
  await rename(part, join(blobs, hex));
  const { size } = await stat(join(blobs, hex));
  const descriptor = { mediaType: `${MEDIA}.layer.v1.tar+gzip`, digest: `sha256:${hex}`, size };
  return { descriptor, unpacked: `sha256:${unpacked.digest('hex')}` };
}

async function writeBlob(blobs: string, mediaType: string, value: object): Promise<Descriptor> {
  const bytes = Buffer.from(JSON.stringify(value));
  const hex = createHash('sha256').update(bytes).digest('hex');
  await writeFile(join(blobs, hex), bytes);
  return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
}
