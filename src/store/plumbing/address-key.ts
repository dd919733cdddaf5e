import { FOLDED_PREFIXES, isCaseIgnored } from '../../domain/addresses/families.ts';
import type { Reader } from './statement.ts';

type Fragment = ReturnType<Reader>;

/**
 * The SQL form of the domain's `addressKey`: one text for all spellings of an address on a network. It also works for CAIP-10 ids of the
 * network.
 */
export function addressKeySql(db: Reader, network: string, address: Fragment): Fragment {
  return isCaseIgnored(network) ? db`lower(${address})` : address;
}

/** The SQL form of the domain's `caipKey`, for accounts of any network. */
export function caipKeySql(db: Reader, account: Fragment): Fragment {
  return db`case when ${account} ^@ any(${FOLDED_PREFIXES as string[]}::text[]) then lower(${account}) else ${account} end`;
}
