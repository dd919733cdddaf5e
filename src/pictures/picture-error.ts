/** The reason why a file is refused as a picture. The message follows the name of the field: "must be …". */
export class PictureError extends Error {
  constructor(message = 'must be a whole and sound picture') {
    super(message);
    this.name = 'PictureError';
  }
}

/** The most pixels of a picture. Pictures are drawn small, so more pixels would only cost the browsers of payers time and memory. */
const MAX_PIXELS = 4_000_000;

/** Checks the size in a header before anything is unpacked: some kilobytes can unpack to gigabytes. */
export function checkPixels(width: number, height: number): void {
  if (width < 1 || height < 1) throw new PictureError();
  if (width * height > MAX_PIXELS) throw new PictureError('must have at most 4 million pixels');
}
