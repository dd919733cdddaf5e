import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { Sheet } from '../../web/src/receipts/page-state.ts';
import { drawSheet } from './draw-sheet.ts';
import { linesOf } from './text-lines.ts';

const PAID_AT = '2026-03-01T00:00:00.000Z';
const SHEET: Sheet = {
  locale: 'en',
  dir: 'ltr',
  title: 'Receipt',
  shop: 'Shop',
  warning: null,
  total: '$10.00',
  pageNumber: 'Page {page} of {pages}',
  sections: [{ title: 'Items', rows: [{ label: 'Coffee', value: '$10.00' }] }],
};

async function print(sheet: Partial<Sheet>, size: 'a4' | 'roll' = 'a4', logo?: Buffer): Promise<Buffer> {
  return Buffer.from(await drawSheet({ sheet: { ...SHEET, ...sheet }, size, logo, paidAt: PAID_AT }));
}

const countOf = (file: Buffer, text: string) => file.toString('latin1').split(text).length - 1;

describe('a receipt on paper', () => {
  it('is the same file for the same content', async () => {
    assert.deepEqual(await print({}), await print({}));
  });

  it('is divided into pages, and a roll is as long as its content', async () => {
    const rows = Array.from({ length: 500 }, (_, index) => ({ label: `Item ${index}`, value: '$1.00' }));
    const long = { sections: [{ title: 'Items', rows }] };
    const pages = countOf(await print(long), '/Type /Page\n');
    assert.ok(pages > 8 && pages < 20, `${pages} pages`);
    assert.equal(countOf(await print(long, 'roll'), '/Type /Page\n'), 1);
  });

  it('has a modest logo, and none that unpacks to a flood of pixels or is broken', async () => {
    assert.equal(countOf(await print({}, 'a4', png(2, 2)), '/Subtype /Image'), 2, 'with its transparency');
    const bombs = [png(60_000, 60_000, 18), png(10, 10, 50_000_000), png(2, 2).subarray(0, 40)];
    for (const bomb of [...bombs, Buffer.from('89504e470d0a1a0a00', 'hex'), Buffer.from('RIFF....WEBPVP8 ')]) {
      assert.equal(countOf(await print({}, 'a4', bomb), '/Subtype /Image'), 0);
    }
  });
});

describe('a line of text', () => {
  const style = { size: 10, weight: 'regular', dir: 'ltr' } as const;
  const shown = (text: string, more: object = {}, width = 1_000) =>
    linesOf(text, { ...style, ...more }, width).map(({ pieces }) => pieces.map((piece) => piece.text).join(''));

  it('is broken between words, and a long word anywhere', () => {
    assert.deepEqual(shown('one two three', {}, 45), ['one two', 'three']);
    const parts = shown(`a ${'x'.repeat(40)}`, {}, 60);
    assert.ok(parts.length > 3 && parts.join('') === `a${'x'.repeat(40)}`, parts.join(' '));
    assert.ok(linesOf('x'.repeat(500), style, 60).every(({ width }) => width <= 60));
  });

  it('breaks Japanese where Japanese may be broken', () => {
    const lines = shown('領収書は、この支払いを証明します。', {}, 52);
    assert.ok(lines.length > 2 && lines.every((line) => !/^[、。]/.test(line)), lines.join('|'));
  });

  it('has right-to-left words in the order of the eye, around numbers and with mirrored brackets', () => {
    const pieces = (text: string, dir: 'ltr' | 'rtl') =>
      linesOf(text, { ...style, dir }, 1_000)[0]
        ?.pieces.map((piece) => piece.text.trim())
        .filter((piece) => piece !== '');
    assert.deepEqual(pieces('كعكة (صغيرة) 3 قطع', 'rtl'), ['قطع', '3', '(', 'صغيرة', ')', 'كعكة']);
    assert.deepEqual(pieces('Total كعكة 3', 'ltr'), ['Total', '3', 'كعكة']);
  });

  it('has a sign for letters that no font has, and no control of direction', () => {
    assert.deepEqual(shown('a 🧁 b'), ['a ? b']);
    assert.deepEqual(shown('\u2068a\u2069\u202eb'), ['ab']);
    assert.deepEqual(shown(''), []);
    assert.deepEqual(shown('\u2067'.repeat(500)), []);
    assert.equal(shown(`a${'\u0301'.repeat(200)}`).length, 1);
  });
});

/** A PNG file of this size by its header, with this many bytes of pixels. */
function png(width: number, height: number, pixelBytes = (4 * width + 1) * height): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const pixels = deflateSync(Buffer.alloc(pixelBytes));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
