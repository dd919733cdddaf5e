import { FOLDED_PREFIXES, isCaseIgnored } from '../../domain/addresses/families.ts';
import type { Reader } from './statement.ts';

type Fragment = ReturnType<Reader>;

/** `addressKey` of the domain in SQL: one text for all spellings of an address on a network, or in a CAIP-10 id of it. */
export function addressKeySql(db: Reader, network: string, address: Fragment): Fragment {
  return isCaseIgnored(network) ? db`lower(${address})` : address;
}

/** `caipKey` of the domain in SQL, for accounts of any network. */
export function caipKeySql(db: Reader, account: Fragment): Fragment {
  return db`case when ${account} ^@ any(${FOLDED_PREFIXES as string[]}::text[]) then lower(${account}) else ${account} end`;
}
