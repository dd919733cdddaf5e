import { BlockList, isIP } from 'node:net';

/** True if the text is an IP address or a network in CIDR form. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return version !== 0 && !address.includes('%') && isPrefix && rest.length === 0;
}

/**
 * True if the list contains the address. IPv4 in IPv6 form counts as IPv4. The address is undefined if the client has reset the
 * connection.
 */
export function isListedAddress(list: readonly string[], address: string | undefined): boolean {
  const [plain = ''] = address?.split('%') ?? [];
  const version = isIP(plain);
  return version !== 0 && blocksOf(list).check(plain, version === 4 ? 'ipv4' : 'ipv6');
}

/**
 * The compiled form of each list. Lists are checked at every request, and a compiled one is freed with the cached API key that
 * owns the list.
 */
const known = new WeakMap<readonly string[], BlockList>();

function blocksOf(list: readonly string[]): BlockList {
  const found = known.get(list);
  if (found !== undefined) return found;
  const blocks = new BlockList();
  for (const text of list) {
    const [address = '', bits] = text.split('/');
    const version = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) blocks.addAddress(address, version);
    else blocks.addSubnet(address, Number(bits), version);
  }
  known.set(list, blocks);
  return blocks;
}
