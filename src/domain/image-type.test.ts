import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageType } from './image-type.ts';

const bytes = (...parts: (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));

describe('imageType', () => {
  it('knows the four types by their first bytes', () => {
    assert.equal(imageType(bytes([0xff, 0xd8, 0xff, 0xe0], 'JFIF')), 'image/jpeg');
    assert.equal(imageType(bytes([0x89], 'PNG\r\n', [0x1a, 0x0a], 'IHDR')), 'image/png');
    assert.equal(imageType(bytes('RIFF', [9, 0, 0, 0], 'WEBPVP8 ')), 'image/webp');
    assert.equal(imageType(bytes([0, 0, 0, 20], 'ftypavif', [0, 0, 0, 0], 'mif1')), 'image/avif');
    assert.equal(imageType(bytes([0, 0, 0, 24], 'ftypmif1', [0, 0, 0, 0], 'miafavif')), 'image/avif');
  });

  it('reads a bounded number of brands', () => {
    const withBrands = (count: number) =>
      bytes([0, 0, 0, 16 + 4 * count], 'ftypmif1', [0, 0, 0, 0], 'miaf'.repeat(count - 1), 'avif');
    assert.equal(imageType(withBrands(16)), 'image/avif');
    assert.equal(imageType(withBrands(17)), undefined);
  });

  it('knows nothing else, whatever it calls itself', () => {
    const others = [
      bytes(''),
      bytes('RIFF'),
      bytes('GIF89a'),
      bytes('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      bytes('<!doctype html><script>alert(1)</script>'),
      bytes('RIFF', [9, 0, 0, 0], 'WAVEfmt '),
      bytes([0, 0, 0, 24], 'ftypmp42', [0, 0, 0, 0], 'isommp41'),
      // The brand stands behind the end of the box.
      bytes([0, 0, 0, 16], 'ftypmif1', [0, 0, 0, 0], 'avif'),
      bytes([0xff, 0xff, 0xff, 0xff], 'ftyp'),
    ];
    for (const other of others) assert.equal(imageType(other), undefined, other.toString('latin1'));
  });
});
