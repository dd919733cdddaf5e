import { type Picture, pictureOf } from '../../domain/picture.ts';
import type { Issue } from '../../errors.ts';

const MAX_PICTURE_BYTES = 256 * 1024;

/** The limit of a body with a picture in base64 and some other fields. */
export const PICTURE_BODY_BYTES = 384 * 1024;

/** The picture in a field of the body. Problems are added to the issues. */
export function readPicture(field: string, base64: string | null | undefined, issues: Issue[]): Picture | undefined {
  if (base64 === undefined || base64 === null) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const picture = pictureOf(bytes);
  if (bytes.length > MAX_PICTURE_BYTES) issues.push({ field, message: 'must have at most 256 KB' });
  else if (picture === undefined) issues.push({ field, message: 'must be a JPEG, PNG, WebP or AVIF' });
  return picture;
}
