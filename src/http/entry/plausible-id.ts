/** True if the text could be an id. Other text is not looked up. PostgreSQL refuses NUL in text. */
export function isPlausibleId(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text);
}
