import { inflateSync } from 'node:zlib';
import { imageType } from '../domain/image-type.ts';

/** The most pixels of a logo. It is drawn small, so more pixels would only cost time and memory. */
const MAX_PIXELS = 4_000_000;
const PNG_HEADER_BYTES = 33;

/** Returns the logo if PDFKit can read it (PNG or JPEG) and its pixels are not too many: a few kilobytes can unpack to gigabytes. */
export function printableLogo(bytes: Uint8Array | undefined): Buffer | undefined {
  if (bytes === undefined) return undefined;
  const file = Buffer.from(bytes);
  const type = imageType(file);
  // The size of a JPEG does not matter: PDFKit copies it into the PDF without decoding it.
  if (type === 'image/jpeg') return file;
  return type === 'image/png' && isModestPng(file) ? file : undefined;
}

function isModestPng(file: Buffer): boolean {
  if (file.length < PNG_HEADER_BYTES || file.toString('latin1', 12, 16) !== 'IHDR') return false;
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const [depth = 0, , , , interlace = 0] = file.subarray(24, 29);
  if (width * height > MAX_PIXELS || depth > 8 || interlace !== 0) return false;
  try {
    // The largest permitted size: four channels of one byte for each pixel, and a filter byte before each row.
    inflateSync(imageData(file), { maxOutputLength: (4 * width + 1) * height });
    return true;
  } catch {
    return false;
  }
}

function imageData(file: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 8; at + 12 <= file.length; ) {
    const length = file.readUInt32BE(at);
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(file.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  return Buffer.concat(parts);
}
