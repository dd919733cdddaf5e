import { hash } from 'node:crypto';
import { type ImageType, imageType } from '../domain/image-type.ts';
import type { Picture } from '../domain/picture.ts';
import { rewriteJpeg } from './jpeg.ts';
import { PictureError } from './picture-error.ts';
import { rewritePng } from './png.ts';
import { rewriteWebp } from './webp.ts';

const REWRITE: Readonly<Partial<Record<ImageType, (file: Buffer) => Buffer | Promise<Buffer>>>> = {
  'image/jpeg': rewriteJpeg,
  'image/png': rewritePng,
  'image/webp': rewriteWebp,
};

/** Pictures are processed one at a time, so that they do not occupy all threads of the process. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Makes a storable picture from an untrusted file. The first bytes decide the type, the pixels are bounded, and the file is written
 * anew, so that only the picture is stored and served. AVIF is refused: only a decoder can find its real size. Throws a
 * `PictureError`.
 */
export async function takePicture(bytes: Uint8Array): Promise<Picture> {
  const type = imageType(bytes);
  const rewrite = type && REWRITE[type];
  if (type === undefined || rewrite === undefined) throw new PictureError('must be a JPEG, PNG or WebP');
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const turn = last.then(() => rewrite(file));
  last = turn.catch(() => {});
  const rewritten = await turn;
  return { hash: hash('sha256', rewritten, 'hex').slice(0, 32), type, bytes: rewritten };
}
