import { hash } from 'node:crypto';
import { type ImageType, imageType } from './image-type.ts';

export interface Picture {
  /** Names the bytes, so that a name never means another picture. */
  readonly hash: string;
  readonly type: ImageType;
  readonly bytes: Uint8Array;
}

/** The most bytes of a logo, uploaded or copied. */
export const MAX_LOGO_BYTES = 2 * 1024 * 1024;

/** The picture of these bytes. Undefined if they are no picture of a type that browsers may be shown. */
export function pictureOf(bytes: Uint8Array): Picture | undefined {
  const type = imageType(bytes);
  return type && { hash: hash('sha256', bytes, 'hex').slice(0, 32), type, bytes };
}
