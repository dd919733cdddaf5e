import { imageType } from '../../domain/image-type.ts';

/** The picture of a network or token, in the form of its file. */
export interface Icon {
  readonly type: 'image/svg+xml' | 'image/png' | 'image/webp';
  readonly bytes: Buffer;
}

/** The limits of an icon. It is drawn small, and every page of a list has dozens of icons. */
const MAX_BYTES = 65_536;
const MAX_SIDE = 512;

/** Reads an icon. A problem is the end of a sentence that begins with the path. */
export function readIcon(bytes: Buffer): { readonly icon: Icon } | { readonly problem: string } {
  if (bytes.length > MAX_BYTES) {
    const size = `${Math.ceil(bytes.length / 1024)} KiB`;
    return { problem: `has ${size}; an icon has ${MAX_BYTES / 1024} KiB at most. Make the picture smaller` };
  }
  if (isSvg(bytes)) return { icon: { type: 'image/svg+xml', bytes } };
  const type = imageType(bytes);
  const size = type === 'image/png' ? pngSize(bytes) : type === 'image/webp' ? webpSize(bytes) : undefined;
  if (size === undefined || (type !== 'image/png' && type !== 'image/webp')) {
    return { problem: 'is no SVG, PNG or WebP. Convert the picture to one of them' };
  }
  const { width, height } = size;
  if (Math.min(width, height) < 1 || Math.max(width, height) > MAX_SIDE) {
    return {
      problem: `has ${width} x ${height} pixels; an icon has ${MAX_SIDE} x ${MAX_SIDE} at most. Make the picture smaller`,
    };
  }
  return { icon: { type, bytes } };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** True if nothing but an XML declaration and comments comes before the `svg` element. */
function isSvg(bytes: Buffer): boolean {
  const text = bytes.toString('utf8');
  return /^\uFEFF?\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]{0,4000}?-->\s*){0,8}<svg[\s>][\s\S]*<\/svg>\s*$/.test(text);
}

function pngSize(bytes: Buffer): Size | undefined {
  const isWhole = bytes.length >= 45 && bytes.toString('latin1', 12, 16) === 'IHDR';
  return isWhole ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined;
}

/** The size in one of the three forms of a WebP file: extended, lossless, lossy. */
function webpSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 30) return undefined;
  const form = bytes.toString('latin1', 12, 16);
  if (form === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (form === 'VP8L') {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (form === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  return undefined;
}
