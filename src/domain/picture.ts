import type { ImageType } from './image-type.ts';

export interface Picture {
  /** The hash of the bytes. It is part of the URL, so a URL never shows another picture. */
  readonly hash: string;
  readonly type: ImageType;
  readonly bytes: Uint8Array;
}

/** The most bytes of a logo, uploaded or copied. */
export const MAX_LOGO_BYTES = 2 * 1024 * 1024;
