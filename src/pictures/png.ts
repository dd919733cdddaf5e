import { promisify } from 'node:util';
import { crc32, deflate, inflate } from 'node:zlib';
import { checkPixels, PictureError } from './picture-error.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const HEADER_BYTES = 13;
/** The number of channels and the permitted depths of each colour type. */
const COLOURS: Readonly<Record<number, { readonly channels: number; readonly depths: readonly number[] }>> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { channels: 3, depths: [8, 16] },
  3: { channels: 1, depths: [1, 2, 4, 8] },
  4: { channels: 2, depths: [8, 16] },
  6: { channels: 4, depths: [8, 16] },
};
const PALETTE = 3;
/** The passes of an interlaced picture: first column, first row, and the steps to the next column and the next row. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
const LAST_FILTER = 4;

interface Pass {
  readonly rowBytes: number;
  readonly rows: number;
}

interface Chunks {
  readonly header: Buffer;
  readonly palette: Buffer | undefined;
  readonly transparency: Buffer | undefined;
  readonly data: Buffer;
}

/**
 * Rewrites a PNG: its pixels are compressed again, in the threads of zlib. Palette and transparency are kept, all other chunks are
 * dropped.
 */
export async function rewritePng(file: Buffer): Promise<Buffer> {
  const { header, palette, transparency, data } = chunksOf(file);
  const passes = passesOf(header);
  if (header[9] === PALETTE && palette === undefined) throw new PictureError();
  const pixels = await unpacked(data, passes);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...(palette === undefined ? [] : [chunk('PLTE', palette)]),
    ...(transparency === undefined ? [] : [chunk('tRNS', transparency)]),
    chunk('IDAT', await promisify(deflate)(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunksOf(file: Buffer): Chunks {
  const found = new Map<string, Buffer[]>();
  for (let at = SIGNATURE.length; !found.has('IEND'); ) {
    if (at + 12 > file.length) throw new PictureError();
    const length = file.readUInt32BE(at);
    if (at + 12 + length > file.length) throw new PictureError();
    const type = file.toString('latin1', at + 4, at + 8);
    if (found.size === 0 && type !== 'IHDR') throw new PictureError();
    const content = file.subarray(at + 8, at + 8 + length);
    const same = found.get(type);
    if (same === undefined) found.set(type, [content]);
    else if (type === 'IDAT') same.push(content);
    at += 12 + length;
  }
  const only = (type: string, maxBytes: number) => found.get(type)?.find(({ length }) => length <= maxBytes);
  const header = only('IHDR', HEADER_BYTES);
  if (header?.length !== HEADER_BYTES) throw new PictureError();
  // A palette has at most 256 colours of three bytes, and one byte of transparency for each.
  return {
    header,
    palette: only('PLTE', 768),
    transparency: only('tRNS', 256),
    data: Buffer.concat(found.get('IDAT') ?? []),
  };
}

function passesOf(header: Buffer): Pass[] {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  checkPixels(width, height);
  const [depth = 0, colour = 0, compression, filter, interlace = 0] = header.subarray(8);
  const kind = COLOURS[colour];
  if (!kind?.depths.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1) throw new PictureError();
  const passes = interlace === 1 ? PASSES : ([[0, 0, 1, 1]] as const);
  return passes.flatMap(([left, top, right, down]) => {
    const columns = Math.ceil((width - left) / right);
    const rows = Math.ceil((height - top) / down);
    // A byte before each row names its filter.
    return columns < 1 || rows < 1 ? [] : [{ rows, rowBytes: 1 + Math.ceil((columns * kind.channels * depth) / 8) }];
  });
}

async function unpacked(data: Buffer, passes: readonly Pass[]): Promise<Buffer> {
  const size = passes.reduce((sum, { rows, rowBytes }) => sum + rows * rowBytes, 0);
  const pixels = await promisify(inflate)(data, { maxOutputLength: size }).catch(() => undefined);
  if (pixels?.length !== size) throw new PictureError();
  let at = 0;
  for (const { rows, rowBytes } of passes) {
    for (const end = at + rows * rowBytes; at < end; at += rowBytes) {
      if ((pixels[at] ?? 0) > LAST_FILTER) throw new PictureError();
    }
  }
  return pixels;
}

function chunk(type: string, data: Buffer): Buffer {
  const whole = Buffer.alloc(data.length + 12);
  whole.writeUInt32BE(data.length, 0);
  whole.write(type, 4, 'latin1');
  whole.set(data, 8);
  whole.writeUInt32BE(crc32(whole.subarray(4, data.length + 8)), data.length + 8);
  return whole;
}
