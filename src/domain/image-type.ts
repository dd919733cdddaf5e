/**
 * The image types that a stored logo may have. SVG is left out, because it can contain scripts. AVIF is no longer accepted;
 * older logos may have it.
 */
export type ImageType = 'image/jpeg' | 'image/png' | 'image/webp' | 'image/avif';

/** The type of an image by its first bytes. The content type that a server sends proves nothing. */
export function imageType(bytes: Uint8Array): ImageType | undefined {
  if (hasAt(bytes, 0, [0xff, 0xd8, 0xff])) return 'image/jpeg';
  if (hasAt(bytes, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png';
  if (textAt(bytes, 0) === 'RIFF' && textAt(bytes, 8) === 'WEBP') return 'image/webp';
  if (textAt(bytes, 4) === 'ftyp' && brands(bytes).some((brand) => AVIF_BRANDS.has(brand))) return 'image/avif';
  return undefined;
}

const AVIF_BRANDS = new Set(['avif', 'avis']);
/** The maximum number of brands that are read. Files name a handful of them. */
const MAX_BRANDS = 16;

/** The brands of an ISO media file: the major brand, and the compatible brands after the minor version (bytes 12 to 15). */
function brands(bytes: Uint8Array): string[] {
  const end = Math.min(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0), bytes.length, 16 + 4 * MAX_BRANDS);
  const found = [textAt(bytes, 8)];
  for (let at = 16; at + 4 <= end; at += 4) found.push(textAt(bytes, at));
  return found;
}

function hasAt(bytes: Uint8Array, at: number, wanted: readonly number[]): boolean {
  return wanted.every((byte, index) => bytes[at + index] === byte);
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
