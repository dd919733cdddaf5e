import { deflateSync } from 'node:zlib';
import { pngChunk } from '../pictures.ts';

/** A square PNG with a white ring on one colour: a logo that browsers can show. */
export function pngLogo([red, green, blue]: readonly [number, number, number], size = 96): Buffer {
  const middle = (size - 1) / 2;
  const rows = Array.from({ length: size }, (_, y) => {
    const pixels = Array.from({ length: size }, (_, x) => {
      const away = Math.hypot(x - middle, y - middle) / size;
      return away > 0.18 && away < 0.3 ? [255, 255, 255] : [red, green, blue];
    });
    // Each row begins with its filter: none.
    return [0, ...pixels.flat()];
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // Eight bits for each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}
