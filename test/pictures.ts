import { crc32, deflateSync } from 'node:zlib';

export const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

export interface PngInput {
  readonly width: number;
  readonly height: number;
  /** Eight bits for each of red, green and blue, unless said otherwise. */
  readonly depth?: number;
  readonly colour?: number;
  readonly isInterlaced?: boolean;
  /** The rows, each with its filter before it. */
  readonly rows: Buffer;
  /** Chunks between the header and the pixels. */
  readonly extra?: readonly Buffer[];
}

export function png({
  width,
  height,
  depth = 8,
  colour = 2,
  isInterlaced = false,
  rows,
  extra = [],
}: PngInput): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colour, 0, 0, isInterlaced ? 1 : 0], 8);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    ...extra,
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  whole.set(body, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** A picture of one row, in grey. Each text is another picture. */
export function pngOfText(text: string): Buffer {
  const pixels = Buffer.from(text);
  return png({ width: pixels.length, height: 1, colour: 0, rows: Buffer.concat([Buffer.alloc(1), pixels]) });
}

/** A JPEG of 16 × 8 pixels, with further segments after its start. */
export function jpeg(...extra: readonly Buffer[]): Buffer {
  const frame = Buffer.from([8, 0, 8, 0, 16, 1, 1, 0x11, 0]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...extra,
    jpegSegment(0xdb, Buffer.alloc(65, 1)),
    jpegSegment(0xc0, frame),
    jpegSegment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([0x12, 0x34, 0xff, 0xd9]),
  ]);
}

export function jpegSegment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}
