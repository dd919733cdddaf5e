import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The files of the built pages, in memory: they are few and small, and do not change while the node runs. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly hash: string;
  /** The compressed bytes by encoding, made by the build or at the first request. */
  readonly compressed: Map<Encoding, Promise<Buffer>>;
}

type Encoding = 'br' | 'gzip';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.cfg': 'text/plain; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
};
const COMPRESSIBLE = /^text\/|svg|json/;
/** The most files that are read from a folder. A build has about a hundred. */
const MAX_FILES = 2_000;

/** Every file of the folders, by its path from the root, with forward slashes. */
export async function readStaticFiles(root: string, folders: readonly string[]): Promise<StaticFiles> {
  const files = new Map<string, StaticFile>();
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    const paths = new Set(
      entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name)),
    );
    for (const path of [...paths].slice(0, MAX_FILES)) {
      const type = TYPES[extname(path)];
      if (type === undefined) continue;
      const file = makeFile(type, await readFile(path));
      if (paths.has(`${path}.br`)) file.compressed.set('br', Promise.resolve(await readFile(`${path}.br`)));
      files.set(relative(root, path).split(sep).join('/'), file);
    }
  }
  return files;
}

/** A file with its content hash, which is its entity tag. */
export function makeFile(type: string, bytes: Buffer): StaticFile {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { type, bytes, hash, compressed: new Map() };
}

/** Answers with the file, compressed if the client accepts that, or with 304 if the client has it. */
export async function sendFile(
  { file, cacheControl }: { readonly file: StaticFile; readonly cacheControl: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const encoding = COMPRESSIBLE.test(file.type) ? bestEncoding(request.headers['accept-encoding']) : undefined;
  const etag = `"${file.hash}${encoding === undefined ? '' : `-${encoding}`}"`;
  reply.header('Cache-Control', cacheControl).header('ETag', etag).header('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match']?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
    return reply.code(304).send();
  }
  reply.type(file.type);
  if (encoding === undefined) return reply.send(file.bytes);
  return reply.header('Content-Encoding', encoding).send(await compressedFile(file, encoding));
}

function compressedFile({ bytes, compressed }: StaticFile, encoding: Encoding): Promise<Buffer> {
  const known = compressed.get(encoding);
  if (known !== undefined) return known;
  const made = BEST[encoding](bytes);
  compressed.set(encoding, made);
  return made;
}

/** Answers with text that was made for this request, so the compression is quick rather than strong. */
export async function sendText(text: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const encoding = bestEncoding(request.headers['accept-encoding']);
  reply.header('Vary', 'Accept-Encoding, Accept-Language');
  if (encoding === undefined) return reply.send(text);
  return reply.header('Content-Encoding', encoding).send(await QUICK[encoding](Buffer.from(text)));
}

function bestEncoding(header: string | undefined): Encoding | undefined {
  const accepted = new Set(
    (header ?? '')
      .split(',')
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
      .map((part) => part.split(';', 1)[0]?.trim()),
  );
  return accepted.has('br') ? 'br' : accepted.has('gzip') ? 'gzip' : undefined;
}

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
const withQuality = (quality: number) => ({ params: { [constants.BROTLI_PARAM_QUALITY]: quality } });

const BEST: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => brotli(bytes, withQuality(11)),
  gzip: (bytes) => zip(bytes, { level: 9 }),
};
/**
 * Compressors for text that is made per request. Quality 2 makes 4.7 KB of a page of 12 KB, in half the time in which quality 4
 * makes 4.5 KB.
 */
const QUICK: typeof BEST = {
  br: (bytes) => brotli(bytes, withQuality(2)),
  gzip: (bytes) => zip(bytes, { level: 5 }),
};
