import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deflateSync, inflateSync } from 'node:zlib';
import { PNG_SIGNATURE, png, pngChunk, pngOfText, jpegSegment as segment } from '../../test/pictures.ts';
import { PictureError } from './picture-error.ts';
import { takePicture } from './take-picture.ts';

const SCRIPT = '<script>alert(1)</script>';
const EXIF = Buffer.from('Exif\0\0GPSLatitude 52.52');

async function refusal(bytes: Buffer): Promise<string> {
  const error = await takePicture(bytes).then(
    () => assert.fail('it was taken'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof PictureError, String(error));
  return error.message;
}

const taken = async (bytes: Buffer) => Buffer.from((await takePicture(bytes)).bytes);

describe('a PNG', () => {
  const rows = Buffer.from([0, 1, 2, 3, 4, 5, 6, 1, 7, 8, 9, 10, 11, 12]);

  it('is encoded again: no other chunk, no byte behind its end and no foreign compression is stored', async () => {
    const hidden = [
      pngChunk('eXIf', EXIF),
      pngChunk('tEXt', Buffer.from(SCRIPT)),
      pngChunk('iCCP', Buffer.from(SCRIPT)),
    ];
    const file = png({ width: 2, height: 2, rows, extra: hidden });
    const tail = Buffer.concat([file, Buffer.from(`PK\u0003\u0004${SCRIPT}`)]);
    const picture = await takePicture(tail);
    assert.equal(picture.type, 'image/png');
    assert.deepEqual(Buffer.from(picture.bytes), await taken(png({ width: 2, height: 2, rows })));
    assert.deepEqual(pixelsOf(Buffer.from(picture.bytes)), rows);
    assert.ok(!Buffer.from(picture.bytes).includes('script') && !Buffer.from(picture.bytes).includes('Exif'));
    // Pixels that were not compressed would be text in the file.
    const plain = png({ width: SCRIPT.length, height: 40, colour: 0, rows: Buffer.from(`\0${SCRIPT}`.repeat(40)) });
    const stored = replaceData(plain, deflateSync(pixelsOf(plain), { level: 0 }));
    assert.ok(stored.includes(`${SCRIPT}\0${SCRIPT}`));
    assert.deepEqual(await taken(stored), await taken(plain));
  });

  it('keeps its palette and its transparency', async () => {
    const [palette, alpha] = [
      pngChunk('PLTE', Buffer.from([1, 2, 3, 4, 5, 6])),
      pngChunk('tRNS', Buffer.from([0, 255])),
    ];
    const file = png({
      width: 9,
      height: 1,
      depth: 1,
      colour: 3,
      rows: Buffer.from([0, 0b10101010, 0]),
      extra: [palette, alpha],
    });
    const bytes = await taken(file);
    assert.ok(bytes.includes(palette) && bytes.includes(alpha));
    assert.equal(await refusal(png({ width: 1, height: 1, colour: 3, rows: Buffer.from([0, 0]) })), WHOLE);
  });

  it('may be interlaced, with every depth', async () => {
    // Seven passes: of 3 x 3 pixels, the 1st, 4th, 5th, 6th and 7th have some.
    const interlaced = Buffer.from([0, 1, 0, 2, 0, 3, 4, 0, 5, 0, 6, 0, 7, 8, 9]);
    const file = png({ width: 3, height: 3, colour: 0, isInterlaced: true, rows: interlaced });
    assert.deepEqual(pixelsOf(await taken(file)), interlaced);
    for (const [depth, colour, rowBytes] of [
      [16, 6, 24],
      [16, 0, 6],
      [2, 0, 1],
      [8, 4, 6],
      [16, 2, 18],
    ] as const) {
      const row = Buffer.alloc(rowBytes + 1);
      assert.deepEqual(pixelsOf(await taken(png({ width: 3, height: 1, depth, colour, rows: row }))), row);
    }
  });

  it('is refused before its pixels are unpacked if it has too many', async () => {
    for (const [width, height] of [
      [30_000, 30_000],
      [2_001, 2_000],
      [4_000_001, 1],
      [2 ** 31, 2 ** 31],
    ] as const) {
      assert.equal(await refusal(png({ width: width >>> 0, height: height >>> 0, rows: Buffer.alloc(10) })), PIXELS);
    }
    assert.equal(
      (await takePicture(png({ width: 2_000, height: 2_000, colour: 0, rows: Buffer.alloc(2_001 * 2_000) }))).type,
      'image/png',
    );
  });

  it('is refused if it unpacks to more, or to less, than its header says', async () => {
    assert.equal(await refusal(png({ width: 10, height: 10, rows: Buffer.alloc(100_000_000) })), WHOLE);
    assert.equal(await refusal(png({ width: 10, height: 10, rows: Buffer.alloc(309) })), WHOLE);
  });

  it('is refused if a part of it is missing or has no meaning', async () => {
    const file = png({ width: 2, height: 2, rows });
    for (const length of [8, 20, 33, 45, file.length - 13])
      assert.equal(await refusal(file.subarray(0, length)), WHOLE);
    const unfiltered = Buffer.from(rows);
    unfiltered[0] = 5;
    const wrong = [
      png({ width: 2, height: 2, rows: unfiltered }),
      png({ width: 2, height: 2, colour: 5, rows }),
      png({ width: 2, height: 2, depth: 3, rows }),
      png({ width: 0, height: 2, rows }),
      Buffer.concat([PNG_SIGNATURE, Buffer.alloc(100, 1)]),
      Buffer.concat([PNG_SIGNATURE, pngChunk('IDAT', rows)]),
      replaceData(file, Buffer.from('no zlib')),
    ];
    for (const bytes of wrong) assert.equal(await refusal(bytes), WHOLE);
  });

  it('is the same picture when it is taken again', async () => {
    const once = await takePicture(pngOfText('a logo'));
    const twice = await takePicture(Buffer.from(once.bytes));
    assert.deepEqual(twice, once);
    assert.match(once.hash, /^[0-9a-f]{32}$/);
  });
});

describe('a JPEG', () => {
  const tables = [segment(0xdb, Buffer.alloc(65, 1)), segment(0xc4, Buffer.from([0, 1, ...Array(15).fill(0), 7]))];
  const scan = Buffer.concat([
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([0x12, 0xff, 0, 0x34, 0xff, 0xd0, 0x56]),
  ]);
  const END = Buffer.from([0xff, 0xd9]);
  const START = Buffer.from([0xff, 0xd8]);
  const plain = Buffer.concat([START, ...tables, frame(16, 8), scan, END]);

  it('is written anew from tables, frame and scans alone', async () => {
    const hidden = [segment(0xe1, EXIF), segment(0xe2, Buffer.from(SCRIPT)), segment(0xfe, Buffer.from(SCRIPT))];
    const file = Buffer.concat([
      START,
      Buffer.alloc(3, 0xff),
      ...hidden,
      ...tables,
      ...hidden,
      frame(16, 8),
      scan,
      segment(0xe1, EXIF),
      END,
      Buffer.from(SCRIPT),
    ]);
    const picture = await takePicture(file);
    assert.equal(picture.type, 'image/jpeg');
    assert.deepEqual(Buffer.from(picture.bytes), plain);
  });

  it('keeps the note which says how its colours are stored, and nothing behind that', async () => {
    const note = Buffer.from('Adobe\0\x64\0\0\0\0\x02', 'latin1');
    const file = (data: Buffer) => Buffer.concat([START, segment(0xee, data), ...tables, frame(16, 8), scan, END]);
    assert.deepEqual(await taken(file(Buffer.concat([note, Buffer.from(SCRIPT)]))), file(note));
    assert.deepEqual(await taken(file(Buffer.from(SCRIPT))), plain);
  });

  it('is refused with too many pixels or scans, without a frame or a scan, and if it is cut off', async () => {
    const of = (...parts: Buffer[]) => Buffer.concat([START, ...tables, ...parts, END]);
    for (const [width, height] of [
      [30_000, 30_000],
      [65_535, 65_535],
      [2_001, 2_000],
    ] as const) {
      assert.equal(await refusal(of(frame(width, height), scan)), PIXELS);
    }
    assert.equal(await refusal(of(frame(16, 8), frame(30_000, 30_000), scan)), WHOLE);
    assert.equal(await refusal(of(frame(16, 8), ...Array<Buffer>(101).fill(scan))), WHOLE);
    assert.equal(await refusal(of(frame(16, 0), scan)), WHOLE);
    assert.equal(await refusal(of(segment(0xc9, frame(16, 8).subarray(4)), scan)), WHOLE);
    assert.equal(await refusal(of(scan, frame(16, 8))), WHOLE);
    assert.equal(await refusal(of(frame(16, 8))), WHOLE);
    for (let length = 3; length < plain.length; length += 1)
      assert.equal(await refusal(plain.subarray(0, length)), WHOLE);
  });
});

describe('a WebP', () => {
  const lossy = riffChunk('VP8 ', Buffer.from([0x10, 0, 0, 0x9d, 0x01, 0x2a, 16, 0, 8, 0, 1, 2, 3, 4]));
  const lossless = riffChunk('VP8L', lossless32(16, 8));

  it('is written anew from its pixels and their transparency alone', async () => {
    const hidden = [
      riffChunk('EXIF', EXIF),
      riffChunk('XMP ', Buffer.from(SCRIPT)),
      riffChunk('JUNK', Buffer.from(SCRIPT)),
    ];
    for (const bitstream of [lossy, lossless]) {
      const file = Buffer.concat([webp(bitstream, ...hidden), Buffer.from(SCRIPT)]);
      assert.deepEqual(await taken(file), webp(bitstream));
    }
    const alpha = riffChunk('ALPH', Buffer.from([0, 1, 2]));
    const file = webp(extended(0b0011_1100, 16, 8), riffChunk('ICCP', Buffer.from(SCRIPT)), alpha, lossy, ...hidden);
    const picture = await takePicture(file);
    assert.equal(picture.type, 'image/webp');
    assert.deepEqual(Buffer.from(picture.bytes), webp(extended(0b0001_0000, 16, 8), alpha, lossy));
  });

  it('is refused with too many pixels, by each of its headers, and if it moves', async () => {
    const large = riffChunk('VP8L', lossless32(16_000, 16_000));
    const largeLossy = riffChunk('VP8 ', Buffer.from([0x10, 0, 0, 0x9d, 0x01, 0x2a, 0xff, 0x3f, 0xff, 0x3f, 1, 2]));
    for (const file of [webp(large), webp(largeLossy), webp(extended(0, 16_777_216, 255), lossy)]) {
      assert.equal(await refusal(file), PIXELS);
    }
    assert.equal(await refusal(webp(extended(0, 16, 8), large)), PIXELS);
    assert.equal(await refusal(webp(extended(0, 17, 8), lossy)), WHOLE);
    assert.equal(
      await refusal(webp(extended(0b10, 16, 8), riffChunk('ANIM', Buffer.alloc(6)), lossy)),
      'must not move',
    );
  });

  it('is refused without pixels, and if it is cut off', async () => {
    const file = webp(lossy);
    for (const length of [12, 20, 25, file.length - 1]) assert.equal(await refusal(file.subarray(0, length)), WHOLE);
    assert.equal(await refusal(webp(extended(0, 16, 8))), WHOLE);
    assert.equal(await refusal(webp(riffChunk('EXIF', EXIF))), WHOLE);
  });
});

describe('another file', () => {
  it('is refused: text, SVG, GIF, and AVIF, whose real size only a decoder knows', async () => {
    const avif = Buffer.from('\0\0\0\x14ftypavif\0\0\0\0mif1', 'latin1');
    for (const bytes of [Buffer.from('<svg/>'), Buffer.from('GIF89a'), Buffer.alloc(0), avif]) {
      assert.equal(await refusal(bytes), 'must be a JPEG, PNG or WebP');
    }
  });
});

const WHOLE = 'must be a whole and sound picture';
const PIXELS = 'must have at most 4 million pixels';

function dataOf(file: Buffer): Buffer {
  const at = file.indexOf('IDAT');
  return file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4));
}

function pixelsOf(file: Buffer): Buffer {
  return inflateSync(dataOf(file));
}

function replaceData(file: Buffer, data: Buffer): Buffer {
  const at = file.indexOf('IDAT') - 4;
  return Buffer.concat([file.subarray(0, at), pngChunk('IDAT', data), pngChunk('IEND', Buffer.alloc(0))]);
}

function frame(width: number, height: number): Buffer {
  const data = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  data.writeUInt16BE(height, 1);
  data.writeUInt16BE(width, 3);
  return segment(0xc0, data);
}

function riffChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function webp(...chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks]);
  const head = Buffer.from('RIFF\0\0\0\0', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

function extended(flags: number, width: number, height: number): Buffer {
  const data = Buffer.alloc(10);
  data[0] = flags;
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return riffChunk('VP8X', data);
}

/** The header of lossless pixels: 14 bits each for width and height, less one. */
function lossless32(width: number, height: number): Buffer {
  const data = Buffer.alloc(9, 7);
  data[0] = 0x2f;
  data.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1);
  return data;
}
