import type { OfferedAccount } from '../../actions/paying/list-options.ts';
import { chainIn, isZeroAccount, parseAccount } from '../../domain/caip.ts';
import { type Issue, validationError } from '../../errors.ts';

/** The most accounts that one request is answered for; each one is asked about on its chain. */
const MAX_ACCOUNTS = 100;

/**
 * The accounts that could pay: of the networks served, the first hundred, each once. Wallets send every account they hold,
 * also on chains whose addresses and checksums have forms of their own, so an account of another network is ignored
 * unread. A malformed account of a served network, or of none, refuses the request, and every one is named.
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
