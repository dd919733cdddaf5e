import type { OfferedAccount } from '../../actions/paying/list-options.ts';
import { isZeroAccount } from '../../domain/addresses/families.ts';
import { chainIn, parseAccount } from '../../domain/caip.ts';
import { type Issue, validationError } from '../../errors.ts';

/** The most accounts that one request can offer. Each one is looked up on its chain. */
const MAX_ACCOUNTS = 100;

/**
 * The accounts that could pay: the first hundred on the served networks, each once. Wallets send all their accounts, also on
 * chains with other forms of addresses and checksums. So an account on a network that is not served is ignored without parsing. A
 * malformed account on a served network, or without a network, makes the request invalid, and the answer names each such account.
 */
export function readPayerAccounts(
  served: ReadonlySet<string>,
  spellings: readonly string[],
): readonly OfferedAccount[] {
  const issues: Issue[] = [];
  const accounts = new Map<string, OfferedAccount>();
  for (const [index, spelling] of spellings.entries()) {
    if (accounts.size + issues.length === MAX_ACCOUNTS) break;
    const network = chainIn(spelling);
    if ((network !== undefined && !served.has(network)) || isZeroAccount(spelling)) continue;
    const parsed = parseAccount(spelling);
    if (!parsed.ok) issues.push({ field: `accounts[${index}]`, message: parsed.problem });
    else if (!accounts.has(parsed.value.id)) accounts.set(parsed.value.id, { ...parsed.value, spelling });
  }
  if (issues.length > 0) throw validationError(issues, 422);
  return [...accounts.values()];
}
