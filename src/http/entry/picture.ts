import { MAX_LINK_PICTURE_BYTES, MAX_LOGO_BYTES, type Picture } from '../../domain/picture.ts';
import type { Issue } from '../../errors.ts';
import { PictureError } from '../../pictures/picture-error.ts';
import { takePicture } from '../../pictures/take-picture.ts';

/** Limits of a picture, and of a body that contains it in base64 with some other fields. */
export const LINK_PICTURE = { maxBytes: MAX_LINK_PICTURE_BYTES, size: '256 KB', bodyBytes: 384 * 1024 } as const;
export const LOGO_PICTURE = { maxBytes: MAX_LOGO_BYTES, size: '2 MB', bodyBytes: 3 * 1024 * 1024 } as const;

interface PictureInput {
  readonly base64: string | null | undefined;
  readonly limit: { readonly maxBytes: number; readonly size: string };
}

/** The picture in a field of the body. Problems are added to `issues`. */
export async function readPicture(
  field: string,
  { base64, limit }: PictureInput,
  issues: Issue[],
): Promise<Picture | undefined> {
  if (base64 === undefined || base64 === null) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > limit.maxBytes) {
    issues.push({ field, message: `must have at most ${limit.size}` });
    return undefined;
  }
  try {
    return await takePicture(bytes);
  } catch (error) {
    if (!(error instanceof PictureError)) throw error;
    issues.push({ field, message: error.message });
    return undefined;
  }
}
