export const MAX_PICTURE_BYTES = 256 * 1024;
export const PICTURE_TYPES = 'image/jpeg,image/png,image/webp,image/avif';

/** The file of a form field, if one was chosen. */
export function fileIn(form: FormData, name: string): File | undefined {
  const file = form.get(name);
  return file instanceof File && file.size > 0 ? file : undefined;
}

export async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
