import { inflateSync } from 'node:zlib';

const WOFF_SIGNATURE = 0x774f4646;
const WOFF_HEADER_BYTES = 44;
const WOFF_ENTRY_BYTES = 20;
const SFNT_HEADER_BYTES = 12;
const SFNT_ENTRY_BYTES = 16;
const MAX_TABLES = 64;

/** Unpacks a WOFF 1 file into TrueType or OpenType. The font library reads WOFF, but unpacks a whole table for every letter. */
export function toSfnt(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12);
  if (woff.readUInt32BE(0) !== WOFF_SIGNATURE || count > MAX_TABLES) throw new TypeError('The file is no WOFF font.');
  const head = Buffer.alloc(SFNT_HEADER_BYTES + count * SFNT_ENTRY_BYTES);
  const power = 2 ** Math.floor(Math.log2(count));
  head.writeUInt32BE(woff.readUInt32BE(4), 0);
  head.writeUInt16BE(count, 4);
  head.writeUInt16BE(power * SFNT_ENTRY_BYTES, 6);
  head.writeUInt16BE(Math.log2(power), 8);
  head.writeUInt16BE((count - power) * SFNT_ENTRY_BYTES, 10);
  const parts: Buffer[] = [head];
  let end = head.length;
  for (let index = 0; index < count; index += 1) {
    const entry = woff.subarray(WOFF_HEADER_BYTES + index * WOFF_ENTRY_BYTES);
    const [offset, packed, length] = [entry.readUInt32BE(4), entry.readUInt32BE(8), entry.readUInt32BE(12)];
    const stored = woff.subarray(offset, offset + packed);
    const table = packed === length ? stored : inflateSync(stored, { maxOutputLength: length });
    const at = SFNT_HEADER_BYTES + index * SFNT_ENTRY_BYTES;
    entry.copy(head, at, 0, 4);
    entry.copy(head, at + 4, 16, 20);
    head.writeUInt32BE(end, at + 8);
    head.writeUInt32BE(length, at + 12);
    // Tables are padded to multiples of four bytes.
    parts.push(table, Buffer.alloc(-length & 3));
    end += length + (-length & 3);
  }
  return Buffer.concat(parts);
}
