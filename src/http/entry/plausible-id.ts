/** True if the text could be an id. Other text is not looked up, because PostgreSQL refuses text with NUL. */
export function isPlausibleId(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text);
}
