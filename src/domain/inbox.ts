/**
 * The inbox of an address: many providers ignore case, dots, and a part after a plus sign, so one inbox has many spellings.
 * Only for counting; mail goes to the address as it was given. The index `mails_by_inbox` computes the same.
 */
export function inboxOf(address: string): string {
  const [name = '', host = ''] = address.toLowerCase().split('@');
  return `${(name.split('+', 1)[0] ?? '').replaceAll('.', '')}@${host}`;
}
