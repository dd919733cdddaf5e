export const PICTURE_TYPES = 'image/jpeg,image/png,image/webp';

export function fileIn(form: FormData, name: string): File | undefined {
  const file = form.get(name);
  return file instanceof File && file.size > 0 ? file : undefined;
}

/** True if the browser's type of the file is accepted. The gateway checks the bytes. */
export function isPicture({ type, size }: File, maxBytes: number): boolean {
  return PICTURE_TYPES.split(',').includes(type) && size > 0 && size <= maxBytes;
}

export function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

export function base64In(dataUrl: string): string {
  return dataUrl.slice(dataUrl.indexOf(',') + 1);
}
