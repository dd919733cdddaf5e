/**
 * The inbox of an address. Many providers ignore case, dots, and the part after a plus sign, so one inbox has many spellings. The
 * result is only for counting: mail goes to the address as it was given. The database index `mails_by_inbox` uses the same rule.
 */
export function inboxOf(address: string): string {
  const [name = '', host = ''] = address.toLowerCase().split('@');
  return `${(name.split('+', 1)[0] ?? '').replaceAll('.', '')}@${host}`;
}
