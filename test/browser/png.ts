import { crc32, deflateSync } from 'node:zlib';

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
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  whole.set(body, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}
