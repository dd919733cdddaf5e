import type { ImageType } from './image-type.ts';

export interface Picture {
  /** The hash of the bytes. It is part of the URL, so a URL never shows another picture. */
  readonly hash: string;
  readonly type: ImageType;
  readonly bytes: Uint8Array;
}

export const MAX_LOGO_BYTES = 2 * 1024 * 1024;
export const MAX_LINK_PICTURE_BYTES = 256 * 1024;
