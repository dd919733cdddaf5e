import { checkPixels, PictureError } from './picture-error.ts';

const HEAD_BYTES = 12;
const HAS_ALPHA = 0b0001_0000;
const MOVES = 0b0000_0010;
const SIZE_BITS = 0x3fff;

interface Chunk {
  readonly type: string;
  readonly content: Buffer;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Rewrites a WebP with its pixels and transparency. EXIF, colour profiles, other chunks and bytes after the end are dropped. */
export function rewriteWebp(file: Buffer): Buffer {
  const chunks = chunksOf(file);
  const [first] = chunks;
  const pixels = chunks.find(({ type }) => type === 'VP8 ' || type === 'VP8L');
  const outer = first?.type === 'VP8X' && first.content.length >= 10 ? first.content : undefined;
  if (outer !== undefined) {
    if (((outer[0] ?? 0) & MOVES) !== 0) throw new PictureError('must not move');
    checkPixels(outer.readUIntLE(4, 3) + 1, outer.readUIntLE(7, 3) + 1);
  }
  if (pixels === undefined) throw new PictureError();
  const { width, height } = sizeOf(pixels);
  checkPixels(width, height);
  if (outer === undefined) return webp([pixels]);
  if (outer.readUIntLE(4, 3) + 1 !== width || outer.readUIntLE(7, 3) + 1 !== height) throw new PictureError();
  const alpha = chunks.find(({ type }) => type === 'ALPH');
  const header = Buffer.from(outer.subarray(0, 10));
  header.fill(0, 0, 4);
  header[0] = (outer[0] ?? 0) & HAS_ALPHA;
  return webp([{ type: 'VP8X', content: header }, ...(alpha === undefined ? [] : [alpha]), pixels]);
}

function chunksOf(file: Buffer): Chunk[] {
  const end = file.length < HEAD_BYTES ? Number.POSITIVE_INFINITY : 8 + file.readUInt32LE(4);
  if (end > file.length) throw new PictureError();
  const chunks: Chunk[] = [];
  for (let at = HEAD_BYTES; at + 8 <= end; ) {
    const length = file.readUInt32LE(at + 4);
    if (at + 8 + length > end) throw new PictureError();
    chunks.push({ type: file.toString('latin1', at, at + 4), content: file.subarray(at + 8, at + 8 + length) });
    at += 8 + length + (length % 2);
  }
  return chunks;
}

/** The size in the header of the pixels, which decides how much memory a decoder allocates. */
function sizeOf({ type, content }: Chunk): Size {
  if (type === 'VP8L') {
    if (content.length < 5 || content[0] !== 0x2f) throw new PictureError();
    const bits = content.readUInt32LE(1);
    return { width: (bits & SIZE_BITS) + 1, height: ((bits >>> 14) & SIZE_BITS) + 1 };
  }
  // Bytes 3 to 5 are the start code of a key frame, which the size follows.
  if (content.length < 10 || content.readUIntBE(3, 3) !== 0x9d012a) throw new PictureError();
  return { width: content.readUInt16LE(6) & SIZE_BITS, height: content.readUInt16LE(8) & SIZE_BITS };
}

function webp(chunks: readonly Chunk[]): Buffer {
  const parts = chunks.flatMap(({ type, content }) => {
    const head = Buffer.alloc(8);
    head.write(type, 'latin1');
    head.writeUInt32LE(content.length, 4);
    return [head, content, Buffer.alloc(content.length % 2)];
  });
  const body = Buffer.concat([Buffer.from('WEBP'), ...parts]);
  const head = Buffer.alloc(8);
  head.write('RIFF', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}
