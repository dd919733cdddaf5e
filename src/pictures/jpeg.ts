import { checkPixels, PictureError } from './picture-error.ts';

const START = Buffer.from([0xff, 0xd8]);
const END = Buffer.from([0xff, 0xd9]);
const [QUANTISATION, HUFFMAN, RESTART, SCAN, END_MARKER, ADOBE] = [0xdb, 0xc4, 0xdd, 0xda, 0xd9, 0xee];
/** The markers of baseline, extended and progressive frames. Browsers show no other kind. */
const FRAMES = new Set([0xc0, 0xc1, 0xc2]);
const OTHER_FRAMES = new Set([0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf, 0xdc, 0xde, 0xdf]);
const ADOBE_BYTES = 12;
/** The most scans of a picture. A progressive picture has about ten. Each scan costs a browser a pass over all pixels. */
const MAX_SCANS = 100;

/**
 * Rewrites a JPEG with nothing but its tables, frame and scans: comments, EXIF, colour profiles and bytes after the end are
 * dropped. The compressed pixels are copied, not decoded: a decoder of untrusted files must not run in the process that has the
 * keys.
 */
export function rewriteJpeg(file: Buffer): Buffer {
  const kept: Buffer[] = [START];
  let [hasFrame, scans, at] = [false, 0, START.length];
  for (;;) {
    // A marker may follow any number of 0xff fill bytes.
    while (file[at] === 0xff && file[at + 1] === 0xff) at += 1;
    const { marker, segment, content } = segmentAt(file, at);
    at += segment.length;
    if (marker === END_MARKER) break;
    if (FRAMES.has(marker)) {
      if (hasFrame || content.length < 6) throw new PictureError();
      checkPixels(content.readUInt16BE(3), content.readUInt16BE(1));
      hasFrame = true;
      kept.push(segment);
    } else if (marker === SCAN) {
      const end = endOfScan(file, at);
      scans += 1;
      if (!hasFrame || scans > MAX_SCANS) throw new PictureError();
      kept.push(segment, file.subarray(at, end));
      at = end;
    } else if (marker === QUANTISATION || marker === HUFFMAN || marker === RESTART) kept.push(segment);
    else if (marker === ADOBE && isAdobe(content)) kept.push(adobe(content));
    else if (OTHER_FRAMES.has(marker)) throw new PictureError();
  }
  if (scans === 0) throw new PictureError();
  return Buffer.concat([...kept, END]);
}

interface Segment {
  readonly marker: number;
  readonly segment: Buffer;
  readonly content: Buffer;
}

function segmentAt(file: Buffer, at: number): Segment {
  if (at + 2 > file.length || file[at] !== 0xff) throw new PictureError();
  const marker = file[at + 1] ?? 0;
  if (marker === END_MARKER) return { marker, segment: END, content: Buffer.alloc(0) };
  if (marker < 0xc0 || at + 4 > file.length) throw new PictureError();
  const end = at + 2 + file.readUInt16BE(at + 2);
  if (end < at + 4 || end > file.length) throw new PictureError();
  return { marker, segment: file.subarray(at, end), content: file.subarray(at + 4, end) };
}

/** The end of a scan's compressed pixels: the next marker that is neither a stuffed byte nor a restart. */
function endOfScan(file: Buffer, from: number): number {
  for (let at = file.indexOf(0xff, from); at !== -1 && at + 1 < file.length; at = file.indexOf(0xff, at + 2)) {
    const next = file[at + 1] ?? 0;
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  throw new PictureError();
}

/**
 * True for the Adobe segment. It says whether three or four channels are plain or inverted. Without it, a browser shows wrong
 * colours.
 */
const isAdobe = (content: Buffer) => content.length >= ADOBE_BYTES && content.toString('latin1', 0, 5) === 'Adobe';

function adobe(content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xff, ADOBE, 0, ADOBE_BYTES + 2]), content.subarray(0, ADOBE_BYTES)]);
}
